use serde_json::json;

use super::*;

#[test]
fn a_script_says_everything_a_reply_can_have() {
    let script: Script = r##"
        # two replies, then again
        model: Hello # there.
        reply   # this one is rich
          think: Let me look.
          text: "two\nlines"
          call: read {"path": "a.txt"}
          call: list_dir
          usage: input=10 output=5 cache_read=3   # tokens
          stop: length
          chunk: 4
          pace: 2
          fault: cut after=3          # frames
        forever
    "##
    .parse()
    .unwrap();

    let rich = Reply::new()
        .think("Let me look.")
        .then_text("two\nlines")
        .call("read", json!({"path": "a.txt"}))
        .call("list_dir", json!({}))
        .usage(Tokens { input: 10, output: 5, cache_read: 3, ..Tokens::default() })
        .stop("length")
        .split(Split::Chars(4))
        .pace(Duration::from_millis(2))
        .fault(Fault::Cut { after: 3 });
    assert_eq!(script, Script::from([Reply::text("Hello # there."), rich]).forever());
}

#[test]
fn faults_have_their_settings() {
    let fault = |line: &str| format!("reply\n fault: {line}").parse::<Script>().unwrap().replies.remove(0);
    assert_eq!(fault("429 retry-after=0"), Reply::status(429).retry_after("0"));
    assert_eq!(fault(r#"400 message="a # b" # why"#), Reply::status(400).message("a # b"));
    assert_eq!(fault("giant mb=2").fault, Some(Fault::Giant { bytes: 2 << 20 }));
    assert_eq!(fault("flood").fault, Some(Fault::Flood { bytes: None }));
    assert_eq!(fault("split-utf8").delivery, Delivery::SplitUtf8);
}

#[test]
fn errors_name_the_line() {
    let error = |text: &str| text.parse::<Script>().unwrap_err().to_string();
    assert_eq!(error("model: a\ntext: b"), "line 2 of the script: `text` belongs below a `reply` line");
    assert_eq!(error("reply\n\n  chunk: many"), "line 3 of the script: `many` is not a number");
    assert!(error("reply\n call: read {").starts_with("line 2 of the script: the arguments of `read`: "));
    assert!(error("reply\n fault: explode").starts_with("line 2 of the script: `explode` is not a status"));
    assert_eq!(error("hello"), "line 1 of the script: `hello` is not `key: value`");
}

#[test]
fn text_is_cut_without_losing_anything() {
    let text = "Grüße aus  Köln, 你好 ";
    for split in [Split::Words, Split::Chars(1), Split::Chars(3), Split::Deltas(4), Split::Deltas(1)] {
        let pieces = split.cut(text);
        assert_eq!(pieces.concat(), text, "{split:?}");
    }
    assert_eq!(Split::Deltas(1).cut(text).len(), 1);
    assert_eq!(Split::Words.cut("a b").len(), 2);
}
