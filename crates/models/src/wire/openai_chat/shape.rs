//! The shapes of answers, read as leniently as servers are careless.

use std::borrow::Cow;

use protocol::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::wire::loose::{Count, First, Loose, Object};

#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: First<Choice<'a>>,
    #[serde(default)]
    pub(super) usage: Object<UsageShape>,
    /// Groq's place for usage.
    #[serde(default)]
    pub(super) x_groq: Object<Groq>,
    pub(super) error: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Groq {
    #[serde(default)]
    pub(super) usage: Object<UsageShape>,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
    /// In a whole answer.
    #[serde(borrow)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Loose<'a>,
    /// Moonshot's place for usage.
    #[serde(default)]
    pub(super) usage: Object<UsageShape>,
}

#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) reasoning: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) refusal: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Deserialize)]
pub(super) struct CallDelta<'a> {
    #[serde(default)]
    pub(super) index: Count,
    #[serde(borrow, default)]
    pub(super) id: Loose<'a>,
    #[serde(borrow)]
    pub(super) function: Option<FunctionDelta<'a>>,
}

#[derive(Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    pub(super) name: Loose<'a>,
    #[serde(borrow, default)]
    pub(super) arguments: Loose<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct UsageShape {
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: Object<Details>,
    completion_tokens_details: Object<Details>,
    /// DeepSeek's and Moonshot's names for cached tokens.
    prompt_cache_hit_tokens: Count,
    cached_tokens: Count,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Details {
    cached_tokens: Count,
    cache_write_tokens: Count,
    reasoning_tokens: Count,
}

impl UsageShape {
    pub(super) fn usage(self) -> Usage {
        let prompt = self.prompt_tokens_details.0.unwrap_or_default();
        let completion = self.completion_tokens_details.0.unwrap_or_default();
        Usage {
            input: self.prompt_tokens.or_zero(),
            output: self.completion_tokens.or_zero(),
            cache_read: prompt
                .cached_tokens
                .or(self.prompt_cache_hit_tokens)
                .or(self.cached_tokens)
                .or_zero(),
            cache_write: prompt.cache_write_tokens.or_zero(),
            reasoning: completion.reasoning_tokens.or_zero(),
            cost_usd: None,
        }
    }
}

/// A part of a content that came as an array: Mistral's thoughts, and texts in pieces.
pub(super) fn part(value: &Value) -> Option<(bool, Cow<'_, str>)> {
    if let Some(text) = value.as_str().or_else(|| value["text"].as_str()) {
        return Some((false, Cow::Borrowed(text)));
    }
    match &value["thinking"] {
        Value::String(text) => Some((true, Cow::Borrowed(text))),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            Some((true, Cow::Owned(texts.collect())))
        }
        _ => None,
    }
}
