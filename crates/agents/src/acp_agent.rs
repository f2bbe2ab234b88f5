//! An agent that speaks the Agent Client Protocol.

mod connection;
mod requests;
mod session;
mod terminals;
mod turn;

use std::sync::Arc;

use futures::stream::BoxStream;
use protocol::{AgentId, Update};
use tokio_util::sync::CancellationToken;

pub(crate) use connection::Connection;

use crate::fleet::Post;
use crate::idle::Kept;
use crate::{Agent, Turn, report};
use session::Live;

/// One agent for one session of ours; its process is started by the first prompt and may serve other sessions too.
pub(crate) struct AcpAgent {
    inner: Arc<Inner>,
}

struct Inner {
    post: Post,
    /// The session between turns.
    kept: Kept<Live>,
}

impl AcpAgent {
    pub(crate) fn new(post: Post) -> Self {
        let kept = Kept::new(post.fleet.options.idle);
        Self { inner: Arc::new(Inner { post, kept }) }
    }
}

impl Agent for AcpAgent {
    fn id(&self) -> AgentId {
        self.inner.post.id.clone()
    }

    fn prompt(&self, turn: Turn, cancel: CancellationToken) -> BoxStream<'static, Update> {
        let inner = self.inner.clone();
        report(move |reporter| async move { turn::run(&inner, turn, cancel, reporter).await })
    }

    fn is_running(&self) -> bool {
        self.inner.kept.is_there()
    }
}
