//! How many tokens something has, when no provider has counted it yet.
//!
//! An estimate from the characters, times a ratio that each model teaches by the counts it reports. Those counts are
//! the truth: [`after`] begins at the last one and estimates only what came since.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use protocol::Usage;

use crate::{Block, Message, Request};

/// What a picture counts: providers cut them to about this.
const IMAGE: f64 = 1_500.0;

/// What a message costs beside its words.
const MESSAGE: f64 = 4.0;

/// How much a new count changes the ratio.
const LEARNING: f64 = 0.3;

/// A ratio beyond this is a mistake of whoever counted, not a tokenizer.
const RANGE: (f64, f64) = (0.3, 3.0);

/// A count of less says more about what we did not see than about the words.
const ENOUGH: f64 = 200.0;

/// How a model's tokenizer compares to the estimate.
#[derive(Debug)]
pub struct TokenRatio(AtomicU64);

impl Default for TokenRatio {
    fn default() -> Self {
        Self(AtomicU64::new(1.0_f64.to_bits()))
    }
}

impl TokenRatio {
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }

    /// Takes in what a provider counted for a prompt that was estimated, without a ratio, as `estimate`.
    pub fn learn(&self, estimate: f64, counted: u64) {
        if estimate < ENOUGH || counted == 0 {
            return;
        }
        // Who counts next to nothing counts something else: what was not in a cache, or what a stand-in made up. To believe
        // it would overfill the window; to believe who counts too much does no harm but to cut back early.
        let seen = (counted as f64 / estimate).min(RANGE.1);
        if seen < RANGE.0 {
            return;
        }
        let old = self.get();
        // Two calls at once may each miss what the other learned. There will be more.
        self.0.store((old + LEARNING * (seen - old)).to_bits(), Ordering::Relaxed);
    }

    pub fn text(&self, text: &str) -> u64 {
        self.scaled(text_weight(text))
    }

    pub fn message(&self, message: &Message) -> u64 {
        self.scaled(message_weight(message))
    }

    pub fn request(&self, request: &Request) -> u64 {
        self.scaled(request_weight(request))
    }

    /// The prompt of the next request, when the last one was counted and these messages came after its answer.
    pub fn after(&self, last: &Usage, since: &[Arc<Message>]) -> u64 {
        let new: f64 = since.iter().map(|message| message_weight(message)).sum();
        last.total().saturating_add(self.scaled(new))
    }

    fn scaled(&self, weight: f64) -> u64 {
        (weight * self.get()).ceil() as u64
    }
}

/// Tokens of a text by what kind of characters it has: four letters to a token, less for other scripts.
pub(crate) fn text_weight(text: &str) -> f64 {
    let mut weight = 0.0;
    let mut bytes = text.as_bytes();
    // Most text is ASCII, which needs no decoding.
    while let Some(end) = bytes.iter().position(|byte| !byte.is_ascii()) {
        weight += ascii_weight(&bytes[..end]);
        bytes = &bytes[end..];
        // One character: its first byte says how long it is.
        let (size, cost) = match bytes[0] {
            0xF0.. => (4, 1.5),
            // Chinese, Japanese, Korean and everything near them.
            0xE2..=0xEF => (3, 0.9),
            0xE0.. => (3, 0.7),
            _ => (2, 0.45),
        };
        weight += cost;
        bytes = bytes.get(size..).unwrap_or_default();
    }
    weight + ascii_weight(bytes)
}

fn ascii_weight(bytes: &[u8]) -> f64 {
    // Signs are tokens of their own more often than letters are.
    let signs = bytes.iter().filter(|byte| byte.is_ascii_punctuation() || byte.is_ascii_digit()).count();
    (bytes.len() - signs) as f64 * 0.22 + signs as f64 * 0.45
}

pub(crate) fn message_weight(message: &Message) -> f64 {
    message.weight(|message| {
        let blocks = message.blocks().iter().map(|block| match block {
            Block::Text(text) | Block::Thinking { text, .. } => text_weight(text),
            Block::Image(_) => IMAGE,
            Block::ToolCall(call) => {
                MESSAGE + text_weight(&call.name) + text_weight(&call.arguments.to_string())
            }
            Block::ToolResult(result) => {
                MESSAGE + text_weight(&result.text) + IMAGE * result.images.len() as f64
            }
            // Encrypted, and counted by nobody but the provider.
            Block::Replay(_) => 0.0,
        });
        MESSAGE + blocks.sum::<f64>()
    })
}

/// The estimate of a whole prompt, before any ratio.
pub(crate) fn request_weight(request: &Request) -> f64 {
    let tools = request.tools.weight(|specs| {
        let each = specs.iter().map(|tool| {
            MESSAGE
                + text_weight(&tool.name)
                + text_weight(&tool.description)
                + text_weight(&tool.schema.to_string())
        });
        each.sum()
    });
    let messages: f64 = request.messages.iter().map(|message| message_weight(message)).sum();
    text_weight(&request.system) + tools + messages
}

#[cfg(test)]
mod tests;
