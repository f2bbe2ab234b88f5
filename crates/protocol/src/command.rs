//! Commands that an agent understands as a prompt: `/compact`, `/review`.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// All that the session's agent offers now; each list replaces the one before.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
pub struct AgentCommands {
    pub commands: Vec<AgentCommand>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct AgentCommand {
    /// Without the slash.
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// What to write after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hint: Option<String>,
}
