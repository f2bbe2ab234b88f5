//! What a front end asks to be done.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, Content, Decision, Effort, Limits, Mode, ModelRef, RequestId, SessionId, TurnId};

/// A change that a front end asks for. The answer is a [`Receipt`]; what comes of it arrives as events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Op {
    CreateSession {
        cwd: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        agent: Option<AgentId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        model: Option<ModelRef>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        mode: Option<Mode>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        title: Option<String>,
        /// The folders that it works in besides its own, as in `SetFolders`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<String>>")]
        folders: Vec<String>,
        /// Nothing is kept when the process ends.
        #[serde(default)]
        ephemeral: bool,
    },
    /// A new session that has `session`'s events up to `at` (its end, if absent).
    ForkSession {
        session: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional, type = "number")]
        at: Option<u64>,
    },
    StartTurn {
        session: SessionId,
        prompt: Vec<Content>,
        /// A prompt sent again under the same key is the same prompt, and answered with the same turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        key: Option<String>,
        #[serde(default)]
        limits: Limits,
        /// Whether a person is there to answer questions; without one, what needs approval is denied.
        #[serde(default)]
        attended: bool,
    },
    CancelTurn {
        session: SessionId,
        /// All running turns, if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        turn: Option<TurnId>,
    },
    AnswerPermission {
        session: SessionId,
        request: RequestId,
        decision: Decision,
    },
    SetMode {
        session: SessionId,
        mode: Mode,
    },
    SetModel {
        session: SessionId,
        model: ModelRef,
    },
    /// How much the model thinks, from the next prompt on; as the settings say if absent.
    SetEffort {
        session: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        effort: Option<Effort>,
    },
    /// The folders that the session works in besides its own: all of them, absolute or from its own on. `~` is the
    /// person's home.
    SetFolders {
        session: SessionId,
        folders: Vec<String>,
    },
    /// From the next prompt on, another agent answers. It is told what happened so far.
    SetAgent {
        session: SessionId,
        agent: AgentId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        model: Option<ModelRef>,
    },
    Rename {
        session: SessionId,
        title: String,
    },
    /// What lists do with a session: keep it on top, put it away. What is absent stays as it is.
    MarkSession {
        session: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        pinned: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        archived: Option<bool>,
    },
    /// Stops what runs and removes the session for good.
    DeleteSession {
        session: SessionId,
    },
    /// Takes back what the session did to files.
    Undo {
        session: SessionId,
        /// `turn` (the last one, if absent), `step`, `all`, or the id of a turn or a call: that one and what came after.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        what: Option<String>,
        /// Only this file, relative to the project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        path: Option<String>,
        /// Also what somebody changed since.
        #[serde(default)]
        force: bool,
    },
    /// Does again what was taken back last.
    Redo {
        session: SessionId,
        #[serde(default)]
        force: bool,
    },
    /// The next prompt sees the whole conversation again, as far as it fits.
    Uncompact {
        session: SessionId,
    },
    /// Keeps something in the window whatever is compacted.
    Pin {
        session: SessionId,
        /// As in a mention, without the `@`: `src/a.rs`, `src/a.rs:10-40`; or `message:ID`.
        item: String,
    },
    Unpin {
        session: SessionId,
        item: String,
    },
    /// Stops what runs, records the end and lets go of the session.
    EndSession {
        session: SessionId,
        reason: String,
    },
}

/// What an accepted [`Op`] made or touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
pub struct Receipt {
    pub session: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub turn: Option<TurnId>,
}
