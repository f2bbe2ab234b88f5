//! The shapes of answers, read as leniently as servers are careless.

use std::borrow::Cow;
use std::fmt;

use protocol::Usage;
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    pub(super) usage: Option<UsageShape>,
    /// Groq's place for usage.
    pub(super) x_groq: Option<Groq>,
    pub(super) error: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Groq {
    pub(super) usage: Option<UsageShape>,
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
    pub(super) usage: Option<UsageShape>,
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
    pub(super) index: Option<i64>,
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

/// Counts are read as floats: some servers write `12.0`.
#[derive(Deserialize)]
pub(super) struct UsageShape {
    prompt_tokens: Option<f64>,
    completion_tokens: Option<f64>,
    prompt_tokens_details: Option<Details>,
    completion_tokens_details: Option<Details>,
    /// DeepSeek's and Moonshot's names for cached tokens.
    prompt_cache_hit_tokens: Option<f64>,
    cached_tokens: Option<f64>,
}

#[derive(Deserialize, Default)]
struct Details {
    cached_tokens: Option<f64>,
    cache_write_tokens: Option<f64>,
    reasoning_tokens: Option<f64>,
}

impl UsageShape {
    pub(super) fn usage(self) -> Usage {
        let count = |value: Option<f64>| value.unwrap_or_default() as u64;
        let prompt = self.prompt_tokens_details.unwrap_or_default();
        let completion = self.completion_tokens_details.unwrap_or_default();
        Usage {
            input: count(self.prompt_tokens),
            output: count(self.completion_tokens),
            cache_read: count(prompt.cached_tokens.or(self.prompt_cache_hit_tokens).or(self.cached_tokens)),
            cache_write: count(prompt.cache_write_tokens),
            reasoning: count(completion.reasoning_tokens),
            cost_usd: None,
        }
    }
}

/// A text that may be missing, null or something else, and is not copied unless it has escapes.
#[derive(Debug, Default)]
pub(super) enum Loose<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Json(Value),
}

impl<'a> Loose<'a> {
    /// The text, if there is some.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// Text as it is, anything else as JSON.
    pub(super) fn or_json(&self) -> Cow<'_, str> {
        match self {
            Self::Nothing => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Json(value) => Cow::Owned(value.to_string()),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Loose::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Loose::Nothing)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Loose::Json(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Loose::Json(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Loose::Json(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Loose::Json(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(Loose::Json)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Value::deserialize(de::value::MapAccessDeserializer::new(map)).map(Loose::Json)
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
