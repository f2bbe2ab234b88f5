//! A running session from outside: what it can be sent, and what it tells.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use agents::{Agent, Answer};
use project::Host;
use protocol::{Event, SessionView, TurnId, Update};
use sessions::AppendError;
use tokio::sync::{Mutex, broadcast, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::editor::{Line, SessionHost};

use super::hooks::Hooks;
use super::step::{Refusal, SessionOp};
use crate::servers::ServerSet;

/// What arrives at a session from outside. Small, because room for many is kept for each session.
pub(super) enum Message {
    Op {
        op: Box<SessionOp>,
        reply: oneshot::Sender<OpResult>,
    },
    Ask {
        turn: TurnId,
        question: Box<agents::Question>,
        reply: oneshot::Sender<Answer>,
    },
    /// A turn starts another.
    Child {
        parent: TurnId,
        child: Box<agents::Child>,
        reply: oneshot::Sender<agents::ChildEnd>,
    },
    Updates {
        turn: TurnId,
        updates: Vec<Update>,
    },
    AgentGone {
        turn: TurnId,
    },
    Deadline {
        turn: TurnId,
    },
    GraceOver {
        turn: TurnId,
    },
    View {
        reply: oneshot::Sender<SessionView>,
    },
    /// Whether no turn runs.
    IsIdle {
        reply: oneshot::Sender<bool>,
    },
    /// Let go of the session if nothing happened for this long and nobody watches.
    ParkIfIdle {
        idle: Duration,
    },
    /// From now on this agent answers.
    UseAgent {
        agent: Arc<dyn Agent>,
    },
}

pub(super) type OpResult = Result<Option<TurnId>, OpFailure>;

/// Why a change was not made.
#[derive(Debug, Clone)]
pub(crate) enum OpFailure {
    Refused(Refusal),
    Storage(StorageFailure),
    /// The session was closed.
    Closed,
}

/// The log could not be written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StorageFailure {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl From<&AppendError> for StorageFailure {
    fn from(error: &AppendError) -> Self {
        use std::error::Error;
        let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
        Self { message: format!("{error}{cause}"), hint: error.hint().map(str::to_owned) }
    }
}

/// What subscribers are sent.
#[derive(Debug, Clone)]
pub(super) enum Live {
    Event(Arc<Event>),
    /// The log can not be written, so there is no event to tell it.
    Failed(Arc<StorageFailure>),
}

/// Somebody who watches.
pub(crate) struct Watched {
    live: broadcast::Receiver<Live>,
}

impl Watched {
    /// Waits until the session is closed.
    pub(crate) async fn closed(&mut self) {
        while !matches!(self.live.recv().await, Err(broadcast::error::RecvError::Closed)) {}
    }
}

/// A running session, from outside.
pub(crate) struct Handle {
    inputs: mpsc::Sender<Message>,
    pub(super) live: broadcast::Sender<Live>,
    task: Mutex<Option<JoinHandle<()>>>,
    /// The folder it works in.
    pub(crate) cwd: PathBuf,
    pub(crate) host: Arc<dyn Host>,
    /// Where an editor may offer to do what tools want done.
    pub(crate) editor: Arc<Line>,
    pub(crate) hooks: Arc<Hooks>,
    /// Whether hooks heard that it begins.
    pub(crate) has_begun: AtomicBool,
    /// The MCP servers that its agent knows.
    pub(crate) servers: std::sync::Mutex<Arc<ServerSet>>,
}

impl Handle {
    pub(super) fn new(
        inputs: mpsc::Sender<Message>,
        live: broadcast::Sender<Live>,
        task: JoinHandle<()>,
        cwd: PathBuf,
        host: Arc<SessionHost>,
        hooks: Arc<Hooks>,
    ) -> Self {
        Self {
            inputs,
            live,
            task: Mutex::new(Some(task)),
            cwd,
            editor: host.line(),
            host,
            hooks,
            has_begun: AtomicBool::new(false),
            servers: std::sync::Mutex::default(),
        }
    }

    /// Counts as somebody who watches, for as long as it is held.
    pub(crate) fn watched(&self) -> Watched {
        Watched { live: self.live.subscribe() }
    }

    pub(crate) async fn submit(&self, op: SessionOp) -> OpResult {
        let op = Box::new(op);
        self.request(|reply| Message::Op { op, reply }).await.unwrap_or(Err(OpFailure::Closed))
    }

    pub(crate) async fn view(&self) -> Option<SessionView> {
        self.request(|reply| Message::View { reply }).await
    }

    pub(crate) async fn use_agent(&self, agent: Arc<dyn Agent>) {
        // A closed session needs no agent.
        let _ = self.inputs.send(Message::UseAgent { agent }).await;
    }

    /// Whether no turn runs.
    pub(crate) async fn is_idle(&self) -> bool {
        self.request(|reply| Message::IsIdle { reply }).await.unwrap_or(true)
    }

    /// Closes the session if nothing happened for this long and nobody watches.
    pub(crate) fn park_if_idle(&self, idle: Duration) {
        // A session with a full queue is not idle.
        let _ = self.inputs.try_send(Message::ParkIfIdle { idle });
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.inputs.is_closed()
    }

    /// Waits until the session has let go of its files.
    pub(crate) async fn closed(&self) {
        if let Some(task) = self.task.lock().await.take() {
            // A panic in the actor was reported where it happened; either way the files are closed.
            let _ = task.await;
        }
    }

    async fn request<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> Message) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.inputs.send(message(reply)).await.ok()?;
        answer.await.ok()
    }
}
