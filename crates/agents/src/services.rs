//! What an agent may ask of its session.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use guard::Guard;
use project::Host;
use protocol::{AnsweredBy, BlobRef, CallId, Event, PermissionOption};

use crate::{Child, ChildEnd, HookAnswer, HookCall};

/// The session, as an agent sees it.
pub trait Services: Send + Sync {
    /// Puts a question to the person, or has it answered by rule. Waits until there is an answer.
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer>;

    /// Starts a child turn and waits for its end. It ends with its parent.
    fn child(&self, child: Child) -> BoxFuture<'_, ChildEnd>;

    /// Where files are read and commands run.
    fn host(&self) -> Arc<dyn Host>;

    /// Says what may happen. Whatever it leaves to the person goes through [`ask`](Self::ask).
    fn guard(&self) -> Arc<Guard>;

    /// Whether anybody's program wants to hear of anything.
    fn has_hooks(&self) -> bool {
        false
    }

    /// Tells people's own programs of something, and hears what they say to it.
    fn hook(&self, call: HookCall) -> BoxFuture<'_, HookAnswer> {
        let _ = call;
        Box::pin(std::future::ready(HookAnswer::default()))
    }

    /// The session's own folder, for what is kept beside its log.
    fn folder(&self) -> PathBuf;

    /// The events of earlier turns, oldest first: as many whole turns as fit in `max_bytes` of log, the newest always.
    fn history(&self, max_bytes: u64) -> BoxFuture<'_, Result<Vec<Event>, HistoryError>>;

    /// What the session keeps beside its log; none when it is gone or damaged.
    fn blob(&self, blob: &BlobRef) -> Option<Vec<u8>>;
}

/// May this happen?
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    pub call: Option<CallId>,
    /// The exact action.
    pub title: String,
    pub reasons: Vec<String>,
    pub options: Vec<PermissionOption>,
    /// Something the agent wants to know, not something it wants to do.
    pub is_question: bool,
    /// It is answered already, with no, and only recorded.
    pub refused: Option<Refused>,
}

/// A no that needed nobody.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    pub by: AnsweredBy,
    /// Goes to the model.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Go ahead. Names the chosen option, and what the person said with it.
    Allowed { option: String, said: Option<String> },
    /// Do not, and tell the model why.
    Denied { reason: String },
    /// The turn is over or the question was withdrawn.
    Cancelled,
}

/// The session's past could not be read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("could not read the session's history: {0}")]
pub struct HistoryError(pub String);
