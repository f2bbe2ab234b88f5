//! Keeping what files were around a whole turn, for agents that act by themselves.
//!
//! An agent of another maker changes files in its own process, whether it says so or not. What a turn of it changed is
//! therefore found out like what a command changed: by looking before and after.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agents::{Agent, Turn};
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use protocol::{AgentId, Mode, Notice, NoticeLevel, Update};
use tokio_util::sync::CancellationToken;

use super::{Checkpoints, Mark, Pending, Scope, blocking};

/// An agent whose turns can be taken back.
pub(crate) struct KeptTurns {
    agent: Arc<dyn Agent>,
    /// Between turns it remembers how files looked, so that only what changed is read again.
    checkpoints: OnceLock<Arc<Checkpoints>>,
}

impl KeptTurns {
    pub(crate) fn of(agent: Arc<dyn Agent>) -> Self {
        Self { agent, checkpoints: OnceLock::new() }
    }

    fn checkpoints(&self, turn: &Turn) -> Arc<Checkpoints> {
        let open = || {
            let host = turn.services.host();
            let added = host.roots().iter().skip(1);
            Arc::new(Checkpoints::at(&turn.services.folder(), host.roots().main(), added))
        };
        self.checkpoints.get_or_init(open).clone()
    }
}

impl Agent for KeptTurns {
    fn id(&self) -> AgentId {
        self.agent.id()
    }

    fn prompt(&self, turn: Turn, cancel: CancellationToken) -> BoxStream<'static, Update> {
        // There its process can write nothing in the project.
        if turn.mode <= Mode::Plan {
            return self.agent.prompt(turn, cancel);
        }
        let (agent, checkpoints) = (self.agent.clone(), self.checkpoints(&turn));
        let begun = async move {
            let mark = Mark { turn: turn.id.as_str().to_owned(), call: None };
            let looking = checkpoints.clone();
            let before = blocking(move || looking.before(mark, Scope::Anything)).await;
            let (kept, problem) = match before {
                Ok(pending) => (Some(Kept { checkpoints, pending }), None),
                Err(error) => (None, Some(can_not_be_undone(&agent.id(), &error))),
            };
            let updates = agent.prompt(turn, cancel);
            stream::iter(problem).chain(closed_at_the_end(updates, kept, agent.id()))
        };
        stream::once(begun).flatten().boxed()
    }

    fn is_running(&self) -> bool {
        self.agent.is_running()
    }

    fn history_changed(&self) {
        self.agent.history_changed();
    }
}

struct Kept {
    checkpoints: Arc<Checkpoints>,
    pending: Pending,
}

/// What changed is told before the turn's end. A turn that is dropped is closed by the next to look.
fn closed_at_the_end(
    updates: BoxStream<'static, Update>,
    kept: Option<Kept>,
    agent: AgentId,
) -> impl futures::Stream<Item = Update> + Send + 'static {
    let kept = Arc::new(Mutex::new(kept));
    updates
        .then(move |update| {
            let ends = matches!(update, Update::Done { .. });
            let kept = ends.then(|| kept.lock().unwrap_or_else(PoisonError::into_inner).take()).flatten();
            let agent = agent.clone();
            async move {
                let Some(Kept { checkpoints, pending }) = kept else { return [None, Some(update)] };
                let found = match blocking(move || checkpoints.after(pending)).await {
                    Ok(record) => record.map(|record| Update::Checkpoint(record.taken(None))),
                    Err(error) => Some(can_not_be_undone(&agent, &error)),
                };
                [found, Some(update)]
            }
        })
        .flat_map(|updates| stream::iter(updates.into_iter().flatten()))
}

fn can_not_be_undone(agent: &AgentId, error: &std::io::Error) -> Update {
    let text = format!("what `{agent}` changes in this turn can not be undone: {error}");
    Update::Notice(Notice { level: NoticeLevel::Warning, text })
}
