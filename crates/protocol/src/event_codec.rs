//! Events to and from JSON, keeping what this version does not understand.
//!
//! An event is read twice over: once as the types we know, once as plain JSON. What the types did not take up is kept
//! as a sparse "unknown" tree and merged back in when the event is written, so a newer Covey's fields pass through an
//! older one unharmed, at any depth, without every type carrying a catch-all.

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{Event, EventBody, OtherEvent, Timestamp, TurnId};

mod quick;

/// The `v` of the events that this version writes.
pub const EVENT_VERSION: u32 = 1;

/// A line that is not an event.
#[derive(Debug, thiserror::Error)]
#[error("not an event: {0}")]
pub struct DecodeError(#[from] serde_json::Error);

impl Event {
    /// Appends the event's JSON, without a line break.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        // Writing to memory can only fail for map keys that are not strings, and an event has none.
        let result = serde_json::to_writer(out, self);
        debug_assert!(result.is_ok(), "{result:?}");
    }

    pub fn to_json(&self) -> String {
        let mut out = Vec::with_capacity(256);
        self.write_json(&mut out);
        String::from_utf8(out).unwrap_or_default()
    }

    pub fn from_json(line: &[u8]) -> Result<Self, DecodeError> {
        match quick::decode(line) {
            Some(event) => Ok(event),
            None => Ok(serde_json::from_slice(line)?),
        }
    }

    /// Reads an event to fold it into a view, which looks only at what is known; fields that are not are dropped, so
    /// it must not be passed on or written again.
    pub fn from_json_to_fold(line: &[u8]) -> Result<Self, DecodeError> {
        match quick::known(line) {
            Some(event) => Ok(event),
            None => Ok(serde_json::from_slice(line)?),
        }
    }
}

/// The envelope as it is written; borrows, so that writing copies nothing.
#[derive(Serialize)]
struct Record<'a, B: Serialize> {
    v: u32,
    seq: u64,
    ts: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<&'a TurnId>,
    #[serde(flatten)]
    body: &'a B,
}

/// An unknown event writes its type first, like the known ones.
struct OtherBody<'a>(&'a OtherEvent);

impl Serialize for OtherBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &self.0.kind)?;
        for (key, value) in &self.0.fields {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.unknown, &self.body) {
            (None, EventBody::Other(other)) => self.record(&OtherBody(other)).serialize(serializer),
            (None, body) => self.record(body).serialize(serializer),
            (Some(unknown), _) => {
                let known = Event { unknown: None, ..self.clone() };
                let mut value = serde_json::to_value(known).map_err(serde::ser::Error::custom)?;
                merge(&mut value, unknown);
                value.serialize(serializer)
            }
        }
    }
}

impl Event {
    fn record<'a, B: Serialize>(&'a self, body: &'a B) -> Record<'a, B> {
        Record { v: self.v, seq: self.seq, ts: self.ts, turn: self.turn.as_ref(), body }
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::<String, Value>::deserialize(deserializer)?;
        // The checksum belongs to the line in the file, not to the event.
        fields.shift_remove("crc");
        let original = Value::Object(fields.clone());

        let v = take(&mut fields, "v")?.unwrap_or(EVENT_VERSION);
        let seq = take(&mut fields, "seq")?.ok_or_else(|| D::Error::missing_field("seq"))?;
        let ts = take(&mut fields, "ts")?.ok_or_else(|| D::Error::missing_field("ts"))?;
        let turn = take(&mut fields, "turn")?;
        let kind =
            fields.get("type").and_then(Value::as_str).ok_or_else(|| D::Error::missing_field("type"))?;

        // A known type whose fields do not fit was written by a version that changed it: carried as well.
        let known = EventBody::TYPES
            .contains(&kind)
            .then(|| EventBody::deserialize(Value::Object(fields.clone())).ok())
            .flatten();
        let body = match known {
            Some(body) => body,
            None => {
                let kind = kind.to_owned();
                fields.shift_remove("type");
                EventBody::Other(OtherEvent { kind, fields })
            }
        };

        let mut event = Event { v, seq, ts, turn, body, unknown: None };
        let understood = serde_json::to_value(&event).map_err(D::Error::custom)?;
        event.unknown = difference(original, &understood).map(Box::new);
        Ok(event)
    }
}

fn take<T: serde::de::DeserializeOwned, E: serde::de::Error>(
    fields: &mut Map<String, Value>,
    key: &'static str,
) -> Result<Option<T>, E> {
    let Some(value) = fields.shift_remove(key) else { return Ok(None) };
    serde_json::from_value(value).map(Some).map_err(|e| E::custom(format!("`{key}`: {e}")))
}

/// What `original` has and `understood` has not, by position; none when nothing is missing.
///
/// Only absent keys count: a value that we wrote differently (a moment in another zone) was understood.
fn difference(original: Value, understood: &Value) -> Option<Value> {
    match (original, understood) {
        (Value::Object(original), Value::Object(understood)) => {
            let missing: Map<String, Value> = original
                .into_iter()
                .filter_map(|(key, value)| match understood.get(&key) {
                    None => Some((key, value)),
                    Some(known) => difference(value, known).map(|rest| (key, rest)),
                })
                .collect();
            (!missing.is_empty()).then_some(Value::Object(missing))
        }
        (Value::Array(original), Value::Array(understood)) if original.len() == understood.len() => {
            let rest: Vec<Option<Value>> =
                original.into_iter().zip(understood).map(|(a, b)| difference(a, b)).collect();
            rest.iter()
                .any(Option::is_some)
                .then(|| Value::Array(rest.into_iter().map(Option::unwrap_or_default).collect()))
        }
        _ => None,
    }
}

/// Puts a [`difference`] back where it came from. Null in an array stands for "nothing missing here".
fn merge(value: &mut Value, unknown: &Value) {
    match (value, unknown) {
        (Value::Object(value), Value::Object(unknown)) => {
            for (key, rest) in unknown {
                match value.get_mut(key) {
                    Some(known) => merge(known, rest),
                    None => {
                        value.insert(key.clone(), rest.clone());
                    }
                }
            }
        }
        (Value::Array(value), Value::Array(unknown)) => {
            for (value, rest) in value.iter_mut().zip(unknown) {
                merge(value, rest);
            }
        }
        _ => {}
    }
}
