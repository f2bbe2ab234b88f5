use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{Answer, Wire, decode_recorded};

const RECORDED: &[u8] = include_bytes!("../../../../fixtures/smollm2-chat-completions.sse");

fn decode_bytes<'a>(reads: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<ModelEvent>, CallError> {
    decode_recorded(Wire::OpenaiChat, reads)
}

fn frames(deltas: &[Value], stop: &str) -> String {
    let mut text = String::new();
    for delta in deltas {
        text.push_str(&format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]})));
    }
    text.push_str(&format!("data: {}\n\n", json!({"choices": [{"delta": {}, "finish_reason": stop}]})));
    text.push_str("data: [DONE]\n\n");
    text
}

/// One event a line, ids that we made up blotted out.
fn told(bytes: &[u8]) -> String {
    let events = match decode_bytes([bytes]) {
        Ok(events) => events,
        Err(error) => return format!("error: {error}"),
    };
    let lines = events.into_iter().map(|event| match event {
        ModelEvent::BlockStart { index, kind: BlockKind::ToolCall { id, name } } => {
            let id = if id.len() == 21 { "made up".to_owned() } else { id };
            format!("{index} call {name} ({id})")
        }
        ModelEvent::BlockStart { index, kind } => format!("{index} {kind:?}"),
        ModelEvent::Delta { index, text } => format!("{index} + {text}"),
        ModelEvent::BlockEnd { index } => format!("{index} end"),
        ModelEvent::Stop(ending) => format!("Stop({:?})", ending.reason),
        other => format!("{other:?}"),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn calls(deltas: &[Value]) -> String {
    let deltas: Vec<_> = deltas.iter().map(|calls| json!({"tool_calls": calls})).collect();
    told(frames(&deltas, "tool_calls").as_bytes())
}

#[test]
fn a_recorded_stream_is_one_text_however_it_is_cut() {
    let whole = decode_bytes([RECORDED]).unwrap();
    let [ModelEvent::BlockStart { .. }, ModelEvent::Delta { text, .. }, ModelEvent::BlockEnd { .. }, stop] =
        &whole[..]
    else {
        panic!("{whole:?}")
    };
    assert!(text.starts_with("1. Red: This"), "{text}");
    assert_eq!(*stop, ModelEvent::Stop(StopReason::MaxTokens.into()));
    let mut bytewise = Answer::default();
    for event in decode_bytes(RECORDED.chunks(1)).unwrap() {
        bytewise.apply(&event);
    }
    assert_eq!(bytewise.text(), *text);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_recorded_stream_cut_anywhere_is_the_same(mut cuts in proptest::collection::vec(0..RECORDED.len(), 0..20)) {
        cuts.sort_unstable();
        let mut reads = Vec::new();
        let mut start = 0;
        for cut in cuts {
            reads.push(&RECORDED[start..cut]);
            start = cut;
        }
        reads.push(&RECORDED[start..]);
        let add_up = |events: Vec<ModelEvent>| {
            let mut answer = Answer::default();
            events.iter().for_each(|event| answer.apply(event));
            (answer.stop.clone(), answer.into_blocks())
        };
        prop_assert_eq!(add_up(decode_bytes(reads).unwrap()), add_up(decode_bytes([RECORDED]).unwrap()));
    }

    #[test]
    fn a_stream_that_ends_too_soon_is_never_taken_for_a_whole_one(end in 0..RECORDED.len()) {
        let stopped = RECORDED[..end].windows(24).any(|window| window == b"\"finish_reason\":\"length\"");
        if !stopped {
            prop_assert!(decode_bytes([&RECORDED[..end]]).is_err());
        }
    }
}

/// Deltas that servers send, in an order that none should.
fn delta() -> impl Strategy<Value = Value> {
    let call = (0..3_i64, 0..4_usize, 0..4_usize, 0..4_usize).prop_map(|(index, id, name, arguments)| {
        let id = [json!(null), json!(""), json!("x"), json!("y")][id].clone();
        let name = [json!(null), json!(""), json!("f"), json!("g")][name].clone();
        let arguments = [json!(null), json!("{}"), json!("{\"a\":"), json!({"a": 1})][arguments].clone();
        let index = if index == 2 { Value::Null } else { json!(index) };
        json!({"delta": {"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]}})
    });
    prop_oneof![
        4 => call,
        2 => Just(json!({"delta": {"content": "text"}})),
        1 => Just(json!({"delta": {"reasoning": "thought"}})),
        1 => Just(json!({"delta": {"content": null, "tool_calls": [{}]}})),
        1 => Just(json!({"delta": {}, "finish_reason": "stop"})),
        1 => Just(json!({"delta": {"content": "last"}, "finish_reason": "length"})),
        1 => Just(json!({})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_blocks_begin_once_end_once_and_the_stop_is_last(choices in proptest::collection::vec(delta(), 0..20)) {
        let frames = choices.iter().map(|choice| format!("data: {}\n\n", json!({"choices": [choice]})));
        let text = frames.collect::<String>() + "data: [DONE]\n\n";
        let events = decode_bytes([text.as_bytes()]).unwrap();
        let mut open = std::collections::HashMap::new();
        let mut ids = std::collections::HashSet::new();
        for event in &events {
            match event {
                ModelEvent::BlockStart { index, kind } => {
                    prop_assert!(open.insert(*index, true).is_none());
                    if let BlockKind::ToolCall { id, name } = kind {
                        prop_assert!(ids.insert(id.clone()), "{} twice", id);
                        prop_assert!(!name.is_empty());
                    }
                }
                ModelEvent::Delta { index, text } => {
                    prop_assert_eq!(open.get(index), Some(&true));
                    prop_assert!(!text.is_empty());
                }
                ModelEvent::BlockEnd { index } => prop_assert_eq!(open.insert(*index, false), Some(true)),
                _ => {}
            }
        }
        prop_assert!(open.values().all(|open| !open));
        let stops = events.iter().filter(|event| matches!(event, ModelEvent::Stop(_))).count();
        prop_assert!(stops == 1 && matches!(events.last(), Some(ModelEvent::Stop(_))));
    }
}

#[test]
fn text_thought_and_calls_are_blocks_of_their_own() {
    let text = frames(
        &[
            json!({"role": "assistant", "content": ""}),
            json!({"reasoning_content": "Hm", "reasoning": "Hm"}),
            json!({"reasoning": ", yes"}),
            json!({"content": "I "}),
            json!({"content": "read."}),
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "read", "arguments": "{\"p\""}}]}),
            json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "list", "arguments": "{}"}}]}),
            json!({"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}),
        ],
        "tool_calls",
    );
    assert_snapshot!(told(text.as_bytes()), @r#"
    0 Thinking
    0 + Hm, yes
    0 end
    1 Text
    1 + I read.
    1 end
    2 call read (a)
    2 + {"p"
    3 call list (b)
    3 + {}
    2 + :1}
    2 end
    3 end
    Stop(ToolCalls)
    "#);
}

#[test]
fn calls_without_index_or_id_are_told_apart() {
    let call = |name: &str, arguments: &str| json!({"function": {"name": name, "arguments": arguments}});
    assert_snapshot!(calls(&[json!([call("a", "{\"x\":"), ]), json!([{"function": {"arguments": "1}"}}]), json!([call("a", "{}")]), json!([call("b", "")])]), @r#"
    0 call a (made up)
    0 + {"x":1}
    1 call a (made up)
    1 + {}
    2 call b (made up)
    0 end
    1 end
    2 end
    Stop(ToolCalls)
    "#);
}

#[test]
fn ids_that_are_repeated_used_twice_or_changed_do_no_harm() {
    let repeated = json!([{"index": 0, "id": "x", "function": {"name": "a", "arguments": "{\"x\":"}}]);
    let more = json!([{"index": 0, "id": "x", "function": {"name": "a", "arguments": "1}"}}]);
    assert_snapshot!(calls(&[repeated, more]), @r#"
    0 call a (x)
    0 + {"x":1}
    0 end
    Stop(ToolCalls)
    "#);
    let twice = json!([
        {"index": 0, "id": "x", "function": {"name": "a", "arguments": "{}"}},
        {"index": 1, "id": "x", "function": {"name": "b", "arguments": "{}"}},
    ]);
    assert_snapshot!(calls(&[twice]), @"
    0 call a (x)
    0 + {}
    1 call b (made up)
    1 + {}
    0 end
    1 end
    Stop(ToolCalls)
    ");
    // Every call whole and with index 0, as one gateway does.
    let zero =
        |id: &str| json!([{"index": 0, "id": id, "function": {"name": "a", "arguments": "{\"x\":1}"}}]);
    assert_snapshot!(calls(&[zero("x"), zero("y")]), @r#"
    0 call a (x)
    0 + {"x":1}
    1 call a (y)
    1 + {"x":1}
    0 end
    1 end
    Stop(ToolCalls)
    "#);
    // A new id with every delta, as one server does.
    let first = json!([{"index": 0, "id": "x", "function": {"name": "a", "arguments": "{\"x\""}}]);
    let second = json!([{"index": 0, "id": "y", "function": {"name": null, "arguments": ":1}"}}]);
    assert_snapshot!(calls(&[first, second]), @r#"
    0 call a (x)
    0 + {"x":1}
    0 end
    Stop(ToolCalls)
    "#);
}

#[test]
fn arguments_may_be_an_object_and_names_may_come_late() {
    let object = json!([{"index": 0, "id": "x", "function": {"name": "a", "arguments": {"x": [1, "ü"]}}}]);
    assert_snapshot!(calls(&[object]), @r#"
    0 call a (x)
    0 + {"x":[1,"ü"]}
    0 end
    Stop(ToolCalls)
    "#);
    let late = [
        json!([{"index": 0, "id": "x", "function": {"arguments": "{"}}]),
        json!([{"index": 0, "function": {"name": "a", "arguments": "}"}}]),
    ];
    assert_snapshot!(calls(&late), @"
    0 call a (x)
    0 + {}
    0 end
    Stop(ToolCalls)
    ");
}

#[test]
fn a_stop_is_named_by_what_happened() {
    let stop = |delta: Value, word: &str| {
        let events = decode_bytes([frames(&[delta], word).as_bytes()]).unwrap();
        let Some(ModelEvent::Stop(ending)) = events.last() else { panic!("{events:?}") };
        ending.reason.clone()
    };
    let call = json!({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": ""}}]});
    assert_eq!(stop(json!({"content": "a"}), "stop"), StopReason::EndTurn);
    assert_eq!(stop(call, "stop"), StopReason::ToolCalls);
    assert_eq!(stop(json!({}), "length"), StopReason::MaxTokens);
    assert_eq!(stop(json!({}), "content_filter"), StopReason::Refused);
    assert_eq!(stop(json!({"refusal": "No."}), "stop"), StopReason::Refused);
    assert_eq!(stop(json!({}), "tired"), StopReason::Other("tired".to_owned()));
}

#[test]
fn usage_is_read_wherever_it_is_put() {
    let usage = |chunk: Value| {
        let text = format!("data: {chunk}\n\ndata: [DONE]");
        let events = decode_bytes([text.as_bytes()]).unwrap();
        let usage = events
            .iter()
            .find_map(|event| if let ModelEvent::Usage(usage) = event { Some(*usage) } else { None });
        let usage = usage.unwrap();
        [usage.input, usage.output, usage.cache_read, usage.reasoning]
    };
    let openai = json!({"prompt_tokens": 9, "completion_tokens": 5.0, "total_tokens": 14,
        "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2}});
    assert_eq!(usage(json!({"choices": [], "usage": openai})), [9, 5, 4, 2]);
    assert_eq!(usage(json!({"choices": [], "x_groq": {"usage": openai}})), [9, 5, 4, 2]);
    assert_eq!(usage(json!({"choices": [{"delta": {}, "usage": openai}]})), [9, 5, 4, 2]);
    let deepseek = json!({"prompt_tokens": 9, "completion_tokens": 5, "prompt_cache_hit_tokens": 3, "completion_tokens_details": null});
    assert_eq!(usage(json!({"usage": deepseek})), [9, 5, 3, 0]);
    // Nonsense is not believed, and breaks nothing.
    let absurd = json!({"prompt_tokens": -3, "completion_tokens": 1e300, "prompt_tokens_details": "none",
        "completion_tokens_details": {"reasoning_tokens": "7"}});
    assert_eq!(usage(json!({"usage": absurd, "x_groq": 4})), [0, 0, 0, 7]);
}

#[test]
fn contents_in_parts_are_understood() {
    let parts = json!({"content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Yes."},
    ]});
    assert_snapshot!(told(frames(&[parts], "stop").as_bytes()), @"
    0 Thinking
    0 + Hm.
    0 end
    1 Text
    1 + Yes.
    1 end
    Stop(EndTurn)
    ");
}

#[test]
fn ends_that_are_no_ends_are_errors() {
    assert_snapshot!(told(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"), @"error: the answer of `replay` broke off: the connection ended before the model stopped");
    assert_snapshot!(told(b"data: {\"choices\":[{\"delta\":{\"content\":\"bro\n\n"), @r#"error: the answer of `replay` broke off: a frame is not what it should be (EOF while parsing a string at line 1 column 36): {"choices":[{"delta":{"content":"bro"#);
    assert_snapshot!(told(b"data: {\"error\":{\"message\":\"the\\nserver fell over\",\"code\":500}}\n\n"), @"error: `replay` can not answer now: the server fell over");
    assert_snapshot!(told(b""), @"error: the answer of `replay` broke off: the connection ended before the model stopped");
    // A stop without [DONE], and [DONE] without a stop, are fine.
    assert_snapshot!(told(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}"), @"
    0 Text
    0 + a
    0 end
    Stop(EndTurn)
    ");
    assert_snapshot!(told(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n"), @"
    0 Text
    0 + a
    0 end
    Stop(EndTurn)
    ");
}
