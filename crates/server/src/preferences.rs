//! What a person chose for all sessions. `covey` knows where it is kept and hands in who reads and changes it.

use async_trait::async_trait;
use client::ClientError;
use protocol::{AgentId, Mode, ModelRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[async_trait]
pub trait Preferences: Send + Sync {
    async fn read(&self) -> Result<Preferred, ClientError>;

    /// Keeps a change. It holds for sessions and turns from now on.
    async fn change(&self, change: PreferenceChange) -> Result<Preferred, ClientError>;
}

/// What holds now.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Preferred {
    /// The file that it is kept in.
    pub file: String,
    /// Who answers in new sessions.
    pub agent: AgentId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    pub mode: Mode,
    /// Rules about what may happen, in the order in which they are looked at.
    pub rules: Vec<KnownRule>,
    pub servers: Vec<KnownServer>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct KnownRule {
    pub rule: String,
    pub effect: Permission,
    /// Whether it was set here or by an answer, so that it can be changed here.
    pub own: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    Allow,
    Ask,
    Deny,
    /// No rule; the mode decides.
    Default,
}

/// An MCP server of the person's.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct KnownServer {
    pub name: String,
    /// The program or address; nothing that it is given.
    pub what: String,
    pub enabled: bool,
}

/// What is to be different; what is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreferenceChange {
    #[serde(default)]
    pub agent: Option<AgentId>,
    #[serde(default)]
    pub model: Option<ModelRef>,
    #[serde(default)]
    pub mode: Option<Mode>,
    #[serde(default)]
    pub rule: Option<RuleChange>,
    #[serde(default)]
    pub server: Option<ServerChange>,
}

/// What may happen with a tool, or with what a rule such as `shell(cargo test *)` fits.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleChange {
    #[schemars(length(min = 1, max = 1000))]
    pub rule: String,
    pub effect: Permission,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerChange {
    pub name: String,
    pub enabled: bool,
}
