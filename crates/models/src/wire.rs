//! The formats that providers speak. Vendors' shapes stay below this module.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

mod draft;
mod ids;
mod loose;
mod quirks;
mod write;

use net::Url;
use net::header::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};

pub use quirks::{QuirkConfig, Quirks};

use crate::reasoning::{Effort, ReasoningKind};
use crate::sse::{SseDecoder, SseError};
use crate::{CallError, ModelEvent, ModelInfo, Request, Secret};

/// A provider's HTTP format, as `config.toml` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    OpenaiChat,
    OpenaiResponses,
    Anthropic,
    Gemini,
}

/// The formats that can be spoken today.
pub(crate) const ALL: &[(Wire, &dyn Format)] = &[
    (Wire::OpenaiChat, &openai_chat::OpenaiChat),
    (Wire::OpenaiResponses, &openai_responses::OpenaiResponses),
    (Wire::Anthropic, &anthropic::Anthropic),
    (Wire::Gemini, &gemini::Gemini),
];

impl Wire {
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// How it is spoken, if it can be today.
    pub(crate) fn format(self) -> Option<&'static dyn Format> {
        ALL.iter().find(|(wire, _)| *wire == self).map(|(_, format)| *format)
    }

    /// Who made a provider's own data: another provider of the same format must not be sent it.
    pub(crate) fn origin(self, provider: &str) -> String {
        format!("{}:{provider}", self.name())
    }
}

/// A format: how a request is written and an answer is read.
pub(crate) trait Format: Send + Sync {
    /// Where a request for this model goes.
    fn address(&self, base: &Url, model: &str, quirks: &Quirks) -> Url;

    /// Adds the headers that the format wants, the key among them. `None` if the key can not be sent.
    fn authorize(&self, key: Option<&Secret>, quirks: &Quirks, headers: &mut HeaderMap) -> Option<()>;

    /// The JSON of a request, put together from pieces that were serialised before: what never changes first, so that
    /// each request of a session is the last one with something added.
    fn body(&self, ask: &Ask<'_>) -> Vec<u8>;

    fn decoder(&self, provider: &str, origin: &str) -> Box<dyn Decode>;
}

/// What a request is written from.
pub(crate) struct Ask<'a> {
    /// The name that the provider knows.
    pub(crate) model: &'a str,
    pub(crate) origin: &'a str,
    pub(crate) request: &'a Request,
    pub(crate) quirks: &'a Quirks,
    pub(crate) info: &'a ModelInfo,
}

impl Ask<'_> {
    /// How much to think, if someone said so and the model can be told, and in which way.
    fn effort(&self, usual: ReasoningKind) -> Option<(Effort, ReasoningKind)> {
        let kind = self.info.reasoning.kind.unwrap_or(usual);
        let can = self.info.capabilities.thinking && kind != ReasoningKind::None;
        self.request.reasoning.filter(|_| can).map(|effort| (effort, kind))
    }
}

/// Marks data with who made it.
fn mark(origin: &str, data: Value) -> Value {
    json!({"from": origin, "data": data})
}

/// Data that this origin made.
fn own<'a>(value: &'a Value, origin: &str) -> Option<&'a Value> {
    (value.get("from")?.as_str()? == origin).then(|| value.get("data")).flatten()
}

/// An address below another, with the version segment unless the base already ends in it. A query stays where it is:
/// some gateways want their version there.
fn below(base: &Url, version: Option<&str>, path: &[&str]) -> Url {
    let mut url = base.clone();
    // However many slashes a person wrote at the end, they mean the same address.
    url.set_path(base.path().trim_end_matches('/'));
    let has_version = version.is_some_and(|version| {
        let last = base.path().trim_end_matches('/').rsplit('/').next();
        last.is_some_and(|last| last == version || last == "v1")
    });
    // Addresses of http always have a path.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty();
        segments.extend(version.filter(|_| !has_version));
        segments.extend(path);
    }
    url
}

/// Decodes a recorded stream that came in these reads: for replays and for the fuzzer, which have no socket.
#[doc(hidden)]
pub fn decode_recorded<'a>(
    wire: Wire,
    reads: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<ModelEvent>, CallError> {
    let format = wire.format().unwrap_or(&openai_chat::OpenaiChat);
    let mut sse = SseDecoder::default();
    let mut decoder = format.decoder("replay", &wire.origin("replay"));
    let mut events = Events::default();
    let mut list = Vec::new();
    let plain = |error| match error {
        SseError::Receiver(error) => error,
        SseError::FrameTooLarge { limit } => CallError::TooLarge { provider: "replay".to_owned(), limit },
    };
    for bytes in reads {
        sse.push(bytes, |frame| decoder.frame(&frame.event, &frame.data, &mut events)).map_err(plain)?;
        list.extend(events.take());
    }
    sse.finish(|frame| decoder.frame(&frame.event, &frame.data, &mut events)).map_err(plain)?;
    decoder.end(&mut events)?;
    list.extend(events.take());
    Ok(list)
}

/// Decodes a recorded answer in one piece.
#[doc(hidden)]
pub fn decode_whole(wire: Wire, body: &str) -> Result<Vec<ModelEvent>, CallError> {
    let format = wire.format().unwrap_or(&openai_chat::OpenaiChat);
    let mut decoder = format.decoder("replay", &wire.origin("replay"));
    let mut events = Events::default();
    decoder.whole(body, &mut events)?;
    decoder.end(&mut events)?;
    Ok(events.take())
}

/// Turns the frames of one answer into events.
pub(crate) trait Decode: Send {
    /// The data of one frame.
    fn frame(&mut self, event: &str, data: &str, events: &mut Events) -> Result<(), CallError>;

    /// A whole answer in place of a stream.
    fn whole(&mut self, body: &str, events: &mut Events) -> Result<(), CallError>;

    /// What of the end of an answer has been seen.
    fn progress(&self) -> Progress;

    /// Nothing more comes: hands out what was kept back, or says that the answer is not complete.
    fn end(&mut self, events: &mut Events) -> Result<(), CallError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    Running,
    /// The model has stopped; figures may follow, but need not.
    Stopped,
    /// The provider said that this is all.
    Done,
}

/// Events on their way out, with deltas of one block joined while they wait.
#[derive(Debug, Default)]
pub(crate) struct Events {
    list: Vec<ModelEvent>,
    /// Bytes of text in all deltas so far: what the cap on an answer counts.
    pub(crate) text: usize,
}

impl Events {
    pub(crate) fn push(&mut self, event: ModelEvent) {
        self.list.push(event);
    }

    pub(crate) fn delta(&mut self, index: usize, more: &str) {
        self.text += more.len();
        if let Some(ModelEvent::Delta { index: last, text }) = self.list.last_mut()
            && *last == index
        {
            text.push_str(more);
            return;
        }
        // Room for the deltas that usually come in the same read.
        let mut text = String::with_capacity(more.len().max(64));
        text.push_str(more);
        self.list.push(ModelEvent::Delta { index, text });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn take(&mut self) -> Vec<ModelEvent> {
        std::mem::take(&mut self.list)
    }
}

#[cfg(test)]
mod tests;
