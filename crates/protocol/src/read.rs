//! What a front end asks to be told.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, ModelRef, SessionId, SessionView, Timestamp, Usage};

/// A question that changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    /// The newest sessions first.
    Sessions {
        /// Only those that were made in this folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        cwd: Option<String>,
        limit: u32,
    },
    Session {
        session: SessionId,
    },
    Models,
    Agents,
    /// Files of the session's project whose path fits what was typed.
    CompletePath {
        session: SessionId,
        fragment: String,
        limit: u32,
    },
}

/// The answer to the [`Request`] of the same name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum Reply {
    Sessions(Vec<SessionSummary>),
    Session(Box<SessionView>),
    Models(Vec<ModelSummary>),
    Agents(Vec<AgentSummary>),
    Paths(Vec<String>),
}

/// A session in a list. Also what `metadata.json` keeps, so that a list reads no log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionSummary {
    pub session: SessionId,
    pub title: String,
    pub cwd: String,
    pub agent: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<ModelRef>,
    pub created: Timestamp,
    pub updated: Timestamp,
    /// The last event's number.
    #[ts(type = "number")]
    pub seq: u64,
    #[serde(default)]
    pub turns: u32,
    #[serde(default)]
    pub usage: Usage,
    #[serde(default)]
    pub status: SessionStatus,
}

/// Whether something goes on in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    #[default]
    Idle,
    Running,
    /// A question waits for the person.
    Waiting,
    Ended,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ModelSummary {
    pub model: ModelRef,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub context: Option<u32>,
    pub usable: bool,
    /// Why not, when it is not usable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct AgentSummary {
    pub agent: AgentId,
    pub usable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
}
