//! Providers as data: what `config.toml` says about one, and what we know without it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::call::Timeouts;
use crate::reasoning::{Reasoning, ReasoningKind};
use crate::wire::QuirkConfig;
use crate::{Capabilities, ModelInfo, PriceStep, Prices, Secret, Tier, Wire};

/// `[providers.NAME]` of `config.toml`, and equally a file in `providers/`. For a known provider, what is set here
/// goes before what is known.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProviderConfig {
    /// The format that it speaks: `openai-chat`, `openai-responses`, `anthropic` or `gemini`.
    pub wire: Option<Wire>,
    /// Where its API begins, such as `http://127.0.0.1:8080/v1`.
    pub base_url: Option<String>,
    /// The environment variable that holds its key.
    pub api_key_env: Option<String>,
    /// The key itself, for files that nobody else reads. Goes before `api_key_env`.
    pub api_key: Option<Secret>,
    /// Headers to send with every request. Their values are treated as secrets.
    pub headers: BTreeMap<String, Secret>,
    /// The model that the provider's bare name stands for.
    pub default_model: Option<String>,
    /// The port of 127.0.0.1 where it usually listens, if it is a program on this machine.
    pub port: Option<u16>,
    /// What is known about its models. Others can be used too.
    pub models: BTreeMap<String, ModelConfig>,
    /// How long to wait for it.
    pub timeouts: TimeoutConfig,
    /// How to log in there, where that is not known already.
    pub oauth: Option<auth::OAuthConfig>,
    /// How often to try again when a call fails in a way that may pass.
    pub retries: Option<u32>,
    /// Where it differs from its format.
    pub quirks: QuirkConfig,
}

/// `[providers.NAME.models.MODEL]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelConfig {
    /// The name that the provider knows it by, if it is not the one used here.
    pub id: Option<String>,
    /// Tokens that prompt and answer may have together.
    pub context: Option<u32>,
    /// Tokens that an answer may have.
    pub max_output: Option<u32>,
    /// Whether it can call tools.
    pub tools: Option<bool>,
    /// Whether it can see pictures.
    pub images: Option<bool>,
    /// Whether it thinks before it answers.
    pub thinking: Option<bool>,
    /// Whether it can be held to a schema.
    pub structured: Option<bool>,
    /// Whether its provider remembers the beginning of a prompt.
    pub cache: Option<bool>,
    /// How its thinking is set: `effort`, `budget`, `level`, `switch` or `none`.
    pub reasoning: Option<ReasoningKind>,
    /// The words it knows for how much to think, from least to most, if they are not the usual ones.
    pub efforts: Vec<String>,
    /// The fewest and the most tokens that it can think, for `budget`.
    pub thinking_budget: Option<(u32, u32)>,
    /// What it costs.
    pub prices: Option<PriceConfig>,
    /// How strong it is among its kind: `low`, `medium` or `high`.
    pub tier: Option<Tier>,
    /// When it came out: `2025-09`, or a whole date.
    pub released: Option<String>,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceConfig {
    /// Of the prompt.
    pub input: f64,
    /// Of the answer, thoughts included.
    pub output: f64,
    /// Of the part of the prompt that the provider still had.
    #[serde(default)]
    pub cache_read: Option<f64>,
    /// Of the part of the prompt that the provider is to keep.
    #[serde(default)]
    pub cache_write: Option<f64>,
    /// What long prompts cost, where that differs.
    #[serde(default)]
    pub above: Option<StepConfig>,
}

/// Prices of calls whose prompt has more than so many tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepConfig {
    pub tokens: u64,
    pub input: f64,
    pub output: f64,
    #[serde(default)]
    pub cache_read: Option<f64>,
    #[serde(default)]
    pub cache_write: Option<f64>,
}

/// `[providers.NAME.timeouts]`, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutConfig {
    /// Until there is a connection (5).
    pub connect: Option<f64>,
    /// From the request to the first byte of the answer (60).
    pub first_byte: Option<f64>,
    /// Between two pieces of the answer (90).
    pub idle: Option<f64>,
}

impl ProviderConfig {
    /// Where its key may be set.
    pub fn auth(&self) -> auth::ProviderAuth {
        auth::ProviderAuth { api_key: self.api_key.clone(), api_key_env: self.api_key_env.clone() }
    }

