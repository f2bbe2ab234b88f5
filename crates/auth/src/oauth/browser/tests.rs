use super::*;

fn expected() -> Callback {
    Callback { path: "/callback".to_owned(), state: Some("the-state".to_owned()) }
}

fn code(text: &str) -> Result<String, String> {
    match read(text, &expected()) {
        Ok(Ok(code)) => Ok(code.reveal().to_owned()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(why) => Err(why.to_owned()),
    }
}

#[test]
fn a_person_may_paste_the_code_or_the_address() {
    assert_eq!(code("  abc-123\n").unwrap(), "abc-123");
    assert_eq!(code("http://127.0.0.1:9/callback?code=abc%2F1&state=the-state").unwrap(), "abc/1");
    assert_eq!(code("http://localhost:9/callback?state=the-state&code=abc").unwrap(), "abc");
}

#[test]
fn what_belongs_to_something_else_is_refused() {
    assert_eq!(code("").unwrap_err(), "it is empty");
    assert_eq!(code("two words").unwrap_err(), "it is not a code");
    assert_eq!(
        code("http://127.0.0.1:9/callback?code=abc&state=other").unwrap_err(),
        "this answer belongs to another login"
    );
    assert_eq!(
        code("http://127.0.0.1:9/callback?code=abc").unwrap_err(),
        "this answer belongs to another login"
    );
    assert_eq!(
        code("http://127.0.0.1:9/other?code=abc&state=the-state").unwrap_err(),
        "there is nothing at this address"
    );
    assert_eq!(
        code("https://example.org/callback?code=abc&state=the-state").unwrap_err(),
        "it is not the address that the browser was sent back to"
    );
    assert_eq!(
        code("http://127.0.0.1:9/callback?error=access_denied&state=the-state").unwrap_err(),
        "the login was denied"
    );
    assert_eq!(
        code("http://127.0.0.1:9/callback?code=a&code=b&state=the-state").unwrap_err(),
        "this is no request that can be answered"
    );
}

#[test]
fn settings_can_not_weaken_the_login() {
    let mut config = OAuthConfig { client_id: Some("id".to_owned()), ..OAuthConfig::default() };
    config.authorize_params.insert("state".to_owned(), "fixed".to_owned());
    let url: Url = "https://example.org/auth".parse().unwrap();
    let error = address(&config, url, "http://127.0.0.1:1/callback", "s", "c").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the settings of the login are wrong: authorize_params must not have `state`"
    );
}
