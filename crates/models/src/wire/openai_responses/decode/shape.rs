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
    pub(super) output_index: Count,
    #[serde(default)]
    pub(super) summary_index: Count,
    #[serde(borrow, default)]
    pub(super) item_id: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) delta: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) response: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) id: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) call_id: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) name: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) encrypted_content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) phase: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) summary: Loose<'a>,
}

impl Loose<'_> {
    /// The parts of a content.
    pub(super) fn parts(&self) -> &[Value] {
        match self {
            Loose::Json(Value::Array(parts)) => parts,
            _ => &[],
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow, default)]
    pub(super) status: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) output: Option<Vec<&'a RawValue>>,
    #[serde(default)]
    pub(super) usage: Object<Usage>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) incomplete_details: Object<Incomplete<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Incomplete<'a> {
    #[serde(borrow, default)]
    pub(super) reason: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    input_tokens: Count,
    output_tokens: Count,
    input_tokens_details: Object<Details>,
    output_tokens_details: Object<Details>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Details {
    cached_tokens: Count,
    cache_write_tokens: Count,
    reasoning_tokens: Count,
}

impl Usage {
    pub(super) fn normal(&self) -> protocol::Usage {
        let input = self.input_tokens_details.0.unwrap_or_default();
        let output = self.output_tokens_details.0.unwrap_or_default();
        protocol::Usage {
            input: self.input_tokens.or_zero(),
            output: self.output_tokens.or_zero(),
            cache_read: input.cached_tokens.or_zero(),
            cache_write: input.cache_write_tokens.or_zero(),
            reasoning: output.reasoning_tokens.or_zero(),
            cost_usd: None,
        }
    }
}
