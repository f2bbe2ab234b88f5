//! Logins that end, and are renewed before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use auth::{AuthError, Book, Credentials, FileStore, Notice, OnDamage, SecretStore, StoreLock};
use testkit::{OAuthFault, OAuthServer};

use crate::support::*;

fn renewals(server: &OAuthServer) -> usize {
    let renews = |request: &&Arc<testkit::OAuthRequest>| request.field("grant_type") == Some("refresh_token");
    server.requests_to("/token").iter().filter(renews).count()
}

#[tokio::test]
async fn a_login_is_renewed_in_its_last_minute() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    let credentials = home.credentials_at(&server);
    let grant = a_grant(&server).await;
    home.logged_in("me", &grant, 120);
    let found = credentials.resolve(PROVIDER, &no_key()).await.unwrap().unwrap();
    assert_eq!((found.secret, renewals(&server)), (grant.access.clone(), 0));

    home.logged_in("me", &grant, 59);
    let found = credentials.resolve(PROVIDER, &no_key()).await.unwrap().unwrap();
    assert_ne!(found.secret, grant.access);
    assert!(server.accepts(found.secret.reveal()));
    let kept = home.book().account(PROVIDER, "me").cloned().unwrap();
    assert_eq!(kept.access, Some(found.secret));
    assert_ne!(kept.refresh, grant.refresh, "it is replaced each time");
    assert!(kept.expires_at.unwrap() > seconds_from_now(3000));
    credentials.resolve(PROVIDER, &no_key()).await.unwrap();
    assert_eq!(renewals(&server), 1);
}

#[tokio::test]
async fn a_provider_that_does_not_replace_the_refresh_token() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    server.set(|behaviour| behaviour.rotate = false);
    let grant = a_grant(&server).await;
    for _ in 0..2 {
        home.logged_in("me", &grant, 10);
        home.credentials_at(&server).resolve(PROVIDER, &no_key()).await.unwrap();
        assert_eq!(home.book().account(PROVIDER, "me").unwrap().refresh, grant.refresh);
    }
    assert_eq!(renewals(&server), 2);
}

#[tokio::test]
async fn many_ask_and_one_renews() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    // So short that each new token is in its last minute at once: still nobody renews what was just renewed.
    server.set(|behaviour| (behaviour.expires_in, behaviour.pause) = (Some(45), Duration::from_millis(30)));
    home.logged_in("me", &a_grant(&server).await, 30);
    let before = renewals(&server);
    let one = home.credentials_at(&server);
    // The same program twice, as it were: nothing in memory is shared.
    let other = home.credentials_at(&server);
    let key = no_key();
    let (a, b, c, d) = tokio::join!(
        one.resolve(PROVIDER, &key),
        one.resolve(PROVIDER, &key),
        other.resolve(PROVIDER, &key),
        other.resolve(PROVIDER, &key),
    );
    let tokens = [a, b, c, d].map(|found| found.unwrap().unwrap().secret);
    assert!(tokens.iter().all(|token| *token == tokens[0]));
    assert!(server.accepts(tokens[0].reveal()));
    assert_eq!(renewals(&server) - before, 1);
}

#[tokio::test]
async fn a_caller_that_goes_away_does_not_lose_the_login() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    let credentials = home.credentials_at(&server);
    home.logged_in("me", &a_grant(&server).await, 10);
    server.set(|behaviour| behaviour.pause = Duration::from_millis(100));
    let gone =
        tokio::time::timeout(Duration::from_millis(10), credentials.resolve(PROVIDER, &no_key())).await;
    assert!(gone.is_err());
    let found = credentials.resolve(PROVIDER, &no_key()).await.unwrap().unwrap();
    assert!(server.accepts(found.secret.reveal()));
    assert_eq!(renewals(&server), 1);
}

#[tokio::test]
async fn a_login_that_was_revoked_says_what_to_do_and_asks_once() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    let credentials = home.credentials_at(&server);
    home.logged_in("me", &a_grant(&server).await, -5);
    server.revoke();
    for _ in 0..2 {
        let error = credentials.resolve(PROVIDER, &no_key()).await.unwrap_err();
        assert_eq!(error.to_string(), "the login of account `me` at `test` has ended");
        assert_eq!(error.hint(), "log in: `covey auth login test`");
    }
    assert_eq!(renewals(&server), 1);
    assert!(credentials.status(PROVIDER, &no_key()).unwrap()[0].needs_login);
    // A new login heals it.
    credentials.add_grant(PROVIDER, Some("me"), a_grant(&server).await).await.unwrap();
    assert_eq!(account(credentials.resolve(PROVIDER, &no_key()).await), "me");
}