    /// This one with the gaps filled from another.
    pub(crate) fn over(self, known: Self) -> Self {
        let mut headers = known.headers;
        headers.extend(self.headers);
        let mut models = known.models;
        models.extend(self.models);
        Self {
            wire: self.wire.or(known.wire),
            base_url: self.base_url.or(known.base_url),
            api_key_env: self.api_key_env.or(known.api_key_env),
            api_key: self.api_key.or(known.api_key),
            headers,
            default_model: self.default_model.or(known.default_model),
            port: self.port.or(known.port),
            models,
            timeouts: TimeoutConfig {
                connect: self.timeouts.connect.or(known.timeouts.connect),
                first_byte: self.timeouts.first_byte.or(known.timeouts.first_byte),
                idle: self.timeouts.idle.or(known.timeouts.idle),
            },
            oauth: self.oauth.or(known.oauth),
            retries: self.retries.or(known.retries),
            quirks: self.quirks.over(known.quirks),
        }
    }
}

impl ModelConfig {
    pub(crate) fn info(&self) -> ModelInfo {
        let able = Capabilities::default();
        ModelInfo {
            context: self.context,
            max_output: self.max_output,
            capabilities: Capabilities {
                tools: self.tools.unwrap_or(able.tools),
                images: self.images.unwrap_or(able.images),
                thinking: self.thinking.unwrap_or(able.thinking),
                structured: self.structured.unwrap_or(able.structured),
                cache: self.cache.unwrap_or(able.cache),
            },
            reasoning: Reasoning {
                kind: self.reasoning,
                efforts: self.efforts.clone(),
                budget: self.thinking_budget,
            },
            prices: self.prices.map(|price| Prices {
                input: price.input,
                output: price.output,
                cache_read: price.cache_read,
                cache_write: price.cache_write,
                above: price.above.map(|step| PriceStep {
                    tokens: step.tokens,
                    input: step.input,
                    output: step.output,
                    cache_read: step.cache_read,
                    cache_write: step.cache_write,
                }),
            }),
            tier: self.tier,
            released: self.released.clone(),
        }
    }
}

impl TimeoutConfig {
    pub(crate) fn timeouts(&self) -> Timeouts {
        let default = Timeouts::default();
        let seconds = |value: Option<f64>, default| {
            value.and_then(|value| Duration::try_from_secs_f64(value).ok()).unwrap_or(default)
        };
        Timeouts {
            connect: seconds(self.connect, default.connect),
            first_byte: seconds(self.first_byte, default.first_byte),
            idle: seconds(self.idle, default.idle),
        }
    }
}

/// The providers that we know, best first: the order in which one is chosen when nothing is configured. The texts are
/// parsed when they are needed, one by one.
pub(crate) const KNOWN: &[(&str, &str)] = &[
    ("anthropic", include_str!("../providers/anthropic.toml")),
    ("openai", include_str!("../providers/openai.toml")),
    ("gemini", include_str!("../providers/gemini.toml")),
    ("azure-openai", include_str!("../providers/azure-openai.toml")),
    ("openrouter", include_str!("../providers/openrouter.toml")),
    ("xai", include_str!("../providers/xai.toml")),
    ("deepseek", include_str!("../providers/deepseek.toml")),
    ("moonshot", include_str!("../providers/moonshot.toml")),
    ("mistral", include_str!("../providers/mistral.toml")),
    ("groq", include_str!("../providers/groq.toml")),
    ("together", include_str!("../providers/together.toml")),
    ("minimax", include_str!("../providers/minimax.toml")),
    ("zhipu", include_str!("../providers/zhipu.toml")),
    ("ollama", include_str!("../providers/ollama.toml")),
    ("lmstudio", include_str!("../providers/lmstudio.toml")),
    ("llamacpp", include_str!("../providers/llamacpp.toml")),
];

/// What we know about a provider. `None` for one that we do not know.
pub(crate) fn known(name: &str) -> Option<ProviderConfig> {
    let (_, text) = KNOWN.iter().find(|(known, _)| *known == name)?;
    // A test parses every one of them, so this does not fail.
    Some(toml::from_str(text).unwrap_or_default())
}

#[cfg(test)]
mod tests;
