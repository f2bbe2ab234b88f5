use super::*;

fn redacted(text: &str) -> String {
    Secret::new("sk-proj-Abc123def456ghi789wxyz").redact(text.to_owned())
}

#[test]
fn a_key_is_taken_out_however_it_is_quoted() {
    for quote in [
        "sk-proj-Abc123def456ghi789wxyz",
        "sk-...wxyz",
        "sk-…wxyz",
        "sk-proj-********wxyz",
        "sk-proj-Abc***",
        "sk-proj-Abc123de",
        "****************wxyz",
        "...i789wxyz",
        "sk-pxxxxxxxxxxxxxxxxxxwxyz",
    ] {
        assert_eq!(
            redacted(&format!("Incorrect API key provided: {quote}.")),
            "Incorrect API key provided: ***."
        );
        assert_eq!(redacted(&format!("the key \"{quote}\" is wrong")), "the key \"***\" is wrong");
        assert_eq!(redacted(&format!("{{\"key\":\"{quote}\"}}")), "{\"key\":\"***\"}");
    }
}

#[test]
fn ordinary_words_stay() {
    for text in [
        "You didn't provide an API key. Get one at https://platform.example/keys...",
        "use a key that begins with sk-...",
        "wait 20 s, then ask again … or don't",
        "the models `xyz` and `wxyz` are not there",
        "",
        "*** ... xxxx",
        "  two  blanks\nand a line ",
    ] {
        assert_eq!(redacted(text), text);
    }
    // What is too short for a key blots out nothing.
    assert_eq!(Secret::new("main").redact("main main...".to_owned()), "main main...");
}
