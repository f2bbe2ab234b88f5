//! Logging in with a code on another device.

use std::time::Duration;

use auth::{AuthError, Login};
use testkit::{DeviceStep, OAuthFault, OAuthServer};

use crate::support::*;

#[tokio::test]
async fn it_asks_as_often_as_it_may_until_there_is_a_token() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::idle());
    let steps = [DeviceStep::Pending, DeviceStep::SlowDown, DeviceStep::Pending];
    server.set(|behaviour| behaviour.device = steps.into());
    let grant = Login::new(&config(&server), &robot).with_timing(timing()).device().await.unwrap();
    assert!(server.accepts(grant.access.reveal()));

    let asked = server.requests_to("/token");
    assert_eq!(asked.len(), 4);
    let started = server.requests_to("/device")[0].clone();
    assert_eq!(started.field("scope"), Some("models offline"));
    let times: Vec<_> = std::iter::once(started.at).chain(asked.iter().map(|request| request.at)).collect();
    let second = timing().second;
    // 5 seconds at first, and 10 after it was told to slow down.
    for (pair, seconds) in times.windows(2).zip([5, 5, 10, 10]) {
        assert!(
            pair[1] - pair[0] >= second * seconds,
            "{:?} is less than {seconds} seconds",
            pair[1] - pair[0]
        );
    }
    let shown = robot.steps();
    assert_eq!(shown.len(), 1);
    assert!(shown[0].contains("WDJB-MJHT") && shown[0].contains("/activate"), "{shown:?}");
}

#[tokio::test]
async fn githubs_errors_come_with_status_200() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::idle());
    server.set(|behaviour| {
        behaviour.errors_with_200 = true;
        behaviour.device = [DeviceStep::Pending, DeviceStep::Pending].into();
        (behaviour.expires_in, behaviour.refresh_tokens, behaviour.interval) = (None, false, Some(1));
    });
    let real = auth::github("test-client", &["read:user"]);
    assert_eq!(real.device_url.as_deref(), Some("https://github.com/login/device/code"));
    assert_eq!(real.token_url.as_deref(), Some("https://github.com/login/oauth/access_token"));
    let config = auth::OAuthConfig {
        device_url: Some(server.device_url()),
        token_url: Some(server.token_url()),
        ..real
    };
    let grant = Login::new(&config, &robot).with_timing(timing()).device().await.unwrap();
    assert_eq!((grant.refresh, grant.expires_at), (None, None));
}

#[tokio::test]
async fn how_it_can_end_without_a_token() {
    let server = OAuthServer::start().await.unwrap();
    server.set(|behaviour| behaviour.interval = Some(1));
    let config = config(&server);
    let robot = Robot::idle();
    let attempt = || Login::new(&config, &robot).with_timing(timing()).device();

    server.set(|behaviour| behaviour.device = [DeviceStep::Pending, DeviceStep::Denied].into());
    assert!(matches!(attempt().await, Err(AuthError::Denied)));
    server.set(|behaviour| behaviour.device = [DeviceStep::Expired].into());
    assert!(matches!(attempt().await, Err(AuthError::TimedOut)));
    server.set(|behaviour| {
        behaviour.device = vec![DeviceStep::Pending; 100].into();
        behaviour.device_expires_in = 3;
    });
    assert!(matches!(attempt().await, Err(AuthError::TimedOut)), "the code is no longer valid");

    let login = attempt();
    robot.cancel();
    assert!(matches!(login.await, Err(AuthError::Cancelled)));

    let stranger = auth::OAuthConfig { client_id: Some("stranger".to_owned()), ..config.clone() };
    let ended = Login::new(&stranger, &robot).with_timing(timing()).device().await.unwrap_err();
    assert_eq!(ended.to_string(), "`127.0.0.1` refused: invalid_client");
    assert_eq!(ended.hint(), "check the client_id in the provider's oauth settings");
}

#[tokio::test]
async fn a_hiccup_of_the_provider_costs_nobody_their_code() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::idle());
    server.set(|behaviour| {
        behaviour.device = [DeviceStep::Trouble, DeviceStep::Pending].into();
        behaviour.interval = Some(2);
    });
    Login::new(&config(&server), &robot).with_timing(timing()).device().await.unwrap();
    let asked = server.requests_to("/token");
    let apart = asked[1].at - asked[0].at;
    assert!(apart >= timing().second * 4, "it waits twice as long after trouble: {apart:?}");
}

#[tokio::test]
async fn the_interval_is_five_seconds_when_nobody_says_so() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::idle());
    server.set(|behaviour| behaviour.interval = None);
    Login::new(&config(&server), &robot).with_timing(timing()).device().await.unwrap();
    let apart = server.requests_to("/token")[0].at - server.requests_to("/device")[0].at;
    assert!(apart >= timing().second * 5, "{apart:?}");
}

#[tokio::test]
async fn answers_that_are_none() {
    let server = OAuthServer::start().await.unwrap();
    let config = config(&server);
    let faults = [
        (OAuthFault::Page, "`127.0.0.1` did not answer as it should: status 200 and no JSON object"),
        (OAuthFault::Redirect, "`127.0.0.1` did not answer as it should: status 302 and no JSON object"),
        (OAuthFault::Huge, "`127.0.0.1` did not answer as it should: the answer is too large"),
        (OAuthFault::Status(500), "could not reach `127.0.0.1`: it answered 500"),
        (OAuthFault::Status(429), "could not reach `127.0.0.1`: it answered 429"),
        (OAuthFault::Status(404), "`127.0.0.1` refused: status 404"),
        (OAuthFault::Quote, "`127.0.0.1` refused: an error it has no plain word for"),
        (OAuthFault::Empty, "`127.0.0.1` did not answer as it should: it has no `device_code`"),
        (OAuthFault::Silent, "could not reach `127.0.0.1`: it took too long"),
    ];
    for (fault, expected) in faults {
        server.set(|behaviour| behaviour.fault = Some(fault));
        let request = if fault == OAuthFault::Silent { Duration::from_millis(50) } else { timing().request };
        let timing = auth::Timing { request, ..timing() };
        let ended = Login::new(&config, &Robot::idle()).with_timing(timing).device().await.unwrap_err();
        assert_eq!(ended.to_string(), expected, "{fault:?}");
        assert!(!ended.hint().is_empty());
    }
    assert!(server.requests_to("/elsewhere").is_empty(), "no redirect is followed");
}
