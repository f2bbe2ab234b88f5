//! Recorded bytes: however they are cut, they say the same; whatever is done to them, nothing breaks but the answer.

use std::collections::{HashMap, HashSet};

use models::{BlockKind, Wire, decode_recorded, decode_whole};
use proptest::prelude::*;
use serde_json::Value;

/// Real ones of a llama.cpp server, and for each wire one of the scripted server with everything in it.
const STREAMS: [(Wire, &[u8]); 7] = [
    (Wire::OpenaiChat, include_bytes!("../../fixtures/smollm2-chat-completions.sse")),
    (Wire::OpenaiResponses, include_bytes!("../../fixtures/smollm2-responses.sse")),
    (Wire::Anthropic, include_bytes!("../../fixtures/smollm2-messages.sse")),
    (Wire::OpenaiChat, include_bytes!("../../fixtures/scripted-openai-chat.sse")),
    (Wire::OpenaiResponses, include_bytes!("../../fixtures/scripted-openai-responses.sse")),
    (Wire::Anthropic, include_bytes!("../../fixtures/scripted-anthropic.sse")),
    (Wire::Gemini, include_bytes!("../../fixtures/scripted-gemini.sse")),
];

use crate::*;

fn added_up(events: &[ModelEvent]) -> (String, Vec<Block>) {
    let mut answer = Answer::default();
    events.iter().for_each(|event| answer.apply(event));
    (format!("{:?} {:?}", answer.usage, answer.stop), answer.into_blocks())
}

#[test]
fn real_streams_are_understood() {
    let told: Vec<_> = STREAMS[..3]
        .iter()
        .map(|(wire, bytes)| {
            let (end, blocks) = added_up(&decode_recorded(*wire, [*bytes]).unwrap());
            let [Block::Text(text)] = &blocks[..] else { panic!("{blocks:?}") };
            format!("{}: {end}\n  {}", wire.name(), &text[..30])
        })
        .collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn scripted_streams_say_the_same() {
    let mut said = STREAMS[3..].iter().map(|(wire, bytes)| {
        let (_, blocks) = added_up(&decode_recorded(*wire, [*bytes]).unwrap());
        (wire.name(), crate::conformance::plain(&blocks))
    });
    let (_, first) = said.next().unwrap();
    assert_eq!(first.len(), 4);
    for (name, other) in said {
        assert_eq!(other, first, "{name}");
    }
}

/// What holds for any events that a decoder hands out.
fn check(events: &[ModelEvent]) -> Result<(), TestCaseError> {
    let mut open = HashMap::new();
    let mut ids = HashSet::new();
    for event in events {
        match event {
            ModelEvent::BlockStart { index, kind } => {
                prop_assert!(open.insert(*index, true).is_none());
                if let BlockKind::ToolCall { id, name } = kind {
                    prop_assert!(!name.is_empty() && !id.is_empty() && ids.insert(id.clone()));
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
    added_up(events);
    Ok(())
}

/// Something that is not what was meant to be there.
fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(Value::from(-1)),
        Just(Value::from(1e300)),
        Just(Value::from(u64::MAX)),
        Just(Value::from("")),
        Just(Value::from("text")),
        Just(serde_json::json!([[1]])),
        Just(serde_json::json!({"type": "tool_use", "name": "f"})),
        Just(serde_json::json!({"": {}})),
    ]
}

/// Puts something odd at the place with this number, counted over everything in a value.
fn replace(value: &mut Value, at: &mut usize, odd: &Value) {
    if *at == 0 {
        *value = odd.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, at, odd)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, at, odd)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stream_cut_anywhere_is_the_same(
        which in 0..STREAMS.len(), cuts in proptest::collection::vec(0.0..1.0_f64, 0..20),
    ) {
        let (wire, bytes) = STREAMS[which];
        let mut cuts: Vec<_> = cuts.iter().map(|cut| (cut * bytes.len() as f64) as usize).collect();
        cuts.sort_unstable();
        let mut reads = Vec::new();
        let mut start = 0;
        for cut in cuts {
            reads.push(&bytes[start..cut]);
            start = cut;
        }
        reads.push(&bytes[start..]);
        let whole = added_up(&decode_recorded(wire, [bytes]).unwrap());
        prop_assert_eq!(added_up(&decode_recorded(wire, reads).unwrap()), whole);
    }

    #[test]
    fn a_stream_that_ends_too_soon_is_never_taken_for_another(which in 0..STREAMS.len(), end in 0.0..1.0_f64) {
        let (wire, bytes) = STREAMS[which];
        let part = &bytes[..(end * bytes.len() as f64) as usize];
        if let Ok(events) = decode_recorded(wire, [part]) {
            // The stop was there, and only figures were not.
            prop_assert_eq!(added_up(&events).1, added_up(&decode_recorded(wire, [bytes]).unwrap()).1);
        }
    }

    #[test]
    fn frames_lost_doubled_swapped_and_changed_break_nothing(
        which in 0..STREAMS.len(),
        changes in proptest::collection::vec((0..4_usize, 0.0..1.0_f64, 0.0..1.0_f64, odd()), 1..6),
    ) {
        let (wire, bytes) = STREAMS[which];
        let text = String::from_utf8_lossy(bytes);
        let mut frames: Vec<Value> =
            text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect();
        for (change, place, inside, odd) in &changes {
            let at = (place * frames.len() as f64) as usize;
            match change {
                _ if frames.is_empty() => {}
                0 => drop(frames.remove(at)),
                1 => frames.insert(at, frames[at].clone()),
                2 => { let other = (inside * frames.len() as f64) as usize; frames.swap(at, other); }
                _ => replace(&mut frames[at], &mut ((inside * 30.0) as usize), odd),
            }
        }
        let text: String = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
        if let Ok(events) = decode_recorded(wire, [text.as_bytes()]) {
            check(&events)?;
        }
        for frame in frames.iter().rev().take(2) {
            for body in [frame, &frame["response"]] {
                if let Ok(events) = decode_whole(wire, &body.to_string()) {
                    check(&events)?;
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_an_answer_or_an_error(
        which in 0..STREAMS.len(), noise in proptest::collection::vec(any::<u8>(), 0..60), at in 0.0..1.0_f64,
    ) {
        let (wire, bytes) = STREAMS[which];
        let mut bytes = bytes.to_vec();
        let at = (at * bytes.len() as f64) as usize;
        let end = (at + noise.len()).min(bytes.len());
        bytes.splice(at..end, noise.iter().copied());
        if let Ok(events) = decode_recorded(wire, [&bytes[..]]) {
            check(&events)?;
        }
        prop_assert!(decode_whole(wire, &String::from_utf8_lossy(&noise)).is_err());
        if let Ok(events) = decode_recorded(wire, [&noise[..]]) {
            check(&events)?;
        }
    }
}
