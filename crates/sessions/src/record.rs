//! One record: a line of JSON that carries a checksum of itself.
//!
//! `{"v":1,"seq":7,…,"crc":"1a2b3c4d"}` and a line break. The checksum is the CRC-32 of every byte before `,"crc":"`,
//! so a record can be checked without parsing it. The log, the index, snapshots and metadata all use this form.

use std::borrow::Cow;
use std::fmt;

use protocol::{Event, TurnId};
use serde::Deserialize;

/// A record larger than this is refused; large things belong in blobs.
pub const MAX_RECORD: usize = 16 << 20;

const LABEL: &[u8; 8] = b",\"crc\":\"";
/// The label, eight digits, and `"}`.
const SEAL: usize = 18;

/// Something in a log that is not a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Where in the file it begins.
    pub offset: u64,
    /// How long it is, its line break included.
    pub bytes: u64,
    pub why: DamageKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DamageKind {
    /// The line does not end in a checksum.
    Unsealed,
    /// The checksum does not fit the line: bytes changed after they were written.
    Checksum,
    /// The checksum fits, but the line is not an event.
    NotAnEvent(String),
    /// Longer than [`MAX_RECORD`].
    TooLong,
}

impl fmt::Display for DamageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsealed => f.write_str("no checksum at the end of the line"),
            Self::Checksum => f.write_str("the checksum does not fit"),
            Self::NotAnEvent(why) => write!(f, "not an event: {why}"),
            Self::TooLong => write!(f, "longer than {} MiB", MAX_RECORD >> 20),
        }
    }
}

/// Turns the JSON object that `buffer` holds from `start` on into a record, line break included.
pub(crate) fn seal(buffer: &mut Vec<u8>, start: usize) {
    debug_assert_eq!(buffer.last(), Some(&b'}'));
    buffer.pop();
    let crc = crc32fast::hash(&buffer[start..]);
    buffer.extend_from_slice(LABEL);
    buffer.extend_from_slice(&hex(crc));
    buffer.extend_from_slice(b"\"}\n");
}

/// The JSON before the checksum, without its final brace, if the checksum of this line (without line break) fits.
pub(crate) fn unseal(line: &[u8]) -> Result<&[u8], DamageKind> {
    let at = line.len().checked_sub(SEAL).filter(|at| *at > 0).ok_or(DamageKind::Unsealed)?;
    let (body, seal) = line.split_at(at);
    if &seal[..8] != LABEL || &seal[16..] != b"\"}" {
        return Err(DamageKind::Unsealed);
    }
    // Compared as text: an `A` that was an `a` is a flipped bit too.
    if seal[8..16] != hex(crc32fast::hash(body)) { Err(DamageKind::Checksum) } else { Ok(body) }
}

fn hex(crc: u32) -> [u8; 8] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    std::array::from_fn(|i| DIGITS[(crc >> (28 - 4 * i)) as usize & 15])
}

/// Reads a line (without line break) as an event. `scratch` is reused between calls.
pub(crate) fn decode(line: &[u8], scratch: &mut Vec<u8>) -> Result<Event, DamageKind> {
    Event::from_json(json(line, scratch)?).map_err(|error| DamageKind::NotAnEvent(error.to_string()))
}

/// The same for an event that is only folded into a view, which is faster.
pub(crate) fn decode_to_fold(line: &[u8], scratch: &mut Vec<u8>) -> Result<Event, DamageKind> {
    Event::from_json_to_fold(json(line, scratch)?).map_err(|error| DamageKind::NotAnEvent(error.to_string()))
}

/// The event's own JSON, without the checksum.
fn json<'a>(line: &[u8], scratch: &'a mut Vec<u8>) -> Result<&'a [u8], DamageKind> {
    let body = unseal(line)?;
    scratch.clear();
    scratch.extend_from_slice(body);
    scratch.push(b'}');
    Ok(scratch)
}

/// What an index needs to know of a record, found without parsing all of it.
#[derive(Debug, PartialEq)]
pub(crate) struct Header<'a> {
    pub(crate) seq: u64,
    pub(crate) kind: Cow<'a, str>,
    pub(crate) turn: Option<Cow<'a, str>>,
}

impl Header<'_> {
    pub(crate) fn turn_id(&self) -> Option<TurnId> {
        self.turn.as_deref().map(TurnId::new)
    }
}

/// The header of a line whose checksum fits.
pub(crate) fn header(body: &[u8]) -> Option<Header<'_>> {
    quick_header(body).or_else(|| slow_header(body))
}

/// Our own writer puts `v`, `seq`, `ts`, `turn` and `type` first, in this order.
fn quick_header(body: &[u8]) -> Option<Header<'_>> {
    let rest = body.strip_prefix(b"{\"v\":")?;
    let (_, rest) = number(rest)?;
    let (seq, rest) = number(rest.strip_prefix(b",\"seq\":")?)?;
    let (_, rest) = text(rest.strip_prefix(b",\"ts\":\"")?)?;
    let rest = rest.strip_prefix(b",")?;
    let (turn, rest) = match rest.strip_prefix(b"\"turn\":\"") {
        Some(rest) => {
            let (turn, rest) = text(rest)?;
            (Some(Cow::Borrowed(turn)), rest.strip_prefix(b",")?)
        }
        None => (None, rest),
    };
    let (kind, _) = text(rest.strip_prefix(b"\"type\":\"")?)?;
    Some(Header { seq, kind: Cow::Borrowed(kind), turn })
}

fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let number = std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()?;
    Some((number, &bytes[digits..]))
}

/// A string up to its closing quote; none when it has escapes or is too long to be a name.
fn text(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let end = bytes.iter().take(200).position(|b| matches!(b, b'"' | b'\\'))?;
    if bytes[end] != b'"' {
        return None;
    }
    Some((std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 1..]))
}

fn slow_header(body: &[u8]) -> Option<Header<'static>> {
    #[derive(Deserialize)]
    struct Fields {
        seq: u64,
        #[serde(rename = "type")]
        kind: String,
        turn: Option<String>,
    }
    let mut whole = body.to_vec();
    whole.push(b'}');
    let fields: Fields = serde_json::from_slice(&whole).ok()?;
    Some(Header { seq: fields.seq, kind: fields.kind.into(), turn: fields.turn.map(Cow::Owned) })
}

#[cfg(test)]
mod tests;
