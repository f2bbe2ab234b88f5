//! What a session does for the agent of one of its turns.

use std::path::PathBuf;
use std::sync::Arc;

use agents::{Answer, Child, ChildEnd, HistoryError, HookAnswer, HookCall, Question, Services};
use futures::FutureExt;
use futures::future::BoxFuture;
use guard::Guard;
use project::Host;
use protocol::{BlobRef, Event, EventBody, SessionId, Stop, TurnId, Usage};
use sessions::{Record, Store};
use tokio::sync::{mpsc, oneshot};

use super::hooks::Hooks;

/// No blob is handed to an agent above this size.
const MAX_BLOB: u64 = 32 << 20;
/// Records read at a time on the way back through a log.
const PAGE: usize = 512;

pub(super) struct SessionServices {
    pub(super) turn: TurnId,
    /// The last event before the agent started: what it must not remember is its own prompt.
    pub(super) upto: u64,
    /// Questions go the way that updates go, so that they are recorded after what was said before them.
    pub(super) asks: mpsc::Sender<Asked>,
    /// Children go the same way.
    pub(super) children: mpsc::Sender<ChildAsked>,
    pub(super) host: Arc<dyn Host>,
    pub(super) guard: Arc<Guard>,
    pub(super) hooks: Arc<Hooks>,
    pub(super) store: Store,
    pub(super) session: SessionId,
}

/// A question, and where its answer goes.
pub(super) struct Asked {
    pub(super) question: Question,
    pub(super) reply: oneshot::Sender<Answer>,
}

/// A child turn to be started, and where its end is told.
pub(super) struct ChildAsked {
    pub(super) child: Child,
    pub(super) reply: oneshot::Sender<ChildEnd>,
}

impl Services for SessionServices {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        async move {
            let (reply, answer) = oneshot::channel();
            if self.asks.send(Asked { question, reply }).await.is_err() {
                return Answer::Cancelled;
            }
            answer.await.unwrap_or(Answer::Cancelled)
        }
        .boxed()
    }

    fn child(&self, child: Child) -> BoxFuture<'_, ChildEnd> {
        async move {
            let gone =
                || ChildEnd { stop: Stop::Cancelled, said: String::new(), usage: Usage::default(), steps: 0 };
            let (reply, end) = oneshot::channel();
            if self.children.send(ChildAsked { child, reply }).await.is_err() {
                return gone();
            }
            end.await.unwrap_or_else(|_| gone())
        }
        .boxed()
    }

    fn host(&self) -> Arc<dyn Host> {
        self.host.clone()
    }

    fn guard(&self) -> Arc<Guard> {
        self.guard.clone()
    }

    fn has_hooks(&self) -> bool {
        !self.hooks.is_empty()
    }

    fn hook(&self, call: HookCall) -> BoxFuture<'_, HookAnswer> {
        if !self.hooks.listen_to(call.on) {
            return std::future::ready(HookAnswer::default()).boxed();
        }
        self.hooks.run(Some(&self.turn), call).boxed()
    }

    fn folder(&self) -> PathBuf {
        self.store.dir(&self.session)
    }

    fn history(&self, max_bytes: u64) -> BoxFuture<'_, Result<Vec<Event>, HistoryError>> {
        let (store, session, turn, upto) =
            (self.store.clone(), self.session.clone(), self.turn.clone(), self.upto);
        async move {
            let read = tokio::task::spawn_blocking(move || history(&store, &session, &turn, upto, max_bytes));
            match read.await {
                Ok(events) => events.map_err(|error| HistoryError(error.to_string())),
                Err(error) => Err(HistoryError(error.to_string())),
            }
        }
        .boxed()
    }

    fn blob(&self, blob: &BlobRef) -> Option<Vec<u8>> {
        self.store.reader(&self.session).ok()?.blobs().get(blob, MAX_BLOB).ok()
    }
}

/// Reads backwards until the budget is spent, then drops what is left of a turn that is not there from its start.
fn history(
    store: &Store,
    session: &SessionId,
    turn: &TurnId,
    upto: u64,
    max_bytes: u64,
) -> Result<Vec<Event>, sessions::StoreError> {
    let mut reader = store.reader(session)?;
    let mut newest_first: Vec<Event> = Vec::new();
    let (mut before, mut bytes, mut whole) = (upto + 1, 0u64, true);
    'log: loop {
        let page = reader.before(before, PAGE)?;
        let events: Vec<Event> = page.into_iter().filter_map(Record::event).collect();
        let Some(first) = events.iter().map(|event| event.seq).min() else { break };
        before = first;
        for event in events.into_iter().rev() {
            bytes += event.to_json().len() as u64;
            if bytes > max_bytes {
                whole = false;
                break 'log;
            }
            newest_first.push(event);
        }
    }
    newest_first.reverse();
    let mut events = newest_first;
    if !whole {
        let start = events.iter().position(|event| matches!(event.body, EventBody::UserPrompt(_)));
        events.drain(..start.unwrap_or(events.len()));
    }
    events.retain(|event| event.turn.as_ref() != Some(turn));
    Ok(events)
}
