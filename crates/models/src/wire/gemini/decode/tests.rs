use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Wire;
use crate::wire::tests::{stream, told, told_whole};

fn frame(parts: Value, stop: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(stop) = stop {
        candidate["finishReason"] = stop.into();
    }
    json!({"candidates": [candidate], "usageMetadata": {
        "promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 2, "cachedContentTokenCount": 4,
    }})
}

fn tell(frames: &[Value]) -> String {
    told(Wire::Gemini, &stream(frames))
}

#[test]
fn parts_are_blocks_and_signatures_stay_with_theirs() {
    let told = tell(&[
        frame(json!([{"text": "Hm", "thought": true}]), None),
        frame(json!([{"text": ".", "thought": true}, {"text": "I "}]), None),
        frame(json!([{"text": "read."}]), None),
        frame(
            json!([
                {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "first"},
                {"functionCall": {"id": "b", "name": "f", "args": {}}},
                {"functionCall": {"id": "b", "name": "g"}},
                {"functionCall": {"id": "nameless"}},
            ]),
            None,
        ),
        frame(json!([{"text": "Then"}, {"text": "", "thoughtSignature": "second"}, {"text": "more"}]), None),
        frame(json!([{"text": ""}]), Some("STOP")),
    ]);
    assert_snapshot!(told, @r#"
    0 Thinking
    0 + Hm.
    0 end
    1 Text
    1 + I read.
    1 end
    2 call f (made up)
    2 + {"x":1}
    2 end
    3 call f (b)
    3 + {}
    3 end
    4 call g (made up)
    4 end
    5 Text
    5 + Then
    5 end
    6 Text
    6 + more
    6 end
    usage: 9 in (4 read, 0 written), 5 out (2 thought)
    2 back: {"thoughtSignature":"first"}
    5 back: {"thoughtSignature":"second"}
    stop: ToolCalls
    "#);
}

#[test]
fn a_signature_alone_is_kept_too() {
    assert_snapshot!(tell(&[frame(json!([{"text": "", "thoughtSignature": "s"}]), Some("STOP"))]), @r#"
    usage: 9 in (4 read, 0 written), 5 out (2 thought)
    0 back: {"thoughtSignature":"s"}
    stop: EndTurn
    "#);
}

#[test]
fn a_stop_is_named_by_what_happened() {
    let stop = |word: &str| tell(&[frame(json!([]), Some(word))]).lines().last().unwrap().to_owned();
    assert_eq!(stop("STOP"), "stop: EndTurn");
    assert_eq!(stop("MAX_TOKENS"), "stop: MaxTokens");
    assert_eq!(stop("SAFETY"), "stop: Refused");
    assert_eq!(stop("OTHER"), "stop: Other(\"OTHER\")");
    assert_snapshot!(stop("MALFORMED_FUNCTION_CALL"), @"error: the answer of `replay` broke off: the model wrote no valid call (MALFORMED_FUNCTION_CALL) ");
    assert_snapshot!(tell(&[json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}})]), @"error: `replay` refused to answer: the prompt was blocked (PROHIBITED_CONTENT)");
}

#[test]
fn errors_and_ends_that_are_no_ends() {
    assert_snapshot!(tell(&[json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}})]), @"error: `replay` can not answer now: The model is overloaded.");
    assert_snapshot!(tell(&[json!({"error": {"code": 429, "message": "m", "status": "RESOURCE_EXHAUSTED"}})]), @"error: `replay` is rate limiting us: m");
    assert_snapshot!(tell(&[frame(json!([{"text": "a"}]), None)]), @"error: the answer of `replay` broke off: the connection ended before the model stopped");
    assert_snapshot!(told_whole(Wire::Gemini, &json!({"hello": 1})), @"error: the answer of `replay` broke off: the answer has no end");
}

#[test]
fn an_answer_in_one_piece_or_as_an_array() {
    let first = frame(json!([{"text": "Yes"}]), None);
    let last = frame(json!([{"text": "."}]), Some("STOP"));
    let whole = frame(json!([{"text": "Yes"}, {"text": "."}]), Some("STOP"));
    let expected = told_whole(Wire::Gemini, &whole);
    assert_snapshot!(expected, @"
    0 Text
    0 + Yes.
    0 end
    usage: 9 in (4 read, 0 written), 5 out (2 thought)
    stop: EndTurn
    ");
    assert_eq!(told_whole(Wire::Gemini, &json!([first, last])), expected);
}

#[test]
fn wrong_types_and_absurd_usage_break_nothing() {
    let odd = json!({"candidates": [{"content": {"parts": [
        {"text": 5, "thought": "yes", "functionCall": "none", "thoughtSignature": 1}, {"text": "a", "inlineData": {}},
    ]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": "8", "candidatesTokenCount": -1, "thoughtsTokenCount": []}});
    assert_snapshot!(tell(&[odd]), @"
    0 Text
    0 + a
    0 end
    usage: 8 in (0 read, 0 written), 0 out (0 thought)
    stop: EndTurn
    ");
}
