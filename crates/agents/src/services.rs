//! What an agent may ask of its session.

use std::sync::Arc;

use futures::future::BoxFuture;
use project::Host;
use protocol::{BlobRef, CallId, Event, PermissionOption};

/// The session, as an agent sees it.
pub trait Services: Send + Sync {
    /// Puts a question to the person, or has it answered by rule. Waits until there is an answer.
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer>;

    /// Where files are read and commands run.
    fn host(&self) -> Arc<dyn Host>;

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
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Go ahead. Names the chosen option.
    Allowed { option: String },
    /// Do not, and tell the model why.
    Denied { reason: String },
    /// The turn is over or the question was withdrawn.
    Cancelled,
}

/// The session's past could not be read.
#[derive(Debug, Clone, thiserror::Error)]
#[error("could not read the session's history: {0}")]
pub struct HistoryError(pub String);
