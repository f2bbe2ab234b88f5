//! What the scripted model answers, independent of the wire it is asked on.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

/// One answer: what it says, how it is put on the wire and what goes wrong with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    pub parts: Vec<Part>,
    pub usage: Tokens,
    /// The wire's own word for why the model stopped, when it is not the usual one (`length`, `max_tokens`, …).
    pub stop: Option<String>,
    pub fault: Option<Fault>,
    pub delivery: Delivery,
    pub split: Split,
    /// Waited before the first byte of the answer.
    pub wait: Duration,
    /// Waited before each frame.
    pub pace: Duration,
}

/// A block of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Think(String),
    Text(String),
    /// The same delta many times, made once: long streams for benches cost the server next to nothing.
    Repeat {
        times: usize,
        text: String,
    },
    Call {
        name: String,
        /// A text is sent as it is, where the wire can: arguments that are not JSON.
        arguments: Value,
        /// `None` lets the server number it: `call_1`, `call_2`, …
        id: Option<String>,
    },
    /// Bytes sent as they are, with this content type, in place of everything else: recorded streams, odd servers.
    Raw {
        content_type: String,
        body: Bytes,
    },
}

/// Tokens that the answer says it used. `input` is the whole prompt, cached parts included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    pub reasoning: u64,
}

impl Default for Tokens {
    fn default() -> Self {
        Self { input: 10, output: 5, cache_read: 0, cache_write: 0, reasoning: 0 }
    }
}

/// Into which deltas a text is cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Split {
    #[default]
    Words,
    /// So many characters each.
    Chars(usize),
    /// About so many deltas in all.
    Deltas(usize),
}

impl Split {
    pub(super) fn cut(self, text: &str) -> Vec<&str> {
        let size = match self {
            Self::Words => return text.split_inclusive(char::is_whitespace).collect(),
            Self::Chars(size) => size.max(1),
            Self::Deltas(count) => text.chars().count().div_ceil(count.max(1)).max(1),
        };
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
            let (piece, after) = rest.split_at(end);
            pieces.push(piece);
            rest = after;
        }
        pieces
    }
}

/// How the frames of a stream become writes on the socket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    /// One write and one HTTP chunk a frame, as providers do.
    #[default]
    Frames,
    /// As many frames as fit into 32 KB a write: the least that a client's read can cost.
    Bulk,
    /// One byte a write.
    Trickle,
    /// Each character of several bytes is cut apart between two writes.
    SplitUtf8,
    /// One JSON document, although a stream was asked for.
    Whole,
}

/// What goes wrong. Counts are in frames of the stream that were sent whole.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// An answer with this status and the wire's error body.
    Status { code: u16, retry_after: Option<String>, message: Option<String> },
    /// Status 200 and a page for people.
    Html,
    /// The socket is closed without an answer.
    Close,
    /// The request is read and never answered.
    Never,
    /// The socket is closed in mid-stream.
    Cut { after: usize },
    /// Nothing more is sent, and the socket stays open.
    Stall { after: usize },
    /// A frame of broken JSON among the others.
    Malformed { after: usize },
    /// The wire's error object inside a stream that began with status 200.
    ErrorFrame { after: usize, message: String },
    /// A text delta of this many bytes in one frame.
    Giant { bytes: usize },
    /// Text without end, or this many bytes of it.
    Flood { bytes: Option<u64> },
}

impl Reply {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn text(text: impl Into<String>) -> Self {
        Self::new().then_text(text)
    }

    /// A stream of `times` equal deltas, written in bulk.
    pub fn repeat(times: usize, text: impl Into<String>) -> Self {
        Self { delivery: Delivery::Bulk, ..Self::new() }.part(Part::Repeat { times, text: text.into() })
    }

    pub fn raw(content_type: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self::new().part(Part::Raw { content_type: content_type.into(), body: body.into() })
    }

    /// An error answer: `Reply::status(429).retry_after("0")`.
    pub fn status(code: u16) -> Self {
        Self::new().fault(Fault::Status { code, retry_after: None, message: None })
    }

    pub fn retry_after(mut self, value: impl Into<String>) -> Self {
        if let Some(Fault::Status { retry_after, .. }) = &mut self.fault {
            *retry_after = Some(value.into());
        }
        self
    }

    /// The text inside the error body of [`Reply::status`].
    pub fn message(mut self, value: impl Into<String>) -> Self {
        if let Some(Fault::Status { message, .. }) = &mut self.fault {
            *message = Some(value.into());
        }
        self
    }

    pub fn part(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    pub fn think(self, text: impl Into<String>) -> Self {
        self.part(Part::Think(text.into()))
    }

    pub fn then_text(self, text: impl Into<String>) -> Self {
        self.part(Part::Text(text.into()))
    }

    pub fn call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.part(Part::Call { name: name.into(), arguments, id: None })
    }

    pub fn usage(mut self, usage: Tokens) -> Self {
        self.usage = usage;
        self
    }

    pub fn stop(mut self, word: impl Into<String>) -> Self {
        self.stop = Some(word.into());
        self
    }

    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    pub fn split(mut self, split: Split) -> Self {
        self.split = split;
        self
    }

    pub fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Waited before the answer begins.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    pub(super) fn calls_tools(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call { .. }))
    }
}
