//! The interface to every model.

use futures::stream::BoxStream;
use protocol::{ModelRef, Usage};
use serde::Deserialize;

use crate::reasoning::Reasoning;
use crate::tokens::TokenRatio;
use crate::{CallError, ModelEvent, Request};

/// The events of one answer. Dropping it aborts the request at once: that is how a call is cancelled.
pub type EventStream = BoxStream<'static, Result<ModelEvent, CallError>>;

/// Something that answers requests: a provider's model, or a wrapper around one.
pub trait Model: Send + Sync {
    fn id(&self) -> &ModelRef;

    fn info(&self) -> &ModelInfo;

    /// Asks. Nothing is sent before the stream is polled. It ends after [`ModelEvent::Stop`] or the first error.
    /// Read it to its end, past the stop: the connection is kept for the next request only then.
    fn stream(&self, request: Request) -> EventStream;

    /// About how many tokens the prompt of a request has, for this model.
    fn estimate(&self, request: &Request) -> u64 {
        TokenRatio::default().request(request)
    }
}

/// What is known about a model. What is not known is `None`: a model that nobody described still works.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelInfo {
    /// Tokens that prompt and answer may have together.
    pub context: Option<u32>,
    pub max_output: Option<u32>,
    pub capabilities: Capabilities,
    pub reasoning: Reasoning,
    pub prices: Option<Prices>,
    /// How strong it is among its kind, and how slow and dear with it.
    pub tier: Option<Tier>,
    /// When it came out: `2025-09`, or a whole date.
    pub released: Option<String>,
}

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Quick and cheap, for easy things.
    Low,
    Medium,
    /// The best there is, for hard things.
    High,
}

/// What a model can take and do. Unknown models are taken to be able: the provider says so if they are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    pub tools: bool,
    pub images: bool,
    pub thinking: bool,
    /// Whether it can be held to a schema.
    pub structured: bool,
    /// Whether its provider remembers the beginning of a prompt, and asks less for it.
    pub cache: bool,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self { tools: true, images: true, thinking: true, structured: true, cache: true }
    }
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    pub input: f64,
    pub output: f64,
    /// The price of input that the provider had in its cache; that of other input without it.
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
    /// What long prompts cost, where that differs.
    pub above: Option<PriceStep>,
}

/// Prices from a length of the prompt on. They hold for the whole call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceStep {
    /// More tokens in than this.
    pub tokens: u64,
    pub input: f64,
    pub output: f64,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

impl Prices {
    pub fn cost(&self, usage: &Usage) -> f64 {
        if let Some(step) = self.above.filter(|step| usage.input > step.tokens) {
            let PriceStep { input, output, cache_read, cache_write, .. } = step;
            return Prices { input, output, cache_read, cache_write, above: None }.cost(usage);
        }
        let fresh = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
        let read = usage.cache_read as f64 * self.cache_read.unwrap_or(self.input);
        let written = usage.cache_write as f64 * self.cache_write.unwrap_or(self.input);
        (fresh as f64 * self.input + read + written + usage.output as f64 * self.output) / 1e6
    }
}
