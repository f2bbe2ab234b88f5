//! What an agent offers the person to do next.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Buttons under the conversation; they replace those before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SuggestedActions {
    pub actions: Vec<SuggestedAction>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SuggestedAction {
    pub label: String,
    pub action: SuggestedStep,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SuggestedStep {
    /// Sent as the next prompt.
    SendMessage { text: String },
    /// Put into the composer, to be changed before it is sent.
    FillInput { text: String },
    /// Run as a call of that tool, through the same gate as any other.
    RunTool {
        tool: String,
        #[ts(type = "unknown")]
        input: Value,
    },
}
