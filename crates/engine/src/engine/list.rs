//! The list of sessions for somebody who watches it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt};
use protocol::{ListChange, SessionId, SessionSummary};
use sessions::{ListOptions, Store};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, sleep_until};

use crate::EngineError;
use crate::session::News;

/// More than anybody scrolls through; older ones are found by searching.
const MAX_LISTED: usize = 2000;
/// How often what other processes did is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The whole list first, then its changes.
pub(super) fn follow(store: Store, news: &News) -> BoxStream<'static, Result<ListChange, EngineError>> {
    // Listening starts before the list is read, so that nothing falls between the two.
    let Some(news) = news.listen() else { return futures::stream::empty().boxed() };
    let state =
        Follow { store, news, known: HashMap::new(), waiting: Vec::new(), behind: true, look_at: later() };
    futures::stream::unfold(state, |mut state| async move { Some((state.next().await?, state)) }).boxed()
}

struct Follow {
    store: Store,
    news: broadcast::Receiver<Arc<ListChange>>,
    /// What was told last, by its number.
    known: HashMap<SessionId, u64>,
    /// Found, and not told yet.
    waiting: Vec<ListChange>,
    /// News were missed, or nothing was told yet.
    behind: bool,
    look_at: Instant,
}

fn later() -> Instant {
    Instant::now() + LOOK_EVERY
}

impl Follow {
    async fn next(&mut self) -> Option<Result<ListChange, EngineError>> {
        loop {
            if let Some(change) = self.waiting.pop() {
                return Some(Ok(change));
            }
            if self.behind {
                self.behind = false;
                return Some(self.all().await);
            }
            tokio::select! {
                news = self.news.recv() => match news {
                    Ok(change) => {
                        self.note(&change);
                        return Some(Ok(change.as_ref().clone()));
                    }
                    Err(RecvError::Lagged(_)) => self.behind = true,
                    Err(RecvError::Closed) => return None,
                },
                () = sleep_until(self.look_at) => {
                    self.look_at = later();
                    // What can not be read now is looked at again.
                    if let Ok(listed) = self.list().await {
                        self.compare(listed);
                    }
                }
            }
        }
    }

    fn note(&mut self, change: &ListChange) {
        match change {
            ListChange::Put(summary) => {
                self.known.insert(summary.session.clone(), summary.seq);
            }
            ListChange::Gone(session) => {
                self.known.remove(session);
            }
            ListChange::All(_) => {}
        }
    }

    async fn all(&mut self) -> Result<ListChange, EngineError> {
        let listed = self.list().await?;
        self.known = listed.iter().map(|summary| (summary.session.clone(), summary.seq)).collect();
        Ok(ListChange::All(listed))
    }

    async fn list(&self) -> Result<Vec<SessionSummary>, EngineError> {
        let store = self.store.clone();
        let options = ListOptions { cwd: None, limit: Some(MAX_LISTED) };
        Ok(super::blocking(move || store.list(&options)).await?.sessions)
    }

    /// Finds what another process changed. Numbers only grow, so a smaller one is older news.
    fn compare(&mut self, listed: Vec<SessionSummary>) {
        let full = listed.len() >= MAX_LISTED;
        let mut gone = std::mem::take(&mut self.known);
        for summary in listed {
            let known = gone.remove(&summary.session);
            let seq = known.unwrap_or(0).max(summary.seq);
            self.known.insert(summary.session.clone(), seq);
            if known.is_none_or(|known| known < summary.seq) {
                self.waiting.push(ListChange::Put(Box::new(summary)));
            }
        }
        if full {
            // They may only have fallen off the end.
            self.known.extend(gone);
        } else {
            let exists = |session: &SessionId| self.store.exists(session);
            let (still, gone): (Vec<_>, Vec<_>) = gone.into_iter().partition(|(session, _)| exists(session));
            self.known.extend(still);
            self.waiting.extend(gone.into_iter().map(|(session, _)| ListChange::Gone(session)));
        }
    }
}
