use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Wire;
use crate::wire::tests::{stream, told, told_whole};

fn event(kind: &str, mut body: Value) -> Value {
    body["type"] = format!("response.{kind}").into();
    body
}

fn tell(mut frames: Vec<Value>, response: Value) -> String {
    frames.insert(0, event("created", json!({"response": {"status": "in_progress"}})));
    frames.push(event("completed", json!({"response": response})));
    told(Wire::OpenaiResponses, &stream(&frames))
}

fn done() -> Value {
    let usage = json!({"input_tokens": 9, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 2}});
    json!({"status": "completed", "usage": usage, "incomplete_details": null, "error": null})
}

#[test]
fn items_are_blocks_and_sealed_thoughts_go_back() {
    let thought = json!({"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "A"}],
        "encrypted_content": "sealed", "status": "completed"});
    let hidden = json!({"type": "reasoning", "id": "rs2", "summary": [], "encrypted_content": "sealed too"});
    let at =
        |index: u64, id: &str, delta: &str| json!({"output_index": index, "item_id": id, "delta": delta});
    let told = tell(
        vec![
            event(
                "output_item.added",
                json!({"output_index": 0, "item": {"type": "reasoning", "id": "rs", "summary": []}}),
            ),
            event(
                "reasoning_summary_text.delta",
                json!({"output_index": 0, "item_id": "rs", "summary_index": 0, "delta": "A"}),
            ),
            event(
                "reasoning_summary_text.delta",
                json!({"output_index": 0, "item_id": "rs", "summary_index": 1, "delta": "B"}),
            ),
            event("output_item.done", json!({"output_index": 0, "item": thought})),
            event(
                "output_item.added",
                json!({"output_index": 1, "item": {"type": "reasoning", "id": "rs2"}}),
            ),
            event("output_item.done", json!({"output_index": 1, "item": hidden})),
            event("output_item.added", json!({"output_index": 2, "item": {"type": "message", "id": "m"}})),
            event("output_text.delta", at(2, "m", "Both")),
            event(
                "output_item.done",
                json!({"output_index": 2, "item": {"type": "message", "id": "m", "phase": "commentary"}}),
            ),
            event(
                "output_item.added",
                json!({"output_index": 3, "item": {"type": "function_call", "id": "f1", "call_id": "a", "name": "f"}}),
            ),
            event(
                "output_item.added",
                json!({"output_index": 4, "item": {"type": "function_call", "id": "f2", "call_id": "b", "name": "g"}}),
            ),
            // The gateway that changes ids.
            event("function_call_arguments.delta", at(4, "other", "{\"y\":")),
            event("function_call_arguments.delta", at(3, "f1", "{}")),
            event("function_call_arguments.delta", at(4, "another", "2}")),
            event("function_call_arguments.done", json!({"output_index": 4, "arguments": "{\"y\":2}"})),
            event(
                "output_item.done",
                json!({"output_index": 4, "item": {"type": "function_call", "id": "f2", "arguments": "{\"y\":2}"}}),
            ),
        ],
        done(),
    );
    assert_snapshot!(told, @r#"
    0 Thinking
    0 + A

    B
    0 end
    2 Text
    2 + Both
    2 end
    3 call f (a)
    4 call g (b)
    4 + {"y":
    3 + {}
    4 + 2}
    4 end
    3 end
    usage: 9 in (4 read, 0 written), 5 out (2 thought)
    0 back: {"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"A"}],"encrypted_content":"sealed"}
    1 back: {"type":"reasoning","id":"rs2","summary":[],"encrypted_content":"sealed too"}
    2 back: {"type":"message","phase":"commentary"}
    stop: ToolCalls
    "#);
}

#[test]
fn what_was_not_told_piece_by_piece_is_told_at_the_end() {
    let output = json!([
        {"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Yes."}]},
        {"type": "function_call", "id": "c", "call_id": "a", "name": "f", "arguments": "{\"x\":1}"},
    ]);
    let mut whole = done();
    whole["output"] = output;
    let expected = told_whole(Wire::OpenaiResponses, &whole);
    assert_snapshot!(expected, @r#"
    0 Thinking
    0 + Hm.
    0 end
    1 Text
    1 + Yes.
    1 end
    2 call f (a)
    2 + {"x":1}
    2 end
    usage: 9 in (4 read, 0 written), 5 out (2 thought)
    stop: ToolCalls
    "#);
    assert_eq!(tell(vec![], whole.clone()), expected);
    // The same when some of it was told.
    let added = |place: usize| {
        event("output_item.added", json!({"output_index": place, "item": whole["output"][place]}))
    };
    let finished = |place: usize| {
        event("output_item.done", json!({"output_index": place, "item": whole["output"][place]}))
    };
    assert_eq!(tell(vec![added(0), finished(0), finished(1), added(2)], whole.clone()), expected);
}

#[test]
fn a_server_without_places_is_understood() {
    let told = tell(
        vec![
            event(
                "output_item.added",
                json!({"item": {"type": "function_call", "id": "f1", "name": "f", "call_id": "x"}}),
            ),
            event("function_call_arguments.delta", json!({"item_id": "f1", "delta": "{}"})),
            event(
                "output_item.added",
                json!({"item": {"type": "function_call", "id": "f2", "name": "f", "call_id": "x"}}),
            ),
            event("function_call_arguments.done", json!({"item_id": "f2", "arguments": "{\"a\":1}"})),
            event("output_item.added", json!({"item": {"type": "function_call", "id": "f3"}})),
            event("output_text.delta", json!({"item_id": "m", "delta": "Hi"})),
            event("something.new", json!({"delta": {"odd": 1}, "item_id": 5})),
        ],
        done(),
    );
    assert_snapshot!(told, @r#"
    0 call f (x)
    0 + {}
    1 call f (made up)
    1 + {"a":1}
    2 Text
    2 + Hi
    0 end
    1 end
    2 end
    usage: 9 in (4 read, 0 written), 5 out (2 thought)
    stop: ToolCalls
    "#);
}

#[test]
fn a_stop_is_named_by_what_happened() {
    let stop =
        |frames: Vec<Value>, response: Value| tell(frames, response).lines().last().unwrap().to_owned();
    let incomplete = |reason: &str| json!({"status": "incomplete", "incomplete_details": {"reason": reason}});
    assert_eq!(stop(vec![], done()), "stop: EndTurn");
    assert_eq!(stop(vec![], incomplete("max_output_tokens")), "stop: MaxTokens");
    assert_eq!(stop(vec![], incomplete("content_filter")), "stop: Refused");
    assert_eq!(stop(vec![], incomplete("tired")), "stop: Other(\"tired\")");
    let refusal = event("refusal.delta", json!({"item_id": "m", "delta": "No."}));
    assert_eq!(stop(vec![refusal], done()), "stop: Refused");
}

#[test]
fn an_error_inside_a_stream_is_named() {
    let error = |frame: Value| told(Wire::OpenaiResponses, &stream(&[frame]));
    let failed = |code: &str, message: &str| {
        event(
            "failed",
            json!({"response": {"status": "failed", "error": {"code": code, "message": message}}}),
        )
    };
    assert_snapshot!(error(failed("rate_limit_exceeded", "slow")), @"error: `replay` is rate limiting us: slow");
    assert_snapshot!(error(failed("context_length_exceeded", "Your input exceeds the context window")), @"error: the prompt is too long for `replay`: Your input exceeds the context window");
    assert_snapshot!(error(failed("insufficient_quota", "pay")), @"error: `replay` wants to be paid: pay");
    assert_snapshot!(error(failed("server_error", "oops")), @"error: `replay` can not answer now: oops");
    assert_snapshot!(error(json!({"type": "error", "code": "server_error", "message": "oops", "param": null})), @"error: `replay` can not answer now: oops");
    assert_snapshot!(error(json!({"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}})), @"error: `replay` says our request is wrong (status 200): bad");
    assert_snapshot!(told_whole(Wire::OpenaiResponses, &json!({"choices": []})), @"error: the answer of `replay` broke off: the answer has no output");
}
