//! What lists of sessions hear of a session: not every event, only what a list shows.

use std::sync::Arc;

use protocol::{ListChange, Marks, ModelRef, SessionStatus, SessionView, Usage};
use tokio::sync::broadcast;

/// How many news a list may be behind before it reads everything again.
const KEPT: usize = 512;

/// Where news of the list go. Clones are the same.
#[derive(Clone)]
pub(crate) struct News(Option<broadcast::Sender<Arc<ListChange>>>);

impl News {
    pub(crate) fn new() -> Self {
        Self(Some(broadcast::channel(KEPT).0))
    }

    /// For sessions that no list shows.
    pub(crate) fn to_nobody() -> Self {
        Self(None)
    }

    pub(crate) fn tell(&self, change: ListChange) {
        if let Some(news) = &self.0 {
            // Nobody listening is no error.
            let _ = news.send(Arc::new(change));
        }
    }

    pub(crate) fn listen(&self) -> Option<broadcast::Receiver<Arc<ListChange>>> {
        Some(self.0.as_ref()?.subscribe())
    }

    fn is_heard(&self) -> bool {
        self.0.as_ref().is_some_and(|news| news.receiver_count() > 0)
    }
}

/// What a list shows of a session. Its number and time change with every piece of text, and are told along with the rest.
#[derive(PartialEq)]
pub(super) struct Listed {
    title: String,
    model: Option<ModelRef>,
    agent: protocol::AgentId,
    status: SessionStatus,
    turns: u32,
    marks: Marks,
    usage: Usage,
}

impl Listed {
    pub(super) fn of(view: &SessionView) -> Self {
        Self {
            title: view.title.clone(),
            model: view.model.clone(),
            agent: view.agent.clone(),
            status: view.status,
            turns: view.turns,
            marks: view.marks,
            usage: view.usage,
        }
    }

    fn fits(&self, view: &SessionView) -> bool {
        self.status == view.status
            && self.turns == view.turns
            && self.marks == view.marks
            && self.usage == view.usage
            && self.title == view.title
            && self.model == view.model
            && self.agent == view.agent
    }

    /// Tells what changed, if a list shows it.
    pub(super) fn tell(&mut self, view: &SessionView, news: &News) {
        if self.fits(view) {
            return;
        }
        *self = Self::of(view);
        if news.is_heard() {
            news.tell(ListChange::Put(Box::new(sessions::summary(view))));
        }
    }
}
