//! The shapes of answers.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::wire::loose::{Count, Loose, Object};

#[derive(Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Loose<'a>,
    #[serde(default)]
    pub(super) index: Count,
    #[serde(borrow, default)]
    pub(super) delta: Object<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) usage: Object<Usage>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) text: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) thinking: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) signature: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) partial_json: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Loose<'a>,
}

/// A message, whole or as it begins.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(default)]
    pub(super) content: Option<Vec<Value>>,
    #[serde(borrow, default)]
    pub(super) stop_reason: Loose<'a>,
    #[serde(default)]
    pub(super) usage: Object<Usage>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

/// Counts come at the beginning and, grown or completed, at the end.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    input_tokens: Count,
    output_tokens: Count,
    cache_creation_input_tokens: Count,
    cache_read_input_tokens: Count,
    output_tokens_details: Object<Details>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Details {
    thinking_tokens: Count,
    reasoning_tokens: Count,
}

impl Usage {
    pub(super) fn update(&mut self, new: &Self) {
        self.input_tokens = new.input_tokens.or(self.input_tokens);
        self.output_tokens = new.output_tokens.or(self.output_tokens);
        self.cache_creation_input_tokens =
            new.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = new.cache_read_input_tokens.or(self.cache_read_input_tokens);
        if new.output_tokens_details.0.is_some() {
            self.output_tokens_details = new.output_tokens_details;
        }
    }

    /// This wire counts cached tokens apart from the others; we do not.
    pub(super) fn normal(&self) -> protocol::Usage {
        let (read, written) =
            (self.cache_read_input_tokens.or_zero(), self.cache_creation_input_tokens.or_zero());
        let details = self.output_tokens_details.0.unwrap_or_default();
        protocol::Usage {
            input: self.input_tokens.or_zero() + read + written,
            output: self.output_tokens.or_zero(),
            cache_read: read,
            cache_write: written,
            reasoning: details.thinking_tokens.or(details.reasoning_tokens).or_zero(),
            cost_usd: None,
        }
    }
}
