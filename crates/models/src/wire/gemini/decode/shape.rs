//! The shapes of answers.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::wire::loose::{Count, First, Loose, Object};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame<'a> {
    #[serde(borrow, default)]
    pub(super) candidates: First<Candidate<'a>>,
    #[serde(default, rename = "usageMetadata")]
    pub(super) usage: Object<Usage>,
    #[serde(borrow, default)]
    pub(super) prompt_feedback: Object<Feedback<'a>>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Feedback<'a> {
    #[serde(borrow, default)]
    pub(super) block_reason: Loose<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    #[serde(borrow, default)]
    pub(super) content: Object<Content<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) finish_message: Loose<'a>,
}

#[derive(Deserialize)]
pub(super) struct Content<'a> {
    #[serde(borrow, default)]
    pub(super) parts: Option<Vec<Part<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part<'a> {
    #[serde(borrow, default)]
    pub(super) text: Loose<'a>,
    #[serde(default, deserialize_with = "truth")]
    pub(super) thought: bool,
    #[serde(borrow, default)]
    pub(super) thought_signature: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) function_call: Object<Call<'a>>,
}

fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Value::deserialize(deserializer).map(|value| value == true)
}

#[derive(Deserialize)]
pub(super) struct Call<'a> {
    #[serde(borrow, default)]
    pub(super) id: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) name: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) args: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Usage {
    prompt_token_count: Count,
    tool_use_prompt_token_count: Count,
    candidates_token_count: Count,
    thoughts_token_count: Count,
    cached_content_token_count: Count,
}

impl Usage {
    /// This wire counts thoughts apart from the answer; we do not.
    pub(super) fn normal(&self) -> protocol::Usage {
        let thoughts = self.thoughts_token_count.or_zero();
        protocol::Usage {
            input: self.prompt_token_count.or_zero() + self.tool_use_prompt_token_count.or_zero(),
            output: self.candidates_token_count.or_zero() + thoughts,
            cache_read: self.cached_content_token_count.or_zero(),
            cache_write: 0,
            reasoning: thoughts,
            cost_usd: None,
        }
    }
}
