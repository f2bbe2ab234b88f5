//! The four wire formats, as a server speaks them.

mod anthropic;
mod gemini;
mod openai_chat;
mod openai_responses;

use bytes::Bytes;
use serde_json::Value;

use super::conversation::Conversation;
use super::reply::{Part, Reply, Tokens};

/// A provider's HTTP format, recognised by the path of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireFormat {
    OpenAiChat,
    OpenAiResponses,
    Anthropic,
    Gemini,
}

/// A reply cut into the deltas it is streamed in, with the names that the server gave.
pub(super) struct Answer<'a> {
    pub(super) blocks: Vec<Block>,
    pub(super) model: &'a str,
    /// Counts answers, so that ids differ and yet are the same in every run.
    pub(super) number: u64,
    pub(super) usage: Tokens,
    pub(super) calls_tools: bool,
    pub(super) stop: Option<&'a str>,
}

pub(super) enum Block {
    Think(Pieces),
    Text(Pieces),
    Call { id: String, name: String, arguments: Value, pieces: Pieces },
}

/// Deltas, each with how often it comes in a row.
pub(super) struct Pieces(pub(super) Vec<(String, usize)>);

impl Pieces {
    pub(super) fn whole(&self) -> String {
        self.0.iter().map(|(text, times)| text.repeat(*times)).collect()
    }

    /// A frame a delta; equal deltas in a row share the bytes of one frame.
    fn frames(&self, frames: &mut Vec<Bytes>, mut frame: impl FnMut(&str) -> Bytes) {
        for (text, times) in &self.0 {
            let bytes = frame(text);
            frames.extend(std::iter::repeat_n(bytes, *times));
        }
    }
}

impl<'a> Answer<'a> {
    pub(super) fn new(reply: &'a Reply, model: &'a str, number: u64, next_call: &mut u64) -> Self {
        let cut = |text: &str| Pieces(reply.split.cut(text).into_iter().map(|t| (t.to_owned(), 1)).collect());
        let blocks = reply.parts.iter().filter_map(|part| {
            Some(match part {
                Part::Think(text) => Block::Think(cut(text)),
                Part::Text(text) => Block::Text(cut(text)),
                Part::Repeat { times, text } => Block::Text(Pieces(vec![(text.clone(), *times)])),
                Part::Call { name, arguments, id } => {
                    *next_call += 1;
                    let id = id.clone().unwrap_or_else(|| format!("call_{next_call}"));
                    let pieces = cut(&arguments_text(arguments));
                    Block::Call { id, name: name.clone(), arguments: arguments.clone(), pieces }
                }
                Part::Raw { .. } => return None,
            })
        });
        Self {
            blocks: blocks.collect(),
            model,
            number,
            usage: reply.usage,
            calls_tools: reply.calls_tools(),
            stop: reply.stop.as_deref(),
        }
    }

    fn stop_or<'b>(&'b self, end: &'b str, calls: &'b str) -> &'b str {
        self.stop.unwrap_or(if self.calls_tools { calls } else { end })
    }
}

impl WireFormat {
    /// Which format a POST to this path speaks.
    pub(super) fn of(path: &str) -> Option<Self> {
        let path = path.split('?').next().unwrap_or(path);
        if path.ends_with("/chat/completions") {
            Some(Self::OpenAiChat)
        } else if path.ends_with("/responses") {
            Some(Self::OpenAiResponses)
        } else if path.ends_with("/messages") {
            Some(Self::Anthropic)
        } else if path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent") {
            Some(Self::Gemini)
        } else {
            None
        }
    }

    /// Whether the request wants a stream. Gemini says it in the path, the others in the body.
    pub(super) fn streams(self, path: &str, body: &Value) -> bool {
        match self {
            Self::Gemini => path.contains(":streamGenerateContent"),
            _ => body["stream"].as_bool().unwrap_or(false),
        }
    }

    pub(super) fn conversation(self, path: &str, body: &Value) -> Conversation {
        match self {
            Self::OpenAiChat => openai_chat::conversation(body),
            Self::OpenAiResponses => openai_responses::conversation(body),
            Self::Anthropic => anthropic::conversation(body),
            Self::Gemini => gemini::conversation(path, body),
        }
    }

    pub(super) fn stream(self, answer: &Answer<'_>, body: &Value) -> Vec<Bytes> {
        match self {
            Self::OpenAiChat => openai_chat::stream(answer, body["stream_options"]["include_usage"] == true),
            Self::OpenAiResponses => openai_responses::stream(answer),
            Self::Anthropic => anthropic::stream(answer),
            Self::Gemini => gemini::stream(answer),
        }
    }

    pub(super) fn whole(self, answer: &Answer<'_>) -> Value {
        match self {
            Self::OpenAiChat => openai_chat::whole(answer),
            Self::OpenAiResponses => openai_responses::whole(answer),
            Self::Anthropic => anthropic::whole(answer),
            Self::Gemini => gemini::whole(answer),
        }
    }

    pub(super) fn error(self, code: u16, message: &str) -> Value {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => openai_chat::error(code, message),
            Self::Anthropic => anthropic::error(code, message),
            Self::Gemini => gemini::error(code, message),
        }
    }

    pub(super) fn error_frame(self, message: &str) -> Bytes {
        match self {
            Self::OpenAiResponses => named(
                "error",
                &serde_json::json!({"type": "error", "code": "server_error", "message": message, "param": null}),
            ),
            Self::Anthropic => named("error", &self.error(529, message)),
            Self::OpenAiChat | Self::Gemini => data(&self.error(500, message)),
        }
    }
}

/// The text of a call's arguments.
fn arguments_text(arguments: &Value) -> String {
    arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned)
}

/// A frame that only has data.
fn data(value: &Value) -> Bytes {
    format!("data: {value}\n\n").into()
}

/// A frame with an event name.
fn named(event: &str, value: &Value) -> Bytes {
    format!("event: {event}\ndata: {value}\n\n").into()
}

/// The text of a message's content, whichever of the usual shapes it has.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str().or_else(|| part.as_str()));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
