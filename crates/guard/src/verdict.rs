//! What the guard says.

use serde::{Deserialize, Serialize};

/// How dangerous an action is, whoever asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Safe,
    Caution,
    Blocked,
}

/// What happens to it here and now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    Allow,
    Ask,
    Deny,
}

/// The answer to "may this happen?".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub level: Level,
    pub decision: Ruling,
    /// Why, in words for a person; the clause that decided comes first.
    pub because: Vec<String>,
}
