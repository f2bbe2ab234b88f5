//! What writing a request has in common on all wires.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};

use crate::{Role, ToolResult};

/// The JSON of a request as it grows.
pub(super) struct Body(Vec<u8>);

impl Body {
    /// Begins with the model and the wish for a stream.
    pub(super) fn new(model: &str, size: usize) -> Self {
        let mut body = Self::open(size);
        body.raw("\"model\":");
        body.value(model);
        body.raw(",\"stream\":true");
        body
    }

    pub(super) fn open(size: usize) -> Self {
        let mut bytes = Vec::with_capacity(size + size / 64 + 1024);
        bytes.push(b'{');
        Self(bytes)
    }

    pub(super) fn raw(&mut self, json: &str) {
        self.0.extend_from_slice(json.as_bytes());
    }

    pub(super) fn value(&mut self, value: &(impl Serialize + ?Sized)) {
        // Texts, numbers and JSON always serialise, and a Vec always takes them.
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    /// One more field.
    pub(super) fn field(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        self.value(name);
        self.0.push(b':');
        self.value(value);
    }

    /// Finished pieces with commas between them, after whatever is already in the list.
    pub(super) fn list<'a>(&mut self, pieces: impl IntoIterator<Item = &'a str>) {
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            if self.0.last() != Some(&b'[') {
                self.0.push(b',');
            }
            self.raw(piece);
        }
    }

    /// A piece whose last object gets one more field.
    pub(super) fn marked(&mut self, piece: &str, field: &str) {
        if self.0.last() != Some(&b'[') {
            self.0.push(b',');
        }
        self.raw(piece.strip_suffix('}').unwrap_or(piece));
        self.raw(field);
        self.raw("}");
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// The bytes of all pieces.
pub(super) fn size(pieces: &[(Role, Cow<'_, str>)]) -> usize {
    pieces.iter().map(|(_, piece)| piece.len() + 32).sum()
}

pub(super) fn joined(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(",")
}

/// Pieces gathered into turns of one speaker, for wires that want those to alternate. A turn is written as its pieces in
/// one list, so a piece that is added to the last turn changes nothing before it.
pub(super) fn turns<'p, 'a>(pieces: &'p [(Role, Cow<'a, str>)]) -> Vec<(Speaker, Vec<&'p str>)> {
    let mut turns: Vec<(Speaker, Vec<&str>)> = Vec::new();
    for (role, piece) in pieces.iter().filter(|(_, piece)| !piece.is_empty()) {
        let speaker = if *role == Role::Assistant { Speaker::Model } else { Speaker::User };
        match turns.last_mut() {
            Some((last, list)) if *last == speaker => list.push(piece),
            _ => turns.push((speaker, vec![piece])),
        }
    }
    turns
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The person, and the results of tools.
    User,
    Model,
}

/// Arguments to send back: an object, whatever the model wrote, because servers parse them.
pub(super) fn arguments(arguments: &Value) -> Cow<'_, Value> {
    match arguments {
        Value::Object(_) => Cow::Borrowed(arguments),
        other => Cow::Owned(json!({"invalid": other})),
    }
}

/// The text of a result for wires that have no place for errors and pictures in it.
pub(super) fn result_text(result: &ToolResult) -> Cow<'_, str> {
    match (result.is_error, result.text.as_str()) {
        (true, text) => Cow::Owned(format!("error: {text}")),
        (false, "") if !result.images.is_empty() => Cow::Borrowed("see the image below"),
        (false, text) => Cow::Borrowed(text),
    }
}

/// The beginning of a text, for an error.
pub(super) fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
