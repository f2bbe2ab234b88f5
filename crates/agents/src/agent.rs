//! The trait, and what a turn hands over.

use std::sync::Arc;

use futures::stream::BoxStream;
use protocol::{AgentId, Content, Effort, Limits, Mode, SessionId, TurnId, Update};
use tokio_util::sync::CancellationToken;

use crate::Services;

/// Something that can act in a session.
///
/// One value serves one session for as long as that session keeps its agent and model, so it may remember the
/// conversation between turns. It must be able to rebuild that memory from [`Services::history`].
pub trait Agent: Send + Sync {
    fn id(&self) -> AgentId;

    /// Works on one prompt. The stream ends with [`Update::Done`]; one that ends without it is taken for a crash.
    ///
    /// After `cancel` the agent stops its work and ends its stream soon; a session waits a short grace and then drops
    /// it. Dropping the stream must end everything that the turn started.
    fn prompt(&self, turn: Turn, cancel: CancellationToken) -> BoxStream<'static, Update>;

    /// The session's past is no longer what the agent remembers: something was pinned, taken back or brought back. The
    /// next prompt reads it again.
    fn history_changed(&self) {}

    /// Whether something of it runs between turns, which ends when it is let go.
    fn is_running(&self) -> bool {
        false
    }
}

/// One prompt, and what the agent may use to answer it.
#[derive(Clone)]
pub struct Turn {
    pub session: SessionId,
    pub id: TurnId,
    pub prompt: Vec<Content>,
    pub mode: Mode,
    /// How much the person wants it to think; as it likes without.
    pub effort: Option<Effort>,
    /// Whether a person is there to be asked.
    pub attended: bool,
    pub limits: Limits,
    pub services: Arc<dyn Services>,
}
