//! What a front end asks to be told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{AgentId, BlobRef, Event, Marks, ModelRef, SessionId, SessionView, Timestamp, Usage};

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
    /// What the built-in agent can do.
    Tools,
    /// Words in prompts, answers and tool calls of all sessions, best first.
    SearchSessions {
        query: String,
        limit: u32,
    },
    /// Recorded events after a number, in order. Fewer than `limit` when they are large; none at the end.
    EventsAfter {
        session: SessionId,
        #[ts(type = "number")]
        after: u64,
        limit: u32,
    },
    /// Recorded events before a number, in order: one page further back.
    EventsBefore {
        session: SessionId,
        #[ts(type = "number")]
        before: u64,
        limit: u32,
    },
    /// The whole session as one document.
    Export {
        session: SessionId,
        format: ExportFormat,
    },
    /// Bytes that an event names, in base64.
    Blob {
        session: SessionId,
        blob: BlobRef,
    },
    /// What was spent, by day, agent and model.
    Usage {
        /// How far back.
        days: u32,
    },
    /// What taking back or doing again would change, and what the files are now. The words are those of `Op::Undo`.
    Changes {
        session: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        what: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        path: Option<String>,
        /// What `Op::Redo` would do.
        #[serde(default)]
        redo: bool,
    },
    /// The commands that people and agents added to those that every front end has.
    Commands {
        session: SessionId,
    },
    /// Files of the session's project whose path fits what was typed.
    CompletePath {
        session: SessionId,
        fragment: String,
        limit: u32,
    },
    /// Folders anywhere whose path begins with what was typed, as it would be typed on: to be added to the session.
    CompleteFolder {
        session: SessionId,
        fragment: String,
        limit: u32,
    },
    /// What can be mentioned after an `@`: files, names in the code, sub-agents; the best of each kind.
    Mentions {
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
    Tools(Vec<ToolSummary>),
    Hits(Vec<SearchHit>),
    Events(#[ts(type = "Array<Event>")] Vec<Event>),
    Export(String),
    Blob(String),
    Usage(Vec<UsageRow>),
    Changes(Vec<FileChange>),
    Commands(Vec<CommandSummary>),
    Paths(Vec<String>),
    Mentions(Vec<Mention>),
}

/// What a document is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    Markdown,
    /// One file that needs nothing else.
    Html,
    Json,
}

/// News of the list of sessions. The first that anybody hears is `All`; it comes again when news were missed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", content = "value", rename_all = "snake_case")]
pub enum ListChange {
    All(Vec<SessionSummary>),
    /// New, or not as it was.
    Put(Box<SessionSummary>),
    Gone(SessionId),
}

/// Where in a session the words are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
pub struct SearchHit {
    pub session: SessionId,
    pub title: String,
    /// The event where it begins.
    #[ts(type = "number")]
    pub seq: u64,
    pub ts: Timestamp,
    pub kind: SearchHitKind,
    /// A part of it, in pieces; every second piece is what fits, beginning with the second.
    pub snippet: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchHitKind {
    Prompt,
    Answer,
    ToolCall,
}

/// What was spent on one day, through one agent, on one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
pub struct UsageRow {
    /// `YYYY-MM-DD`, in UTC.
    pub day: String,
    pub agent: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<ModelRef>,
    pub calls: u32,
    pub usage: Usage,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
pub struct ToolSummary {
    pub name: String,
    pub group: String,
    pub description: String,
    /// Whether models are offered it.
    pub offered: bool,
    /// What a rule says without looking at the arguments, if one does: allow, ask or deny.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rule: Option<String>,
}

/// A session in a list. Also what `metadata.json` keeps, so that a list reads no log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
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
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    #[ts(optional, as = "Option<Marks>")]
    pub marks: Marks,
}

/// Whether something goes on in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    #[default]
    Idle,
    Running,
    /// A question waits for the person.
    Waiting,
    Ended,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
pub struct AgentSummary {
    pub agent: AgentId,
    pub usable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
}

/// What would happen to one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct FileChange {
    /// Relative to the project.
    pub path: String,
    pub does: FileEffect,
    /// Why it is not done without force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub conflict: Option<String>,
    /// What it says now; absent for what is not there, is no text or is too long to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub now: Option<String>,
    /// What it would say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub then: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FileEffect {
    Create,
    Restore,
    Delete,
}

/// A command that is sent as a prompt: `/name arguments`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CommandSummary {
    pub name: String,
    pub description: String,
    /// What to write after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hint: Option<String>,
    pub origin: CommandOrigin,
}

/// Something to mention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Mention {
    pub kind: MentionKind,
    /// What is written after the `@`.
    pub name: String,
    /// Where it is, or what it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(optional, as = "Option<String>")]
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MentionKind {
    /// A file, or a folder with a slash at its end.
    Path,
    /// Something that the code defines.
    Symbol,
    /// A role that a sub-agent can have.
    Agent,
}

/// Who added it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CommandOrigin {
    Covey,
    Person,
    Project,
    Skill,
    /// The session's agent understands it.
    Agent,
    /// A prompt of an MCP server.
    Server,
}
