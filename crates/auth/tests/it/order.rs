//! Where a credential is looked for, and what a person does with accounts.

use auth::{AuthError, CredentialKind, Credentials, ProviderAuth, Secret, Source};

use crate::support::*;

fn key(text: &str) -> Secret {
    Secret::new(text)
}

#[tokio::test]
async fn configuration_then_environment_then_store() {
    let home = Home::new();
    let environment = |name: &str| match name {
        "TEST_KEY" => Some(" from-environment\n".to_owned()),
        "EMPTY" => Some("  ".to_owned()),
        _ => None,
    };
    let credentials = Credentials::new(home.store(), environment);
    assert_eq!(account(credentials.resolve("p", &no_key()).await), "none");
    assert!(!home.path().exists(), "looking makes no file");
    credentials.add_key("p", None, &key("from-store\n")).await.unwrap();

    let resolve = async |api_key: Option<&str>, variable: Option<&str>| {
        let config =
            ProviderAuth { api_key: api_key.map(Secret::new), api_key_env: variable.map(str::to_owned) };
        let found = credentials.resolve("p", &config).await.unwrap().unwrap();
        assert_eq!(found.kind, CredentialKind::ApiKey);
        assert_eq!(credentials.peek("p", &config).unwrap().as_ref(), Some(&found));
        (found.secret.reveal().to_owned(), found.source)
    };
    let variable = Source::Environment { variable: "TEST_KEY".to_owned() };
    assert_eq!(
        resolve(Some("from-config"), Some("TEST_KEY")).await,
        ("from-config".to_owned(), Source::Config)
    );
    assert_eq!(resolve(Some("  "), Some("TEST_KEY")).await, ("from-environment".to_owned(), variable));
    assert_eq!(resolve(None, Some("EMPTY")).await, ("from-store".to_owned(), Source::Store));
    assert_eq!(resolve(None, Some("UNSET")).await, ("from-store".to_owned(), Source::Store));
}

#[tokio::test]
async fn a_damaged_store_is_in_nobodys_way_who_does_not_need_it() {
    let home = Home::new();
    home.change(|_| ());
    std::fs::write(home.path(), "{").unwrap();
    let config = ProviderAuth { api_key: Some(key("k")), api_key_env: None };
    assert_eq!(account(home.credentials().resolve("p", &config).await), "config");
    let error = home.credentials().resolve("p", &no_key()).await.unwrap_err();
    assert!(matches!(error, AuthError::StoreDamaged { .. }), "{error:?}");
}

#[tokio::test]
async fn accounts_are_added_chosen_and_removed() {
    let home = Home::new();
    let credentials = home.credentials();
    assert_eq!(credentials.add_key("p", None, &key("one")).await.unwrap(), "default");
    assert_eq!(credentials.add_key("p", None, &key("two")).await.unwrap(), "account-2");
    assert_eq!(credentials.add_key("p", None, &key("one")).await.unwrap(), "default", "the same key again");
    assert_eq!(credentials.add_key("p", Some("work"), &key("three")).await.unwrap(), "work");
    assert_eq!(account(credentials.resolve("p", &no_key()).await), "work", "the newest");
    credentials.activate("p", "default").await.unwrap();
    assert_eq!(account(credentials.resolve("p", &no_key()).await), "default");
    let status = credentials.status("p", &no_key()).unwrap();
    let shown: Vec<_> = status.iter().map(|one| (one.label.as_str(), one.active)).collect();
    assert_eq!(shown, [("default", true), ("account-2", false), ("work", false)]);
    assert_eq!(credentials.providers().unwrap(), ["p"]);

    let error = credentials.activate("p", "wrok").await.unwrap_err();
    assert_eq!(error.to_string(), "`p` has no account `wrok`");
    assert_eq!(error.hint(), "there is `default`, `account-2`, `work`");
    assert_eq!(credentials.logout("p", Some("default")).await.unwrap(), ["default"]);
    assert_eq!(account(credentials.resolve("p", &no_key()).await), "account-2");
    assert_eq!(credentials.logout("p", None).await.unwrap(), ["account-2", "work"]);
    let error = credentials.logout("p", None).await.unwrap_err();
    assert!(matches!(error, AuthError::NotLoggedIn { .. }), "{error:?}");
    assert!(!std::fs::read_to_string(home.path()).unwrap().contains("three"));
}

#[tokio::test]
async fn what_can_not_be_a_key_is_not_kept() {
    let home = Home::new();
    let credentials = home.credentials();
    let long = "x".repeat(17 << 10);
    for bad in ["", "  ", "two words", "line\nbreak", "bell\u{7}", "schlüssel", &long] {
        let error = credentials.add_key("p", None, &key(bad)).await.unwrap_err();
        assert_eq!(error.to_string(), "that can not be kept as a key");
    }
    for bad in ["", " ", "a\nb", "\u{1b}[31m"] {
        let error = credentials.add_key("p", Some(bad), &key("good")).await.unwrap_err();
        assert_eq!(error.to_string(), "that can not be kept as a label");
    }
    assert!(!home.path().exists());
}