#[tokio::test]
async fn trouble_at_the_provider_is_no_end_of_a_login() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    let credentials = home.credentials_at(&server);
    let grant = a_grant(&server).await;
    for fault in [OAuthFault::Status(503), OAuthFault::Page, OAuthFault::Empty, OAuthFault::Redirect] {
        server.set(|behaviour| behaviour.fault = Some(fault));
        home.logged_in("me", &grant, 30);
        let found = credentials.resolve(PROVIDER, &no_key()).await.unwrap().unwrap();
        assert_eq!(found.secret, grant.access, "it still holds for a while");
        home.logged_in("me", &grant, -1);
        let error = credentials.resolve(PROVIDER, &no_key()).await.unwrap_err();
        assert!(matches!(error, AuthError::Unreachable { .. } | AuthError::WrongAnswer { .. }), "{error:?}");
        assert_eq!(home.book().account(PROVIDER, "me").unwrap().refresh, grant.refresh);
    }
    server.set(|behaviour| behaviour.fault = None);
    assert_eq!(account(credentials.resolve(PROVIDER, &no_key()).await), "me");
}

#[tokio::test]
async fn a_token_that_is_refused_before_its_time_is_renewed_once() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    let credentials = home.credentials_at(&server);
    home.logged_in("me", &a_grant(&server).await, 3600);
    let used = credentials.resolve(PROVIDER, &no_key()).await.unwrap().unwrap();
    let new = credentials.renew(PROVIDER, &used).await.unwrap();
    assert_ne!(new.secret, used.secret);
    assert_eq!(credentials.renew(PROVIDER, &used).await.unwrap(), new, "someone was faster");
    assert_eq!(renewals(&server), 1);
    credentials.add_key("p", None, &auth::Secret::new("a-key")).await.unwrap();
    let key = credentials.resolve("p", &no_key()).await.unwrap().unwrap();
    assert!(matches!(credentials.renew("p", &key).await, Err(AuthError::LoginExpired { .. })));
}

#[tokio::test]
async fn a_refresh_token_that_was_used_before_ends_the_login() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    let credentials = home.credentials_at(&server);
    let grant = a_grant(&server).await;
    home.logged_in("me", &grant, -1);
    let renewed = credentials.resolve(PROVIDER, &no_key()).await.unwrap().unwrap();
    assert!(server.accepts(renewed.secret.reveal()));
    // As from a backup, or by a thief.
    home.logged_in("me", &grant, -1);
    let error = credentials.resolve(PROVIDER, &no_key()).await.unwrap_err();
    assert!(matches!(error, AuthError::LoginExpired { .. }), "{error:?}");
    assert!(!server.accepts(renewed.secret.reveal()), "the provider trusts neither of the two any more");
}

#[tokio::test]
async fn without_settings_a_login_lasts_as_long_as_it_lasts() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    let grant = a_grant(&server).await;
    home.logged_in("me", &grant, 30);
    assert_eq!(account(home.credentials().resolve(PROVIDER, &no_key()).await), "me");
    home.logged_in("me", &grant, 0);
    let error = home.credentials().resolve(PROVIDER, &no_key()).await.unwrap_err();
    assert!(matches!(error, AuthError::BadConfig { .. }), "{error:?}");
}

/// A disk that is full at times.
struct Full {
    store: FileStore,
    full: Arc<AtomicBool>,
}

impl SecretStore for Full {
    fn read(&self) -> Result<(Book, Vec<Notice>), AuthError> {
        self.store.read()
    }

    fn change(
        &self,
        on_damage: OnDamage,
        change: &mut dyn FnMut(&mut Book) -> bool,
    ) -> Result<Vec<Notice>, AuthError> {
        if self.full.load(Ordering::SeqCst) {
            let source = std::io::ErrorKind::StorageFull.into();
            return Err(AuthError::StoreFailed { path: self.store.path().to_owned(), source });
        }
        self.store.change(on_damage, change)
    }

    fn try_lock(&self, name: &str) -> Result<Option<StoreLock>, AuthError> {
        self.store.try_lock(name)
    }
}

#[tokio::test]
async fn a_renewed_login_outlives_a_full_disk() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    let full = Arc::new(AtomicBool::new(false));
    let store = Full { store: home.store(), full: full.clone() };
    let credentials =
        Credentials::new(store, |_| None).with_oauth(PROVIDER, config(&server)).with_timing(timing());
    let old = a_grant(&server).await;
    home.logged_in("me", &old, 10);
    full.store(true, Ordering::SeqCst);
    let found = credentials.resolve(PROVIDER, &no_key()).await.unwrap().unwrap();
    assert!(server.accepts(found.secret.reveal()));
    assert!(matches!(&credentials.take_notices()[..], [Notice::NotSaved { .. }]));
    assert_eq!(home.book().account(PROVIDER, "me").unwrap().refresh, old.refresh, "the disk has the old one");
    let again = credentials.resolve(PROVIDER, &no_key()).await.unwrap().unwrap();
    assert_eq!((again.secret, renewals(&server)), (found.secret.clone(), 1));
    // The next thing that is written takes it along.
    full.store(false, Ordering::SeqCst);
    credentials.add_key("other", None, &auth::Secret::new("a-key")).await.unwrap();
    assert_eq!(home.book().account(PROVIDER, "me").unwrap().access, Some(found.secret));
}
