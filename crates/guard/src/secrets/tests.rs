use std::time::Instant;

use super::*;

fn redact(text: &str) -> String {
    Redactor::default().redact(text).into_owned()
}

/// Made here, so that nothing that looks like a key is in the source.
fn made(prefix: &str, length: usize) -> String {
    let mut state = 7u64;
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let body: String = (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(letters[(state >> 33) as usize % letters.len()])
        })
        .collect();
    format!("{prefix}{body}")
}

#[test]
fn keys_are_known_by_their_shape() {
    for (prefix, length, name) in
        SHAPES.iter().filter(|(prefix, ..)| !matches!(*prefix, "AKIA" | "ASIA" | "eyJ"))
    {
        let key = made(prefix, *length);
        for text in [
            key.clone(),
            format!("key is {key}, ok"),
            format!("KEY={key}"),
            format!("{{\"k\": \"{key}\"}}"),
            format!("https://x.org/?k={key}&a=1"),
        ] {
            let out = redact(&text);
            assert!(!out.contains(&key) && out.contains("[redacted: "), "{name}: {text} became {out}");
        }
    }
    let aws = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    assert_eq!(
        redact(&format!("id {aws}.")),
        format!("id {aws}."),
        "with a dot it is longer; without, it is one"
    );
    assert_eq!(redact(&format!("id {aws}")), "id [redacted: aws key]");
}

#[test]
fn values_behind_words_are_masked() {
    let value = made("", 20);
    for text in [
        "password = \"V\"",
        "API_KEY=V",
        "\"token\": \"V\"",
        "Authorization: Bearer V",
        "client_secret: V",
        "DB_PASSWORD='V'",
        "secret=V\n",
        "x-api-key: V",
    ] {
        let out = redact(&text.replace('V', &value));
        assert!(!out.contains(&value), "{text} became {out}");
    }
    assert_eq!(
        redact("postgres://app:hunter2x@db/x"),
        "postgres://app:[redacted: password in an address]@db/x"
    );
}

#[test]
fn a_private_key_is_masked_whole() {
    let text = format!(
        "a\n-----BEGIN {} KEY-----\nabc\ndef\n-----END {} KEY-----\nb",
        "OPENSSH PRIVATE", "OPENSSH PRIVATE"
    );
    assert_eq!(redact(&text), "a\n[redacted: private key]\nb");
    assert_eq!(redact(&text[..40]), "a\n[redacted: private key]", "cut off, too");
}

#[test]
fn ordinary_text_stays() {
    for text in [
        "let token = get_token(12);",
        "password: string",
        "max_tokens: 4096",
        "the secret of success",
        "author = \"Ann Other 2024\"",
        "TOKEN=${TOKEN}",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sk-1",
        "auth: required",
        "const apiKey = process.env.API_KEY1;",
        "version = \"1.2.3\"",
        "https://docs.rs/serde/1.0.2",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn known_values_never_get_out() {
    let canary = "correct horse battery";
    let redactor = Redactor::new([canary.to_owned(), "short".to_owned()]);
    let out = redactor.redact("a short text with correct horse battery in it").into_owned();
    assert_eq!(out, "a short text with [redacted: known secret] in it");
}

#[test]
fn a_megabyte_takes_no_time_worth_noticing() {
    let line = format!(
        "some text, a token: {} and {} more of it, äöü {}\n",
        made("", 24),
        made("ghp_", 36),
        "x".repeat(60)
    );
    let text = line.repeat(1_000_000 / line.len());
    let start = Instant::now();
    let out = redact(&text);
    assert!(!out.contains("ghp_"));
    let hostile = redact(&"password=".repeat(100_000))
        + &redact(&"-----BEGIN ".repeat(90_000))
        + &redact(&"=:/".repeat(300_000));
    assert!(!hostile.is_empty());
    assert!(start.elapsed().as_secs() < 8, "{:?}", start.elapsed());
}

/// Words, signs and values, of which texts full of secrets are made.
fn pieces() -> Vec<String> {
    let plain = "password|secret|token=|Bearer |: |\"|=|]|[redacted: | |\n|@|://|user:|/|known-value-1|ä";
    let made = [made("", 12), made("sk-ant-", 24), "-----BEGIN RSA PRIVATE KEY-----".to_owned()];
    plain.split('|').map(str::to_owned).chain(made).collect()
}

proptest::proptest! {
    #[test]
    fn masking_again_changes_nothing(
        text in proptest::collection::vec(proptest::sample::select(pieces()), 0..12)
    ) {
        let redactor = Redactor::new(["known-value-1".to_owned()]);
        let once = redactor.redact(&text.concat()).into_owned();
        proptest::prop_assert_eq!(redactor.redact(&once), once.as_str());
    }
}
