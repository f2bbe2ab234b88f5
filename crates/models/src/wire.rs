//! The formats that providers speak. Vendors' shapes stay below this module.

pub(crate) mod openai_chat;

use serde::Deserialize;

use crate::{CallError, ModelEvent};

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
pub(crate) const ALL: &[Wire] = &[Wire::OpenaiChat];

impl Wire {
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
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
