//! The list of sessions as one state with a version, kept up to date for any number of subscribers.
//!
//! One task follows the engine's list. Each change makes one patch, written once and shared by all who watch. A
//! subscriber gets the state and the version it has in one step; one that falls behind gets the state again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use client::Client;
use futures::StreamExt;
use protocol::{ListChange, SessionId, SessionSummary};
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// Patches that a subscriber may be behind before it is sent everything again.
const KEPT: usize = 256;
/// Before the list is asked for again when it broke.
const PAUSE: Duration = Duration::from_secs(1);

/// What all subscribers are told.
#[derive(Debug)]
pub(crate) enum RosterChange {
    Patch {
        base: u64,
        version: u64,
        patch: Value,
    },
    /// Too much changed to patch.
    Reset,
}

pub(crate) struct Roster {
    state: Mutex<State>,
    changes: broadcast::Sender<Arc<RosterChange>>,
}

#[derive(Default)]
struct State {
    version: u64,
    sessions: BTreeMap<SessionId, SessionSummary>,
}

impl Roster {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), changes: broadcast::channel(KEPT).0 }
    }

    /// The state, its version, and everything that comes after it.
    pub(crate) fn watch(&self) -> (Value, u64, broadcast::Receiver<Arc<RosterChange>>) {
        let state = self.lock();
        (state.value(), state.version, self.changes.subscribe())
    }

    /// The state again, for somebody who missed changes.
    pub(crate) fn state(&self) -> (Value, u64) {
        let state = self.lock();
        (state.value(), state.version)
    }

    /// Follows the list for as long as it is polled.
    pub(crate) async fn follow(&self, client: &dyn Client) {
        loop {
            if let Ok(mut changes) = client.sessions().await {
                while let Some(Ok(change)) = changes.next().await {
                    self.apply(change);
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    fn apply(&self, change: ListChange) {
        let mut state = self.lock();
        let base = state.version;
        let patch = match change {
            ListChange::All(sessions) => {
                state.sessions =
                    sessions.into_iter().map(|summary| (summary.session.clone(), summary)).collect();
                None
            }
            ListChange::Put(summary) => {
                let path = format!("/sessions/{}", summary.session);
                let value = serde_json::to_value(&summary).unwrap_or_default();
                let known = state.sessions.insert(summary.session.clone(), *summary).is_some();
                Some(json!([{"op": if known { "replace" } else { "add" }, "path": path, "value": value}]))
            }
            ListChange::Gone(session) => match state.sessions.remove(&session) {
                Some(_) => Some(json!([{"op": "remove", "path": format!("/sessions/{session}")}])),
                None => return,
            },
        };
        state.version += 1;
        let version = state.version;
        let change = match patch {
            Some(patch) => RosterChange::Patch { base, version, patch },
            None => RosterChange::Reset,
        };
        // Sent under the lock, so that a subscriber has either the change in its state or the patch, never both. Nobody
        // watching is no error.
        let _ = self.changes.send(Arc::new(change));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn value(&self) -> Value {
        json!({"sessions": self.sessions})
    }
}
