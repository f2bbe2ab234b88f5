//! Logging in with a browser.

use std::time::Duration;

use auth::{AuthError, CredentialKind, Login, OAuthConfig, Redirect, Timing};
use testkit::{Consent, OAuthServer, visit};

use crate::support::*;

#[tokio::test]
async fn a_login_in_the_browser_ends_with_an_account() {
    let (home, server, robot) = (Home::new(), OAuthServer::start().await.unwrap(), Robot::eager());
    let config = config(&server);
    let grant = Login::new(&config, &robot).with_timing(timing()).browser().await.unwrap();
    assert_eq!(grant.kind, CredentialKind::OAuthToken);
    assert!(server.accepts(grant.access.reveal()));
    assert!(grant.refresh.is_some() && grant.expires_at.unwrap() > seconds_from_now(3000));

    let page = robot.page().await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Received"), "{}", page.body);
    for header in ["cache-control: no-store", "default-src 'none'", "referrer-policy: no-referrer"] {
        assert!(page.head.contains(header), "{}", page.head);
    }
    let asked = &server.requests_to("/authorize")[0];
    assert_eq!(asked.field("scope"), Some("models offline"));
    assert_eq!(asked.field("code_challenge_method"), Some("S256"));
    assert!(asked.field("redirect_uri").unwrap().starts_with("http://127.0.0.1:"));
    let exchanged = &server.requests_to("/token")[0];
    assert_eq!(exchanged.field("redirect_uri"), asked.field("redirect_uri"));
    assert_eq!(exchanged.target, "/token");

    let credentials = home.credentials_at(&server);
    assert_eq!(credentials.add_grant(PROVIDER, None, grant.clone()).await.unwrap(), "default");
    let found = credentials.resolve(PROVIDER, &no_key()).await.unwrap().unwrap();
    assert_eq!((found.secret, found.account.as_str()), (grant.access, "default"));
}

#[tokio::test]
async fn openrouters_login_makes_a_key() {
    let (home, server, robot) = (Home::new(), OAuthServer::start().await.unwrap(), Robot::eager());
    let config = openrouter_at(&server);
    let grant = Login::new(&config, &robot).with_timing(timing()).browser().await.unwrap();
    assert_eq!(grant.kind, CredentialKind::ApiKey);
    assert!(grant.access.reveal().starts_with("sk-or-v1"));
    let exchanged = &server.requests_to("/api/v1/auth/keys")[0];
    assert!(
        exchanged.headers.iter().any(|(name, value)| name == "content-type" && value == "application/json")
    );
    let names: Vec<&str> = exchanged.fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["code", "code_verifier", "code_challenge_method"]);
    let callback = parameter(&robot.url().await, "callback_url").unwrap();
    assert!(callback.starts_with("http://localhost:"), "{callback}");
    // Nothing hands back a state there, so the path holds it.
    assert!(callback.rsplit('/').next().unwrap().len() == 43, "{callback}");

    let credentials = home.credentials();
    credentials.add_grant("openrouter", Some("mine"), grant).await.unwrap();
    assert!(home.book().account("openrouter", "mine").unwrap().key.is_some());
}

#[tokio::test]
async fn a_key_is_made_for_nobody_who_does_not_know_the_path() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::idle());
    let config = openrouter_at(&server);
    let login = Login::new(&config, &robot).with_timing(timing()).browser();
    let person = async {
        let callback = parameter(&robot.url().await, "callback_url").unwrap();
        let (base, _) = callback.rsplit_once('/').unwrap();
        assert_eq!(visit(&format!("{base}?code=stolen")).await.unwrap().status, 404);
        assert_eq!(visit(&format!("{base}/guess?code=stolen")).await.unwrap().status, 404);
        robot.cancel();
    };
    let (ended, ()) = tokio::join!(login, person);
    assert!(matches!(ended, Err(AuthError::Cancelled)), "{ended:?}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn denied_is_told_as_such() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::eager());
    server.set(|behaviour| behaviour.consent = Consent::Deny);
    let ended = Login::new(&config(&server), &robot).with_timing(timing()).browser().await;
    assert!(matches!(ended, Err(AuthError::Denied)), "{ended:?}");
    assert!(robot.page().await.body.contains("Not logged in"));
    let ended = Login::new(&openrouter_at(&server), &robot).with_timing(timing()).browser().await;
    assert!(matches!(ended, Err(AuthError::Denied)), "{ended:?}");
}

#[tokio::test]
async fn an_answer_to_another_login_is_refused_and_ends_nothing() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::eager());
    server.set(|behaviour| behaviour.consent = Consent::WrongState);
    let config = config(&server);
    let login = Login::new(&config, &robot).with_timing(timing()).browser();
    let person = async {
        let page = robot.page().await;
        assert_eq!(page.status, 403);
        assert!(page.body.contains("belongs to another login"), "{}", page.body);
        // The person tries again, and this time all is well.
        server.set(|behaviour| behaviour.consent = Consent::Approve);
        testkit::browse(&robot.url().await).await.unwrap()
    };
    let (grant, page) = tokio::join!(login, person);
    assert_eq!(page.status, 200);
    grant.unwrap();
}

#[tokio::test]
async fn an_answer_counts_once() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::eager());
    Login::new(&config(&server), &robot).with_timing(timing()).browser().await.unwrap();
    let callback = robot.page().await.visited.pop().unwrap();
    assert!(callback.contains("/callback?code="), "{callback}");
    visit(&callback).await.expect_err("the port is closed");
    assert_eq!(server.requests_to("/token").len(), 1);
}

