//! Several accounts that take turns when a provider has had enough of one.

use auth::{AuthError, ProviderAuth, Secret, Timestamp};
use jiff::SignedDuration;
use testkit::OAuthServer;

use crate::support::*;

async fn home_with(labels: &[&str]) -> Home {
    let home = Home::new();
    for label in labels {
        home.credentials().add_key("p", Some(label), &Secret::new(format!("key-of-{label}"))).await.unwrap();
    }
    home.credentials().activate("p", labels[0]).await.unwrap();
    home
}

#[tokio::test]
async fn the_next_one_takes_over_until_none_is_left() {
    let home = home_with(&["a", "b", "c"]).await;
    let credentials = home.credentials();
    let until = seconds_from_now(60);
    let a = credentials.resolve("p", &no_key()).await.unwrap().unwrap();
    let b = credentials.rotate("p", &no_key(), &a, until).await.unwrap().unwrap();
    assert_eq!((a.account.as_str(), b.account.as_str()), ("a", "b"));
    // Another call that was under way with the same account is sent to the same next one.
    let again = credentials.rotate("p", &no_key(), &a, until).await.unwrap().unwrap();
    assert_eq!(again.account, "b");
    // Every process begins there.
    assert_eq!(account(home.credentials().resolve("p", &no_key()).await), "b");
    let c = credentials.rotate("p", &no_key(), &b, seconds_from_now(30)).await.unwrap().unwrap();
    assert_eq!(c.account, "c");
    assert_eq!(credentials.rotate("p", &no_key(), &c, until).await.unwrap(), None);
    let error = credentials.resolve("p", &no_key()).await.unwrap_err();
    let AuthError::AllLimited { until: first, .. } = &error else { panic!("{error:?}") };
    assert!(*first <= seconds_from_now(30), "the first that is free again counts");
    assert!(error.may_pass());
    assert!(credentials.status("p", &no_key()).unwrap().iter().all(|one| one.limited_until.is_some()));
    assert_eq!(account(credentials.peek("p", &no_key())), "c", "a list shows it all the same");
}

#[tokio::test]
async fn a_limit_ends_and_the_turn_goes_round() {
    let home = home_with(&["a", "b"]).await;
    let start: Timestamp = "2026-01-25T12:00:00Z".parse().unwrap();
    let minute = SignedDuration::from_mins(1);
    let at = |now: Timestamp| home.credentials().with_clock(move || now);
    let a = at(start).resolve("p", &no_key()).await.unwrap().unwrap();
    let b = at(start).rotate("p", &no_key(), &a, start + minute).await.unwrap().unwrap();
    assert_eq!(at(start).rotate("p", &no_key(), &b, start + minute * 3).await.unwrap(), None);
    let later = at(start + minute * 2);
    assert_eq!(account(later.resolve("p", &no_key()).await), "a");
    // A clock that went backwards by years does not lock anyone away.
    let past = at(start - SignedDuration::from_hours(24 * 365));
    assert_eq!(account(past.resolve("p", &no_key()).await), "b");
}

#[tokio::test]
async fn a_key_outside_the_store_comes_first_and_takes_its_turn() {
    let home = home_with(&["a", "b"]).await;
    let credentials = home.credentials();
    let config = ProviderAuth { api_key: Some(Secret::new("outer-key")), api_key_env: None };
    let until = seconds_from_now(60);
    let outer = credentials.resolve("p", &config).await.unwrap().unwrap();
    let a = credentials.rotate("p", &config, &outer, until).await.unwrap().unwrap();
    let b = credentials.rotate("p", &config, &a, until).await.unwrap().unwrap();
    assert_eq!([&outer, &a, &b].map(|one| one.account.as_str()), ["config", "a", "b"]);
    assert_eq!(account(credentials.resolve("p", &config).await), "b");
    assert_eq!(credentials.rotate("p", &config, &b, until).await.unwrap(), None);
    // Another key than the one that was limited.
    let config = ProviderAuth { api_key: Some(Secret::new("other-key")), api_key_env: None };
    assert_eq!(account(credentials.resolve("p", &config).await), "config");
    assert_eq!(account(credentials.rotate("p", &config, &b, until).await), "config", "it goes round");
}

#[tokio::test]
async fn one_account_has_nobody_to_hand_over_to() {
    let home = home_with(&["a"]).await;
    let credentials = home.credentials();
    let a = credentials.resolve("p", &no_key()).await.unwrap().unwrap();
    assert_eq!(credentials.rotate("p", &no_key(), &a, seconds_from_now(1)).await.unwrap(), None);
    let config = ProviderAuth { api_key: Some(Secret::new("k")), api_key_env: None };
    let outer = credentials.resolve("q", &config).await.unwrap().unwrap();
    assert_eq!(credentials.rotate("q", &config, &outer, seconds_from_now(1)).await.unwrap(), None);
    assert!(matches!(credentials.resolve("q", &config).await, Err(AuthError::AllLimited { .. })));
}

#[tokio::test]
async fn no_number_of_a_provider_parks_an_account_for_ever() {
    let home = home_with(&["a"]).await;
    let credentials = home.credentials();
    let a = credentials.resolve("p", &no_key()).await.unwrap().unwrap();
    credentials.rotate("p", &no_key(), &a, Timestamp::MAX).await.unwrap();
    let limited = credentials.status("p", &no_key()).unwrap()[0].limited_until.unwrap();
    assert!(limited <= seconds_from_now(24 * 3600), "{limited}");
    // The person knows better.
    credentials.activate("p", "a").await.unwrap();
    assert_eq!(account(credentials.resolve("p", &no_key()).await), "a");
}

#[tokio::test]
async fn a_key_that_was_replaced_meanwhile_is_not_limited() {
    let home = home_with(&["a", "b"]).await;
    let credentials = home.credentials();
    let a = credentials.resolve("p", &no_key()).await.unwrap().unwrap();
    credentials.add_key("p", Some("a"), &Secret::new("a-new-key")).await.unwrap();
    credentials.rotate("p", &no_key(), &a, seconds_from_now(60)).await.unwrap();
    assert_eq!(home.book().account("p", "a").unwrap().limited_until, None);
}

#[tokio::test]
async fn an_account_whose_login_has_ended_is_passed_over_and_named() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    let credentials = home.credentials_at(&server);
    home.logged_in("good", &a_grant(&server).await, 3600);
    let ended = a_grant(&server).await;
    home.logged_in("ended", &auth::Grant { refresh: None, ..ended }, -5);
    assert_eq!(account(credentials.resolve(PROVIDER, &no_key()).await), "good");
    let notices: Vec<String> = credentials.take_notices().iter().map(ToString::to_string).collect();
    assert_eq!(notices, ["the login of account `ended` at `test` has ended; another account is used"]);
    let good = credentials.resolve(PROVIDER, &no_key()).await.unwrap().unwrap();
    assert_eq!(credentials.rotate(PROVIDER, &no_key(), &good, seconds_from_now(60)).await.unwrap(), None);
}
