use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Wire;
use crate::wire::tests::{stream, told, told_whole};

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn tell(blocks: Vec<Value>, reason: &str) -> String {
    let usage = json!({"input_tokens": 5, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 2, "output_tokens": 1});
    let mut frames = vec![
        json!({"type": "message_start", "message": {"content": [], "usage": usage}}),
        json!({"type": "ping"}),
    ];
    frames.extend(blocks);
    frames.push(
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}),
    );
    frames.push(json!({"type": "message_stop"}));
    told(Wire::Anthropic, &stream(&frames))
}

#[test]
fn blocks_may_be_open_at_once_and_thoughts_are_signed() {
    let told = tell(
        vec![
            start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, json!({"type": "thinking_delta", "thinking": "Hm"})),
            delta(0, json!({"type": "signature_delta", "signature": "si"})),
            delta(0, json!({"type": "signature_delta", "signature": "gn"})),
            stop(0),
            start(1, json!({"type": "redacted_thinking", "data": "sealed"})),
            stop(1),
            start(2, json!({"type": "tool_use", "id": "a", "name": "f", "input": {}})),
            start(3, json!({"type": "tool_use", "id": "b", "name": "g", "input": {}})),
            delta(3, json!({"type": "input_json_delta", "partial_json": "{\"y\""})),
            delta(2, json!({"type": "input_json_delta", "partial_json": "{\"x\":1}"})),
            delta(3, json!({"type": "input_json_delta", "partial_json": ":2}"})),
            stop(3),
            stop(2),
        ],
        "tool_use",
    );
    assert_snapshot!(told, @r#"
    0 Thinking
    0 + Hm
    0 end
    2 call f (a)
    3 call g (b)
    3 + {"y"
    2 + {"x":1}
    3 + :2}
    3 end
    2 end
    usage: 10 in (2 read, 3 written), 9 out (0 thought)
    0 back: {"type":"thinking","thinking":null,"signature":"sign"}
    1 back: {"type":"redacted_thinking","data":"sealed"}
    stop: ToolCalls
    "#);
}

#[test]
fn unknown_blocks_go_back_if_they_are_whole() {
    let told = tell(
        vec![
            start(0, json!({"type": "server_tool_use", "id": "s", "name": "search", "input": {}})),
            delta(0, json!({"type": "input_json_delta", "partial_json": "{\"q\":1}"})),
            stop(0),
            json!({"type": "something_new", "index": 0, "delta": "odd"}),
            start(1, json!({"type": "novelty"})),
            delta(1, json!({"type": "novelty_delta", "more": 1})),
            stop(1),
            start(2, json!({"type": "thinking", "thinking": "", "signature": "only"})),
            stop(2),
            start(3, json!({"type": "text", "text": "Hi."})),
            delta(3, json!({"type": "citations_delta", "citation": {}})),
        ],
        "end_turn",
    );
    assert_snapshot!(told, @r#"
    3 Text
    3 + Hi.
    3 end
    usage: 10 in (2 read, 3 written), 9 out (0 thought)
    0 back: {"type":"server_tool_use","id":"s","name":"search","input":{"q":1}}
    2 back: {"type":"thinking","thinking":"","signature":"only"}
    stop: EndTurn
    "#);
}

#[test]
fn careless_servers_are_understood() {
    let told = tell(
        vec![
            // Talks without beginning, then uses one index for everything.
            delta(0, json!({"type": "text_delta", "text": "Well. "})),
            delta(0, json!({"type": "text_delta", "text": "Yes."})),
            start(0, json!({"type": "tool_use", "id": "x", "name": "f", "input": {"whole": true}})),
            stop(0),
            start(0, json!({"type": "tool_use", "id": "x", "name": "f"})),
            delta(0, json!({"type": "input_json_delta", "partial_json": {"an": "object"}})),
            start(0, json!({"type": "tool_use", "name": "g"})),
            start(0, json!({"type": "tool_use", "id": "nameless"})),
            stop(9),
            delta(9, json!({"type": "input_json_delta", "partial_json": "lost"})),
        ],
        "end_turn",
    );
    assert_snapshot!(told, @r#"
    0 Text
    0 + Well. Yes.
    0 end
    1 call f (x)
    1 + {"whole":true}
    1 end
    2 call f (made up)
    2 + {"an":"object"}
    2 end
    3 call g (made up)
    3 end
    usage: 10 in (2 read, 3 written), 9 out (0 thought)
    stop: ToolCalls
    "#);
}

#[test]
fn a_stop_is_named_by_what_happened() {
    let reason = |word: &str| tell(vec![], word).lines().last().unwrap().to_owned();
    assert_eq!(reason("end_turn"), "stop: EndTurn");
    assert_eq!(reason("stop_sequence"), "stop: EndTurn");
    assert_eq!(reason("max_tokens"), "stop: MaxTokens");
    assert_eq!(reason("model_context_window_exceeded"), "stop: MaxTokens");
    assert_eq!(reason("refusal"), "stop: Refused");
    assert_eq!(reason("pause_turn"), "stop: Other(\"pause_turn\")");
}

#[test]
fn an_error_inside_a_stream_is_named() {
    let error = |kind: &str, message: &str| {
        let frame = json!({"type": "error", "error": {"type": kind, "message": message}});
        told(Wire::Anthropic, &stream(&[frame]))
    };
    assert_snapshot!(error("overloaded_error", "Overloaded"), @"error: `replay` can not answer now: Overloaded");
    assert_snapshot!(error("rate_limit_error", "slow down"), @"error: `replay` is rate limiting us: slow down");
    assert_snapshot!(error("authentication_error", "who?"), @"error: `replay` does not accept our credentials: who?");
    assert_snapshot!(error("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), @"error: the prompt is too long for `replay` (8 tokens): prompt is too long: 9 tokens > 8 maximum");
    assert_snapshot!(told(Wire::Anthropic, b"data: {\"type\":\"ping\"}\n\n"), @"error: the answer of `replay` broke off: the connection ended before the model stopped");
}

#[test]
fn absurd_usage_is_not_believed() {
    let frames = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": -5, "cache_read_input_tokens": "12"}}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1e30}}),
        json!({"type": "message_delta", "delta": {}, "usage": "none"}),
        json!({"type": "message_stop"}),
    ];
    assert_snapshot!(told(Wire::Anthropic, &stream(&frames)), @"
    usage: 12 in (12 read, 0 written), 0 out (0 thought)
    stop: EndTurn
    ");
}

#[test]
fn an_answer_in_one_piece() {
    let message = json!({
        "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "text", "text": "Reading."},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
        ],
        "usage": {"input_tokens": 4, "output_tokens": 3},
    });
    assert_snapshot!(told_whole(Wire::Anthropic, &message), @r#"
    0 Thinking
    0 + Hm.
    0 end
    1 Text
    1 + Reading.
    1 end
    2 call f (a)
    2 + {"x":1}
    2 end
    usage: 4 in (0 read, 0 written), 3 out (0 thought)
    0 back: {"type":"thinking","thinking":null,"signature":"s"}
    stop: ToolCalls
    "#);
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert_snapshot!(told_whole(Wire::Anthropic, &error), @"error: `replay` can not answer now: Overloaded");
    assert_snapshot!(told_whole(Wire::Anthropic, &json!({"hello": 1})), @"error: the answer of `replay` broke off: the answer has no content");
}
