use super::*;

#[test]
fn paths_are_added_before_the_query() {
    let ask = |base: &str| below(&base.parse().unwrap(), &["chat", "completions"]).to_string();
    assert_eq!(ask("http://h/v1"), "http://h/v1/chat/completions");
    assert_eq!(ask("http://h/v1/"), "http://h/v1/chat/completions");
    assert_eq!(ask("http://h"), "http://h/chat/completions");
    assert_eq!(ask("https://h/x/v1?api-version=2"), "https://h/x/v1/chat/completions?api-version=2");
}
