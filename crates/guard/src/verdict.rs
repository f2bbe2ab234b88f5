//! What the guard says.

use std::path::PathBuf;

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
    /// The rules that together would allow exactly this and nothing more: what "always" makes, and what a run without
    /// a person names. Empty when nothing needs allowing, or no rule can.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// It is blocked and a person is there: a yes counts only when given twice.
    #[serde(default)]
    pub confirm_twice: bool,
    /// Whether an answer may hold for longer than once.
    #[serde(default)]
    pub may_remember: bool,
    /// Whether a checkpoint comes first.
    #[serde(default)]
    pub checkpoint: bool,
    /// What it deletes or overwrites, as far as that can be known: to be moved aside before it runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub destroys: Vec<PathBuf>,
    /// What it needs of the sandbox beyond the usual.
    #[serde(default)]
    pub needs: Needs,
}

/// What an action needs beyond the project folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    /// The hosts it talks to, as far as they can be known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// It talks to hosts that can not be named beforehand.
    #[serde(default)]
    pub any_host: bool,
    /// Paths outside the project that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<PathBuf>,
    /// Paths outside the project that it changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<PathBuf>,
}

impl Needs {
    /// Whether it talks to anybody.
    pub fn network(&self) -> bool {
        self.any_host || !self.hosts.is_empty()
    }
}

impl Level {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Caution => "caution",
            Self::Blocked => "blocked",
        }
    }
}

impl Ruling {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}
