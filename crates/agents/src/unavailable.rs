//! An agent that can not be had, and says why to whoever prompts it.

use futures::stream::{BoxStream, StreamExt};
use protocol::{AgentId, ErrorInfo, Stop, StopCause, Update};
use tokio_util::sync::CancellationToken;

use crate::{Agent, Turn};

/// Stands in where a session names an agent or a model that is not there any more. The session can be opened, read and
/// given another one; only prompts fail.
pub struct Unavailable {
    pub id: AgentId,
    pub error: ErrorInfo,
}

impl Agent for Unavailable {
    fn id(&self) -> AgentId {
        self.id.clone()
    }

    fn prompt(&self, _turn: Turn, _cancel: CancellationToken) -> BoxStream<'static, Update> {
        let done = Update::Done { stop: Stop::Error, cause: Some(StopCause::Unreachable) };
        futures::stream::iter([Update::Error(self.error.clone()), done]).boxed()
    }
}
