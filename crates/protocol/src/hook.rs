//! What people's own programs hear of a session, and what they say to it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A moment at which hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HookEvent {
    SessionStart,
    Prompt,
    PreTool,
    PostTool,
    ToolFailed,
    Permission,
    Edit,
    TurnEnd,
    SubagentStart,
    SubagentEnd,
    Compact,
    ConfigChange,
    Notification,
    Stop,
}

impl HookEvent {
    pub const ALL: [Self; 14] = [
        Self::SessionStart,
        Self::Prompt,
        Self::PreTool,
        Self::PostTool,
        Self::ToolFailed,
        Self::Permission,
        Self::Edit,
        Self::TurnEnd,
        Self::SubagentStart,
        Self::SubagentEnd,
        Self::Compact,
        Self::ConfigChange,
        Self::Notification,
        Self::Stop,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::Prompt => "prompt",
            Self::PreTool => "pre_tool",
            Self::PostTool => "post_tool",
            Self::ToolFailed => "tool_failed",
            Self::Permission => "permission",
            Self::Edit => "edit",
            Self::TurnEnd => "turn_end",
            Self::SubagentStart => "subagent_start",
            Self::SubagentEnd => "subagent_end",
            Self::Compact => "compact",
            Self::ConfigChange => "config_change",
            Self::Notification => "notification",
            Self::Stop => "stop",
        }
    }

    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == name)
    }

    /// Whether something waits for what a hook says here. One that fails in such a place says no.
    pub fn decides(self) -> bool {
        matches!(self, Self::Prompt | Self::PreTool | Self::Permission | Self::SubagentStart)
    }
}

/// A hook had something to say, or failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct HookRan {
    /// Where it is written down.
    pub hook: String,
    pub on: HookEvent,
    /// `allow`, `ask`, `deny`; absent when it decided nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub says: Option<HookWord>,
    /// Why, or what went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
    /// What it told the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub context: Option<String>,
    /// It changed what the tool was given.
    #[serde(default)]
    pub changed_input: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum HookWord {
    Allow,
    Ask,
    Deny,
}

impl HookRan {
    /// In words for a person.
    pub fn describe(&self) -> String {
        let did = match self.says {
            Some(HookWord::Allow) => "allowed it",
            Some(HookWord::Ask) => "wants it asked",
            Some(HookWord::Deny) => "said no",
            None if self.changed_input => "changed the input",
            None if self.context.is_some() => "added to the context",
            None => "failed",
        };
        let why = self.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("hook {} ({}) {did}{why}", self.hook, self.on.as_str())
    }
}
