//! Secrets are planted everywhere, everything is done that can be done with them, well and badly, and then they are
//! looked for where they must not be.

use std::path::Path;
use std::time::Duration;

use auth::{AuthError, Login, ProviderAuth, Secret, SecretStore, Timing};
use testkit::{Consent, DeviceStep, OAuthFault, OAuthServer};

use crate::support::*;

const CONFIG: &str = "sk-canary-config-0123456789";
const ENVIRONMENT: &str = "sk-canary-environment-0123456789";
const STORED: &str = "sk-canary-stored-0123456789";

/// All that was said.
#[derive(Default)]
struct Said(Vec<String>);

impl Said {
    fn debug(&mut self, thing: &impl std::fmt::Debug) {
        self.0.push(format!("{thing:?} {thing:#?}"));
    }

    fn result<T: std::fmt::Debug>(&mut self, result: &Result<T, AuthError>) {
        self.debug(result);
        if let Err(error) = result {
            self.0.push(format!("{error} {}", error.hint()));
            let mut cause = std::error::Error::source(error);
            while let Some(next) = cause {
                self.0.push(format!("{next} {next:?}"));
                cause = next.source();
            }
        }
    }
}

fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
}

#[tokio::test]
async fn no_secret_is_where_it_should_not_be() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    let mut said = Said::default();
    server.set(|behaviour| behaviour.interval = Some(1));
    let (standard, keys) = (config(&server), openrouter_at(&server));
    let credentials =
        auth::Credentials::new(home.store(), |name| (name == "CANARY").then(|| ENVIRONMENT.to_owned()))
            .with_oauth(PROVIDER, standard.clone())
            .with_timing(timing());
    let faults = [
        None,
        Some(OAuthFault::Status(400)),
        Some(OAuthFault::Status(401)),
        Some(OAuthFault::Status(503)),
        Some(OAuthFault::Page),
        Some(OAuthFault::Huge),
        Some(OAuthFault::Redirect),
        Some(OAuthFault::Quote),
        Some(OAuthFault::Empty),
        Some(OAuthFault::Silent),
    ];
    let mut grants = Vec::new();
    for fault in faults {
        server.set(|behaviour| behaviour.fault = fault);
        let hurry = fault == Some(OAuthFault::Silent);
        let timing = Timing { request: Duration::from_millis(if hurry { 30 } else { 60_000 }), ..timing() };
        for config in [&standard, &keys] {
            let robot = Robot::eager();
            let ended = Login::new(config, &robot).with_timing(timing.clone()).browser().await;
            said.result(&ended);
            said.0.extend(robot.steps());
            said.0.push(robot.page().await.body);
            grants.extend(ended.ok());
        }
        let robot = Robot::idle();
        let ended = Login::new(&standard, &robot).with_timing(timing.clone()).device().await;
        said.result(&ended);
        said.0.extend(robot.steps());
        grants.extend(ended.ok());
    }
    assert_eq!(grants.len(), 3, "without a fault all three work");

    // Renewing, with every fault and without.
    for fault in faults {
        server.set(|behaviour| behaviour.fault = None);
        let grant = a_grant(&server).await;
        server.set(|behaviour| behaviour.fault = fault);
        home.logged_in("login", &grant, -1);
        let hurry = Timing { request: Duration::from_millis(500), ..timing() };
        let credentials = home.credentials().with_oauth(PROVIDER, standard.clone()).with_timing(hurry);
        said.result(&credentials.resolve(PROVIDER, &no_key()).await);
        said.debug(&credentials.take_notices());
    }
    server.set(|behaviour| behaviour.fault = None);

    // Refusals of each kind, and pastes of each kind.
    for consent in [Consent::Deny, Consent::Approve] {
        server.set(|behaviour| {
            behaviour.consent = consent;
            behaviour.device = [DeviceStep::Denied].into();
        });
        let robot = Robot::eager();
        said.result(&Login::new(&standard, &robot).with_timing(timing()).browser().await);
        said.result(&Login::new(&standard, &robot).with_timing(timing()).device().await);
        let robot = Robot::idle();
        robot.paste("http://127.0.0.1:1/callback?code=sk-canary-pasted-code-1&state=x");
        robot.paste("sk-canary-pasted-code-2");
        said.result(&Login::new(&standard, &robot).with_timing(timing()).browser().await);
        said.0.extend(robot.steps());
    }

    // Keys from all places, taking turns, and a store that is damaged in the middle of one.
    let config = ProviderAuth { api_key: Some(Secret::new(CONFIG)), api_key_env: Some("CANARY".to_owned()) };
    let environment = ProviderAuth { api_key: None, api_key_env: Some("CANARY".to_owned()) };
    said.result(&credentials.add_key("p", None, &Secret::new(STORED)).await);
    said.result(&credentials.add_key("p", None, &Secret::new(format!("{STORED} \n x"))).await);
    for grant in grants {
        said.debug(&grant);
        said.result(&credentials.add_grant("p", None, grant).await);
    }
    for config in [&config, &environment, &no_key()] {
        said.debug(config);
        let first = credentials.resolve("p", config).await;
        said.result(&first);
        // The last has nothing left: all of its accounts had their turn.
        let mut used = first.unwrap_or_default();
        while let Some(credential) = used {
            said.debug(&credential);
            said.0.push(credential.secret.to_string());
            let next = credentials.rotate("p", config, &credential, seconds_from_now(60)).await;
            said.result(&next);
            used = next.unwrap();
        }
        said.result(&credentials.resolve("p", config).await);
        said.debug(&credentials.status("p", config));
    }
    said.debug(&credentials);
    said.debug(&home.store());
    said.debug(&home.book());
    let whole = std::fs::read_to_string(home.path()).unwrap();
    assert!(whole.contains(STORED), "the one place for it");
    for damage in [
        whole.replace("\"active\": true", "\"active\": \"sk-canary-in-a-field\""),
        whole[..whole.len() / 2].to_owned(),
    ] {
        std::fs::write(home.path(), damage).unwrap();
        said.debug(&home.store().read());
        said.result(&credentials.resolve("p", &no_key()).await);
        said.result(&credentials.logout("p", None).await);
    }
    std::fs::write(home.path(), whole).unwrap();

    let mut canaries = server.secrets();
    assert!(canaries.len() > 50, "{}", canaries.len());
    canaries.extend([CONFIG, ENVIRONMENT, STORED, "sk-canary"].map(str::to_owned));
    // The address that the browser comes back to has a code in it, which is the provider's doing; ours do not.
    for request in server.requests() {
        said.0.push(request.target.clone());
        said.0.push(format!("{:?}", request.headers));
    }
    for text in &said.0 {
        for canary in &canaries {
            assert!(!text.contains(canary.as_str()), "`{canary}` is in {text}");
        }
    }
    let mut written = Vec::new();
    files(home.folder.path(), &mut written);
    assert!(written.len() > 2, "there are locks beside it");
    for (path, bytes) in written.iter().filter(|(path, _)| !path.ends_with("/auth.json")) {
        let text = String::from_utf8_lossy(bytes);
        assert!(!canaries.iter().any(|canary| text.contains(canary.as_str())), "{path}");
    }
}
