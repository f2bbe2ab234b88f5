//! Where providers differ from the format they speak.

use serde::Deserialize;

/// Where a server differs from its format's own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
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
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            include_usage: true,
            max_tokens_field: "max_completion_tokens".to_owned(),
            replay_reasoning: false,
            short_call_ids: false,
            bearer: false,
        }
    }
}
