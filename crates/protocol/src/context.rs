//! What is in a model's window, and how it is kept from overflowing.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{CallId, Content};

/// The window was about to overflow and something was left out of what models are sent. The log keeps all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Compaction {
    pub stage: CompactionStage,
    /// What stands in for everything before `from`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub summary: Option<String>,
    /// The first turn, or call, that is kept as it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<String>,
    /// Calls whose results are cut to their head and tail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pruned: Vec<CallId>,
    /// Tokens in the window before and after, as far as can be told.
    #[serde(default)]
    #[ts(type = "number")]
    pub tokens_before: u64,
    #[serde(default)]
    #[ts(type = "number")]
    pub tokens_after: u64,
}

impl Compaction {
    /// Takes back what was compacted: the whole conversation is there again.
    pub fn undo() -> Self {
        Self {
            stage: CompactionStage::Undo,
            summary: None,
            from: None,
            pruned: vec![],
            tokens_before: 0,
            tokens_after: 0,
        }
    }
}

impl Compaction {
    /// In words for a person.
    pub fn describe(&self) -> String {
        let what = match self.stage {
            CompactionStage::Prune => "old results were cut",
            CompactionStage::Summarise => "earlier turns were summarised",
            CompactionStage::Undo => return "the whole conversation is back in the window".to_owned(),
        };
        match (self.tokens_before, self.tokens_after) {
            // Agents of other makers do not count it for us.
            (0, 0) => what.to_owned(),
            (before, 0) => format!("{what}: there were about {before} tokens"),
            (before, after) => format!("{what}: about {before} tokens became {after}"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CompactionStage {
    /// Old results were cut.
    Prune,
    /// Old turns were summarised.
    Summarise,
    /// Every compaction before is taken back.
    Undo,
}

/// What fills the window, as of the last call to the model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
pub struct ContextLedger {
    /// What the model takes in and gives out; absent when nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub window: Option<u32>,
    /// Kept free for the answer.
    #[serde(default)]
    pub reserve: u32,
    pub parts: Vec<ContextPart>,
}

impl ContextLedger {
    pub fn total(&self) -> u64 {
        self.parts.iter().map(|part| part.tokens).sum()
    }
}

/// One kind of thing in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ContextPart {
    /// `system`, `rules`, `tools`, `pins`, `summary`, `prompts`, `answers`, `results`.
    pub name: String,
    /// Where it came from: a file, a tool; absent for a whole kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<String>,
    #[ts(type = "number")]
    pub tokens: u64,
}

/// Something is kept in the window whatever is compacted, or is let go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Pin {
    /// Its name, by which it is let go.
    pub pin: String,
    /// Absent when it is let go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub content: Option<Content>,
}
