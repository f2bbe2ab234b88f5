//! A session's events for one front end: from the log, then live, and from the log again when it fell behind.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt};
use protocol::{Event, SessionId};
use sessions::{Record, Store, StoreError};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::handle::{Handle, Live, StorageFailure};

const PAGE: usize = 500;

/// Why a stream of events ended early.
#[derive(Debug)]
pub(crate) enum StreamFailure {
    /// The log can not be written: what happens now is not recorded.
    Storage(StorageFailure),
    /// The log can not be read.
    Read(StoreError),
}

type Item = Result<Arc<Event>, StreamFailure>;

/// Everything after event number `after`, without gaps, until the session closes.
pub(crate) fn events(
    handle: &Handle,
    store: Store,
    session: SessionId,
    after: u64,
) -> BoxStream<'static, Item> {
    // Subscribed before the log is read, so that nothing falls between the two.
    let live = handle.live.subscribe();
    let state =
        Follow { store, session, live, seen: after, ready: VecDeque::new(), behind: true, over: false };
    futures::stream::unfold(state, |mut state| async move { state.next().await.map(|item| (item, state)) })
        .boxed()
}

struct Follow {
    store: Store,
    session: SessionId,
    live: broadcast::Receiver<Live>,
    /// The last event that was handed out.
    seen: u64,
    ready: VecDeque<Arc<Event>>,
    /// The log has events that are not in `ready`.
    behind: bool,
    over: bool,
}

impl Follow {
    async fn next(&mut self) -> Option<Item> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.seen = event.seq;
                return Some(Ok(event));
            }
            if self.over {
                return None;
            }
            if self.behind {
                if let Err(error) = self.read_log().await {
                    self.over = true;
                    return Some(Err(StreamFailure::Read(error)));
                }
                continue;
            }
            match self.live.recv().await {
                Ok(Live::Event(event)) if event.seq <= self.seen => {}
                Ok(Live::Event(event)) if event.seq == self.seen + 1 => self.ready.push_back(event),
                // A gap, or we were too slow: the log has it all.
                Ok(Live::Event(_)) | Err(RecvError::Lagged(_)) => self.behind = true,
                Ok(Live::Failed(failure)) => {
                    return Some(Err(StreamFailure::Storage(failure.as_ref().clone())));
                }
                Err(RecvError::Closed) => {
                    self.behind = true;
                    self.over = true;
                    // What was recorded last is still owed.
                    if let Err(error) = self.read_log().await {
                        return Some(Err(StreamFailure::Read(error)));
                    }
                }
            }
        }
    }

    async fn read_log(&mut self) -> Result<(), StoreError> {
        let (store, session, after) = (self.store.clone(), self.session.clone(), self.seen);
        let read = tokio::task::spawn_blocking(move || store.reader(&session)?.events_from(after, PAGE));
        let records = match read.await {
            Ok(records) => records?,
            // The runtime is going away.
            Err(_) => vec![],
        };
        let full = records.len() == PAGE;
        self.ready.extend(records.into_iter().filter_map(Record::event).map(Arc::new));
        self.behind = full;
        Ok(())
    }
}
