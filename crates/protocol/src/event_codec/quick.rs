//! The usual case of reading an event: a record that this version wrote itself.
//!
//! It is read straight into its types, without a tree of JSON values between, and written again. When that gives the
//! same bytes nothing in it was unknown, which is all that the thorough way would have found out.

use std::borrow::Cow;

use serde::Deserialize;

use crate::{Event, EventBody, Timestamp, TurnId};

#[derive(Deserialize)]
struct Envelope<'a> {
    v: u32,
    seq: u64,
    ts: Timestamp,
    turn: Option<TurnId>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

/// The event, or none when it has to be looked at more closely.
pub(super) fn decode(line: &[u8]) -> Option<Event> {
    let event = known(line)?;
    let mut again = Vec::with_capacity(line.len());
    event.write_json(&mut again);
    (again == line).then_some(event)
}

/// The event without what this version does not know, or none when its type or form is not known.
pub(super) fn known(line: &[u8]) -> Option<Event> {
    let Envelope { v, seq, ts, turn, kind } = serde_json::from_slice(line).ok()?;
    let body = EventBody::from_fields(&kind, line)?;
    Some(Event { v, seq, ts, turn, body, unknown: None })
}
