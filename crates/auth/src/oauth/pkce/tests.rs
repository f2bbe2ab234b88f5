use super::*;

#[test]
fn the_challenge_is_the_one_of_the_specification() {
    // RFC 7636, appendix B.
    let verifier = Secret::new("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
    assert_eq!(challenge(&verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
}

#[test]
fn words_are_long_and_never_the_same() {
    let (one, two) = (random_word().unwrap(), random_word().unwrap());
    assert_eq!(one.len(), 43);
    assert_ne!(one, two);
    assert!(one.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{one}");
}
