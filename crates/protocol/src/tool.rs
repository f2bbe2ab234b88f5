//! Tool calls, in the words of the Agent Client Protocol.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::{CallId, Content};

/// A tool call as it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolCall {
    pub call: CallId,
    /// The tool's name, as the model knows it.
    pub name: String,
    /// What a person reads: `read src/cart.rs`.
    pub title: String,
    pub kind: ToolKind,
    pub status: ToolStatus,
    /// The arguments. A string when the model sent something that is not JSON.
    #[serde(default)]
    #[ts(type = "unknown")]
    pub input: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
    /// The tool that the model called to have this one called, if it did not call it directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub via: Option<String>,
}

/// Later news of a tool call. What is absent stays as it was; `content` replaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolCallUpdate {
    pub call: CallId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub status: Option<ToolStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub title: Option<String>,
    /// What came out, a few words for the right margin: `lines 1-88`, `6 results`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub content: Option<Vec<ToolContent>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub duration_ms: Option<u64>,
}

impl ToolCallUpdate {
    /// An update that changes nothing yet.
    pub fn of(call: CallId) -> Self {
        Self { call, status: None, title: None, summary: None, content: None, duration_ms: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    #[serde(other)]
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    Pending,
    InProgress,
    Completed,
    Failed,
}

impl ToolStatus {
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed)
    }
}

/// A place in a file that a call looks at or changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Location {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub line: Option<u32>,
}

/// What a tool call shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolContent {
    Content {
        content: Content,
    },
    Diff {
        path: String,
        /// Absent when the file is new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        old: Option<String>,
        new: String,
    },
    /// Output of a running process, by the name it has with the session's host.
    Terminal {
        terminal: String,
    },
    /// A kind that this version does not know: carried as it came.
    #[serde(untagged)]
    #[ts(skip)]
    Other(Value),
}

impl ToolContent {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Content { content: Content::text(text) }
    }
}
