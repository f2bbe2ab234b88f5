use super::*;

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

fn with_bearer(guess: &str) -> Credentials<'_> {
    Credentials { bearer: Some(guess), cookie: None }
}

fn with_cookie(cookie: &str) -> Credentials<'_> {
    Credentials { bearer: None, cookie: Some(cookie) }
}

#[test]
fn guesses_are_counted_and_then_not_looked_at() {
    let token = Token::random().unwrap();
    let access = Access::new(token.clone());
    let start = Instant::now();
    let cookie = access.log_in(HERE, token.reveal(), start).unwrap().unwrap();
    for _ in 0..MAX_FAILURES {
        assert_eq!(access.admit(HERE, &with_bearer("wrong"), start).unwrap_err(), Refused::Unknown);
    }
    // Even the right one: otherwise guessing would go on being worth it.
    assert_eq!(
        access.admit(HERE, &with_bearer(token.reveal()), start).unwrap_err(),
        Refused::TooMany(WINDOW)
    );
    // Who was in stays in, and others are not made to pay.
    assert!(access.admit(HERE, &with_cookie(&cookie), start).is_ok());
    assert!(access.admit("10.0.0.1".parse().unwrap(), &with_bearer(token.reveal()), start).is_ok());
    assert!(access.admit(HERE, &with_bearer(token.reveal()), start + WINDOW).is_ok());
}

#[test]
fn a_neighbouring_address_of_the_same_network_does_not_help() {
    let token = Token::random().unwrap();
    let access = Access::new(token.clone());
    let start = Instant::now();
    for host in 0..MAX_FAILURES {
        let from = format!("2001:db8::{host:x}").parse().unwrap();
        access.admit(from, &with_bearer("wrong"), start).unwrap_err();
    }
    let from = "2001:db8::ffff".parse().unwrap();
    assert!(matches!(access.admit(from, &with_bearer(token.reveal()), start), Err(Refused::TooMany(_))));
}

#[test]
fn what_is_remembered_of_strangers_is_bounded() {
    let access = Access::new(Token::random().unwrap());
    let start = Instant::now();
    for address in 0..(MAX_ADDRESSES as u32 + 100) {
        access.admit(IpAddr::from(address.to_be_bytes()), &with_bearer("wrong"), start).unwrap_err();
    }
    assert_eq!(access.lock().failures.len(), MAX_ADDRESSES);
}

#[test]
fn logging_out_ends_what_was_opened() {
    let token = Token::random().unwrap();
    let access = Access::new(token.clone());
    let now = Instant::now();
    let cookie = access.log_in(HERE, token.reveal(), now).unwrap().unwrap();
    let visitor = access.admit(HERE, &with_cookie(&cookie), now).unwrap();
    access.log_out(&cookie);
    assert!(visitor.leaves.is_cancelled());
    assert!(access.admit(HERE, &with_cookie(&cookie), now).is_err());
}

#[test]
fn a_token_does_not_print_itself() {
    let token = Token::random().unwrap();
    assert_eq!(format!("{token:?}"), "Token(…)");
    assert_eq!(token.reveal().len(), 64);
    assert!(!token.is(&token.reveal()[1..]) && !token.is("") && token.is(token.reveal()));
}
