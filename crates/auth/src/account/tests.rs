use super::*;

const OLD: &str = r#"{"v":1,"note":"mine","providers":{"p":{"colour":"red","accounts":[
    {"label":"a","kind":"key","key":"sk-canary","active":true,"added":"2026-01-25T14:30:52Z","later":{"x":[1]}},
    {"label":"b","kind":"passkey","blob":"sk-canary-2"}]}}}"#;

#[test]
fn what_a_later_version_wrote_survives() {
    let mut book = Book::from_store(OLD).unwrap();
    assert!(book.activate("p", "b"));
    let written: Value = serde_json::from_str(&book.to_store()).unwrap();
    let mut expected: Value = serde_json::from_str(OLD).unwrap();
    expected["providers"]["p"]["accounts"][0]["active"] = json!(false);
    expected["providers"]["p"]["accounts"][1]["active"] = json!(true);
    assert_eq!(written, expected);
    assert_eq!(Book::from_store(&book.to_store()).unwrap(), book);
}

#[test]
fn nothing_shows_a_secret() {
    let book = Book::from_store(OLD).unwrap();
    assert!(!format!("{book:?}").contains("canary"), "{book:?}");
    // serde's own message would quote the value.
    let wrong = OLD.replace("true", "\"sk-canary\"");
    let error = Book::from_store(&wrong).unwrap_err();
    assert_eq!(
        error,
        ReadError::Damaged {
            what: "a field is missing or of the wrong kind at line 2, column 68".to_owned()
        }
    );
}

#[test]
fn a_newer_format_is_told_from_damage() {
    assert_eq!(Book::from_store(r#"{"v":2,"providers":[]}"#), Err(ReadError::Newer { version: 2 }));
    for text in ["", "{", "[]", "{}", r#"{"v":0}"#, r#"{"v":"1"}"#, r#"{"v":1,"providers":3}"#] {
        assert!(matches!(Book::from_store(text), Err(ReadError::Damaged { .. })), "{text}");
    }
}

#[test]
fn labels_and_the_active_one() {
    let now = Timestamp::UNIX_EPOCH;
    let mut book = Book::default();
    for expected in ["default", "account-2", "account-3"] {
        let label = book.free_label("p");
        assert_eq!(label, expected);
        book.put("p", Account::key(label, Secret::new("k"), now));
    }
    assert_eq!(book.remove("p", Some("account-3")), ["account-3"]);
    assert!(book.account("p", "default").unwrap().active, "someone is active when the active one goes");
    assert_eq!(book.remove("p", Some("default")), ["default"]);
    assert_eq!(book.free_label("p"), "default");
    assert_eq!(book.remove("p", None), ["account-2"]);
    assert_eq!(book.providers().count(), 0);
}

#[test]
fn a_limit_from_a_broken_clock_locks_nobody_out() {
    let now: Timestamp = "2026-01-25T12:00:00Z".parse().unwrap();
    let mut account = Account::key("a", Secret::new("k"), now);
    account.limited_until = Some("2026-01-25T12:01:00Z".parse().unwrap());
    assert!(account.limited(now).is_some());
    account.limited_until = Some("2038-01-25T12:01:00Z".parse().unwrap());
    assert_eq!(account.limited(now), None);
    account.limited_until = Some("2026-01-25T11:00:00Z".parse().unwrap());
    assert_eq!(account.limited(now), None);
}
