//! Where providers differ from the format they speak.

use net::Url;
use net::header::{AUTHORIZATION, HeaderName, HeaderValue};
use serde::Deserialize;

use crate::Secret;
use crate::call::{bearer, plain};

/// `[providers.NAME.quirks]`: what is set of [`Quirks`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuirkConfig {
    pub include_usage: Option<bool>,
    pub max_tokens_field: Option<String>,
    pub replay_reasoning: Option<bool>,
    pub short_call_ids: Option<bool>,
    pub bearer: Option<bool>,
    pub key_header: Option<String>,
    pub deployment_path: Option<bool>,
    pub api_version: Option<String>,
}

impl QuirkConfig {
    /// This one with the gaps filled from another.
    pub(crate) fn over(self, known: Self) -> Self {
        Self {
            include_usage: self.include_usage.or(known.include_usage),
            max_tokens_field: self.max_tokens_field.or(known.max_tokens_field),
            replay_reasoning: self.replay_reasoning.or(known.replay_reasoning),
            short_call_ids: self.short_call_ids.or(known.short_call_ids),
            bearer: self.bearer.or(known.bearer),
            key_header: self.key_header.or(known.key_header),
            deployment_path: self.deployment_path.or(known.deployment_path),
            api_version: self.api_version.or(known.api_version),
        }
    }

    pub(crate) fn quirks(&self) -> Quirks {
        let usual = Quirks::default();
        Quirks {
            include_usage: self.include_usage.unwrap_or(usual.include_usage),
            max_tokens_field: self.max_tokens_field.clone().unwrap_or(usual.max_tokens_field),
            replay_reasoning: self.replay_reasoning.unwrap_or(usual.replay_reasoning),
            short_call_ids: self.short_call_ids.unwrap_or(usual.short_call_ids),
            bearer: self.bearer.unwrap_or(usual.bearer),
            key_header: self.key_header.clone(),
            deployment_path: self.deployment_path.unwrap_or(usual.deployment_path),
            api_version: self.api_version.clone(),
        }
    }
}

/// Where a server differs from its format's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quirks {
    /// OpenAI Chat: ask for token counts at the end of the stream (`stream_options`). A few servers refuse the field.
    pub include_usage: bool,
    /// OpenAI Chat: the name of the field that limits the answer: `max_completion_tokens`, or `max_tokens` for older
    /// servers.
    pub max_tokens_field: String,
    /// OpenAI Chat: send the model's thoughts back as `reasoning_content`, which some providers want during tool calls
    /// and others refuse.
    pub replay_reasoning: bool,
    /// OpenAI Chat: ids of calls have exactly nine letters and digits.
    pub short_call_ids: bool,
    /// Anthropic: the key is a token, which is sent as `Authorization: Bearer` and not as `x-api-key`.
    pub bearer: bool,
    /// OpenAI: the header that carries the key, where it is not `Authorization: Bearer`.
    pub key_header: Option<String>,
    /// OpenAI: the model is part of the path, as `deployments/MODEL`, unless the address ends in `v1`.
    pub deployment_path: bool,
    /// OpenAI: sent as `api-version` with every address that does not say one and does not end in `v1`.
    pub api_version: Option<String>,
}

impl Quirks {
    /// The header for a key, and its value, as OpenAI's formats send it. `None` if the key can not be sent.
    pub(crate) fn openai_key(&self, key: &Secret) -> Option<(HeaderName, HeaderValue)> {
        match &self.key_header {
            // Someone logged in: a token is sent as one.
            Some(name) if !self.bearer => Some((HeaderName::try_from(name).ok()?, plain(key)?)),
            _ => Some((AUTHORIZATION, bearer(key)?)),
        }
    }

    /// The base of OpenAI's addresses for a model.
    pub(crate) fn openai_base(&self, base: &Url, model: &str) -> Url {
        if base.path().trim_end_matches('/').ends_with("/v1") {
            return base.clone();
        }
        let mut url = match self.deployment_path && !model.is_empty() {
            true => super::below(base, None, &["deployments", model]),
            false => base.clone(),
        };
        let said = url.query_pairs().any(|(name, _)| name == "api-version");
        if let Some(version) = self.api_version.as_deref().filter(|_| !said) {
            url.query_pairs_mut().append_pair("api-version", version);
        }
        url
    }
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            include_usage: true,
            max_tokens_field: "max_completion_tokens".to_owned(),
            replay_reasoning: false,
            short_call_ids: false,
            bearer: false,
            key_header: None,
            deployment_path: false,
            api_version: None,
        }
    }
}