#[tokio::test]
async fn a_code_that_someone_else_asked_for_is_worth_nothing() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::idle());
    let challenge = "x".repeat(43);
    let other = format!(
        "{}?response_type=code&client_id=test-client&redirect_uri=http://127.0.0.1:1/callback&state=s&code_challenge={challenge}&code_challenge_method=S256",
        server.authorize_url()
    );
    let page = visit(&other).await.unwrap();
    let (_, code) = page.head.split_once("code=").unwrap();
    robot.paste(code.split('&').next().unwrap());
    let ended = Login::new(&config(&server), &robot).with_timing(timing()).browser().await;
    let Err(AuthError::Refused { code, .. }) = ended else { panic!("{ended:?}") };
    assert_eq!(code, "invalid_grant");
}

#[tokio::test]
async fn what_the_browser_could_not_open_may_be_pasted() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::idle());
    let config = config(&server);
    let login = Login::new(&config, &robot).with_timing(timing()).browser();
    let person = async {
        robot.paste("http://127.0.0.1:5/callback?code=x&state=wrong");
        // The browser is on another machine: it is sent to an address that it can not open.
        let page = visit(&robot.url().await).await.unwrap();
        let address = page.head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
        robot.paste(address);
    };
    let (grant, ()) = tokio::join!(login, person);
    assert!(server.accepts(grant.unwrap().access.reveal()));
    assert!(
        robot.steps().iter().any(|step| step.contains("belongs to another login")),
        "{:?}",
        robot.steps()
    );
}

#[tokio::test]
async fn nobody_comes() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::idle());
    let timing = Timing { login: Duration::from_millis(20), ..timing() };
    let ended = Login::new(&config(&server), &robot).with_timing(timing).browser().await;
    assert!(matches!(ended, Err(AuthError::TimedOut)), "{ended:?}");
    let callback = parameter(&robot.url().await, "redirect_uri").unwrap();
    visit(&callback).await.expect_err("the port is closed");
}

#[tokio::test]
async fn a_person_may_cancel() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::idle());
    let config = config(&server);
    let login = Login::new(&config, &robot).with_timing(timing()).browser();
    let person = async {
        let url = robot.url().await;
        robot.cancel();
        url
    };
    let (ended, url) = tokio::join!(login, person);
    assert!(matches!(ended, Err(AuthError::Cancelled)), "{ended:?}");
    visit(&parameter(&url, "redirect_uri").unwrap()).await.expect_err("the port is closed");
}

#[tokio::test]
async fn a_port_that_is_taken() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::eager());
    let taken = server.address().port();
    let redirect = Redirect { port: taken, ..Redirect::default() };
    let preferred = OAuthConfig { redirect: redirect.clone(), ..config(&server) };
    Login::new(&preferred, &robot).with_timing(timing()).browser().await.unwrap();
    let exact = OAuthConfig { redirect: Redirect { exact_port: true, ..redirect }, ..preferred };
    let ended = Login::new(&exact, &robot).with_timing(timing()).browser().await;
    assert!(matches!(ended, Err(AuthError::PortBusy { port }) if port == taken), "{ended:?}");
}

#[tokio::test]
async fn settings_that_would_tell_secrets_to_anyone_are_refused() {
    let server = OAuthServer::start().await.unwrap();
    let good = config(&server);
    let text = |text: &str| Some(text.to_owned());
    let bad = [
        (
            OAuthConfig { token_url: text("http://example.org/token"), ..good.clone() },
            "token_url is not https",
        ),
        (
            OAuthConfig { authorize_url: text("ftp://example.org"), ..good.clone() },
            "authorize_url is not https",
        ),
        (
            OAuthConfig { token_url: text("https://u:p@example.org/"), ..good.clone() },
            "token_url has a user, a password or a fragment",
        ),
        (OAuthConfig { token_url: None, ..good.clone() }, "token_url is missing"),
        (OAuthConfig { client_id: None, ..good.clone() }, "client_id is missing"),
        (
            OAuthConfig {
                redirect: Redirect { host: "0.0.0.0".to_owned(), ..Redirect::default() },
                ..good.clone()
            },
            "redirect.host is neither `127.0.0.1` nor `localhost`",
        ),
        (
            OAuthConfig {
                redirect: Redirect { path: "/a?state=1".to_owned(), ..Redirect::default() },
                ..good.clone()
            },
            "redirect.path is no plain path that begins with `/`",
        ),
    ];
    for (config, expected) in bad {
        let robot = Robot::idle();
        let ended = Login::new(&config, &robot).with_timing(timing()).browser().await;
        let Err(AuthError::BadConfig { what }) = ended else { panic!("{expected}: {ended:?}") };
        assert_eq!(what, expected);
        assert!(robot.steps().is_empty(), "nobody was sent anywhere");
    }
}

#[test]
fn settings_are_read_from_toml() {
    let text = "
        authorize_url = 'https://example.org/a'
        token_url = 'https://example.org/t'
        client_id = 'me'
        scopes = ['one']
        redirect = { host = 'localhost', port = 1455, exact_port = true }
        authorize_params = { audience = 'x' }
        answer = 'openrouter_key'
    ";
    let config: OAuthConfig = toml::from_str(text).unwrap();
    assert_eq!((config.redirect.port, config.redirect.path.as_str()), (1455, "/callback"));
    assert!(toml::from_str::<OAuthConfig>("client_secret = 'x'").is_err(), "there are no secrets of clients");
}
