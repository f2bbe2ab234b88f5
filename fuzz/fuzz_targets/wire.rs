//! What holds for every wire: no bytes make a decoder panic, and what it accepts is well formed. Blocks begin once, end
//! once, a stop is last, and what goes back has a place.

use std::collections::HashMap;

use models::{Answer, ModelEvent, Wire, decode_recorded, decode_whole};

pub fn check(wire: Wire, input: &[u8]) {
    // The first byte says how long the reads are.
    let Some((size, document)) = input.split_first() else { return };
    if let Ok(text) = std::str::from_utf8(document)
        && let Ok(events) = decode_whole(wire, text)
    {
        well_formed(&events);
    }
    let Ok(events) = decode_recorded(wire, document.chunks(usize::from(*size).max(1))) else { return };
    well_formed(&events);
}

fn well_formed(events: &[ModelEvent]) {
    let mut open = HashMap::new();
    let mut answer = Answer::default();
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
            _ => unreachable!("decoders neither retry nor switch"),
        }
        answer.apply(event);
    }
    assert!(open.values().all(|open| !open));
    assert!(matches!(events.last(), Some(ModelEvent::Stop(_))));
    assert!(answer.into_blocks().len() >= open.len());
}
