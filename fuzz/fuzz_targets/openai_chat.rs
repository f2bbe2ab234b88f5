//! No bytes make the decoder panic, and what it accepts is well formed: blocks begin once, end once, and a stop is last.
#![no_main]

use std::collections::HashMap;

use libfuzzer_sys::fuzz_target;
use models::{ModelEvent, decode_openai_chat};

fuzz_target!(|input: &[u8]| {
    let Some((size, document)) = input.split_first() else { return };
    let Ok(events) = decode_openai_chat(document.chunks(usize::from(*size).max(1))) else { return };
    let mut open = HashMap::new();
    for (at, event) in events.iter().enumerate() {
        match event {
            ModelEvent::BlockStart { index, .. } => assert!(open.insert(*index, true).is_none()),
            ModelEvent::Delta { index, text } => {
                assert_eq!(open.get(index), Some(&true));
                assert!(!text.is_empty());
            }
            ModelEvent::BlockEnd { index } => assert_eq!(open.insert(*index, false), Some(true)),
            ModelEvent::Stop(_) => assert_eq!(at + 1, events.len()),
            ModelEvent::Usage(_) => assert_eq!(at + 2, events.len()),
            ModelEvent::Restart { .. } => unreachable!("the decoder does not retry"),
        }
    }
    assert!(open.values().all(|open| !open));
    assert!(matches!(events.last(), Some(ModelEvent::Stop(_))));
});
