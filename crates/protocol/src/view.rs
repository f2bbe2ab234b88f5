//! What a session's events add up to: the state that front ends draw.
//!
//! The view is bounded. It keeps the newest part of the conversation whole and counts the rest, so it can be written
//! as a snapshot at each turn's end and a session of any length opens by reading that and the few events after it.
//! What lies before [`SessionView::first`] is read from the log when somebody scrolls there.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::{
    AgentCommand, AgentId, CallId, Content, ContextLedger, Effort, ErrorInfo, Event, EventBody, ForkPoint,
    Marks, MessageId, Mode, ModelRef, Notice, PermissionRequest, Pin, Plan, Retry, Route, SessionId,
    SessionStatus, Stop, StopCause, SuggestedAction, Timestamp, ToolCall, ToolCallUpdate, TurnId, Usage,
};

mod fold;

/// A session as of event number `seq`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct SessionView {
    pub session: SessionId,
    /// The last event that was folded in.
    #[ts(type = "number")]
    pub seq: u64,
    pub created: Timestamp,
    pub updated: Timestamp,
    pub cwd: String,
    /// Folders that it works in besides its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub folders: Vec<String>,
    pub agent: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<ModelRef>,
    pub mode: Mode,
    /// How much the model thinks, where the person said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub effort: Option<Effort>,
    /// Given by the person, or the first line of the first prompt.
    pub title: String,
    #[serde(default, skip_serializing_if = "Marks::is_empty")]
    #[ts(optional, as = "Option<Marks>")]
    pub marks: Marks,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub forked_from: Option<ForkPoint>,
    pub status: SessionStatus,
    /// Turns begun so far, child turns included.
    pub turns: u32,
    /// Turns that have not ended.
    pub open: BTreeMap<TurnId, OpenTurn>,
    /// Questions that wait for an answer, oldest first.
    pub pending: Vec<PermissionRequest>,
    pub plan: Plan,
    /// What fills the window, as far as told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub context: Option<ContextLedger>,
    /// What stays in the window whatever is compacted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<Pin>,
    /// What the agent offers to do next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<SuggestedAction>,
    /// What the session's agent understands besides plain words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<AgentCommand>,
    pub usage: Usage,
    /// The newest prompts that came with a key, so that one sent again is known for what it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<PromptKey>,
    /// The newest part of the conversation, in order.
    #[ts(as = "Vec<Item>")]
    pub items: VecDeque<Item>,
    /// Events before this number are not in `items`.
    #[ts(type = "number")]
    pub first: u64,
    /// Bytes of text in `items`, so that trimming costs nothing to decide.
    #[serde(default)]
    #[ts(type = "number")]
    pub(crate) weight: u64,
}

/// The turn that a prompt started, by the key its front end chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct PromptKey {
    pub key: String,
    pub turn: TurnId,
}

/// A turn that is under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct OpenTurn {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub parent: Option<TurnId>,
    pub agent: AgentId,
    pub started: Timestamp,
    pub usage: Usage,
    pub steps: u32,
}

/// One thing in the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Item {
    /// The event it began with.
    #[ts(type = "number")]
    pub seq: u64,
    pub ts: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub turn: Option<TurnId>,
    #[serde(flatten)]
    pub body: ItemBody,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "item", rename_all = "snake_case")]
pub enum ItemBody {
    Prompt {
        content: Vec<Content>,
    },
    Message {
        message: MessageId,
        text: String,
        /// Nothing more comes.
        done: bool,
    },
    Thought {
        message: MessageId,
        text: String,
        done: bool,
    },
    Tool {
        call: Box<ToolCall>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        result: Option<Box<ToolCallUpdate>>,
    },
    Retry(Retry),
    Route(Route),
    Notice(Notice),
    Error(ErrorInfo),
    TurnEnd {
        stop: Stop,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        cause: Option<StopCause>,
        #[ts(type = "number")]
        duration_ms: u64,
    },
}

impl SessionView {
    /// Starts from a log's first event; none when that is not `session_start`.
    pub fn start(event: &Event) -> Option<Self> {
        let EventBody::SessionStart(start) = &event.body else { return None };
        Some(Self {
            session: start.session.clone(),
            seq: event.seq,
            created: event.ts,
            updated: event.ts,
            cwd: start.cwd.clone(),
            folders: Vec::new(),
            agent: start.agent.clone(),
            model: start.model.clone(),
            mode: start.mode,
            effort: None,
            title: start.title.clone().unwrap_or_default(),
            marks: Marks::default(),
            forked_from: start.forked_from.clone(),
            status: SessionStatus::Idle,
            turns: 0,
            open: BTreeMap::new(),
            pending: Vec::new(),
            plan: Plan::default(),
            context: None,
            pins: Vec::new(),
            suggestions: Vec::new(),
            commands: Vec::new(),
            usage: Usage::default(),
            keys: Vec::new(),
            items: VecDeque::new(),
            first: event.seq + 1,
            weight: 0,
        })
    }

    /// Folds events in order, from the beginning or on top of a snapshot.
    pub fn fold<'a>(view: Option<Self>, events: impl IntoIterator<Item = &'a Event>) -> Option<Self> {
        events.into_iter().fold(view, |view, event| match view {
            None => Self::start(event),
            Some(mut view) => {
                view.apply(event);
                Some(view)
            }
        })
    }

    /// The item of a tool call, if it is among the newest.
    pub fn tool(&self, call: &CallId) -> Option<&Item> {
        self.items
            .iter()
            .rev()
            .find(|item| matches!(&item.body, ItemBody::Tool { call: c, .. } if c.call == *call))
    }
}
