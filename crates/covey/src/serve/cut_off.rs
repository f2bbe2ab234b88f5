//! Turns that ended with the server and not by themselves: the next run takes them up.
//!
//! A session that works has a note in a folder; the note goes when the turn is over. What a crash or a restart leaves
//! behind is what was cut off. A turn is taken up once: one that takes the server down with it does so twice at most.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use engine::Engine;
use futures::StreamExt;
use project::{create_private_dir, write_private_atomic};
use protocol::{
    Content, EventBody, ItemBody, Limits, ListChange, Op, Reply, Request, SessionId, SessionStatus,
    SessionSummary, StopCause, TurnEnd,
};
use sessions::{Record, Store, StoreError};

use crate::terminal::tell;

/// What is older is not what anybody waits for.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);
const FIRST: &[u8] = b"first\n";
const AGAIN: &[u8] = b"again\n";
const GO_ON: &str =
    "The server was stopped in the middle of your last turn and runs again. Go on where you left off.";

pub(super) struct CutOff {
    folder: PathBuf,
    store: Store,
    /// Sessions of an earlier run that go on in this one.
    again: HashSet<SessionId>,
    working: HashSet<SessionId>,
}

impl CutOff {
    /// Takes the notes of runs that are over.
    pub(super) fn found(data: &Path, store: Store) -> Self {
        let folder = data.join("serving");
        let mut again = HashSet::new();
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let session = entry.file_name().to_str().and_then(|name| name.parse::<SessionId>().ok());
            // Another server works on it at this very moment.
            if session.as_ref().is_some_and(|session| store.holder_of(session).is_some()) {
                continue;
            }
            let made = entry.metadata().and_then(|about| about.modified());
            let age = made.map(|made| SystemTime::now().duration_since(made).unwrap_or_default());
            let fresh = age.is_ok_and(|age| age < FRESH);
            let first = fs::read(entry.path()).is_ok_and(|text| text == FIRST);
            // Another server would take it up again. One that can not be removed would be taken up for ever.
            if fs::remove_file(entry.path()).is_ok() && fresh && first {
                again.extend(session);
            }
        }
        Self { folder, store, again, working: HashSet::new() }
    }

    /// Has the sessions go on, then keeps notes until it is dropped.
    pub(super) async fn watch(mut self, engine: Engine) {
        let mut changes = engine.sessions();
        for session in &self.again {
            if !was_cut_off(&engine, session).await {
                continue;
            }
            let goes_on = match asked(&self.store, session) {
                Ok(Some(Asked { limits, attended })) => {
                    let (session, prompt) = (session.clone(), vec![Content::text(GO_ON)]);
                    let start = Op::StartTurn { session, prompt, key: None, limits, attended };
                    engine.submit(start).await.map(drop).map_err(|error| error.to_string())
                }
                Ok(None) => Err("it had used up what it was given".to_owned()),
                Err(error) => Err(error.to_string()),
            };
            if let Err(why) = goes_on {
                tell(&format!("warning: a turn that was cut off could not go on: {why}\n"));
            }
        }
        while let Some(change) = changes.next().await {
            match change {
                Ok(ListChange::All(all)) => all.iter().for_each(|one| self.note(one)),
                Ok(ListChange::Put(one)) => self.note(&one),
                Ok(ListChange::Gone(session)) => self.over(&session),
                Err(_) => return,
            }
        }
    }

    fn note(&mut self, one: &SessionSummary) {
        let works = matches!(one.status, SessionStatus::Running | SessionStatus::Waiting);
        if !works {
            self.over(&one.session);
        } else if !self.working.contains(&one.session) && self.is_ours(&one.session) {
            self.working.insert(one.session.clone());
            let text = if self.again.contains(&one.session) { AGAIN } else { FIRST };
            let file = self.folder.join(one.session.as_str());
            let kept = create_private_dir(&self.folder).and_then(|()| write_private_atomic(&file, text));
            if let Err(error) = kept {
                tell(&format!("warning: what a restart cuts off will not go on by itself: {error}\n"));
            }
        }
    }

    /// The list has sessions of other processes too; what these do when they end is their affair.
    fn is_ours(&self, session: &SessionId) -> bool {
        self.store.holder_of(session).is_some_and(|holder| holder.pid == std::process::id())
    }

    fn over(&mut self, session: &SessionId) {
        if self.working.remove(session) {
            self.again.remove(session);
            // Without it there is nothing to take up.
            let _ = fs::remove_file(self.folder.join(session.as_str()));
        }
    }
}

/// How a turn was started.
struct Asked {
    limits: Limits,
    attended: bool,
}

/// How the last turn was started, with what it has left of its limits; none when that is nothing.
fn asked(store: &Store, session: &SessionId) -> Result<Option<Asked>, StoreError> {
    let mut reader = store.reader(session)?;
    let span = reader.turns()?.into_iter().rev().find(|span| span.parent.is_none());
    let Some(span) = span else { return Ok(Some(Asked { limits: Limits::default(), attended: true })) };
    let mut at = |seq: Option<u64>| -> Result<Option<EventBody>, StoreError> {
        let Some(before) = seq.and_then(|seq| seq.checked_sub(1)) else { return Ok(None) };
        let records = reader.events_from(before, 1)?;
        Ok(records.into_iter().find_map(Record::event).map(|event| event.body))
    };
    let (limits, attended) = match at(Some(span.first))? {
        Some(EventBody::TurnStart(start)) => {
            (start.limits.unwrap_or_default(), start.attended.unwrap_or(true))
        }
        _ => (Limits::default(), true),
    };
    let limits = match at(span.last)? {
        Some(EventBody::TurnEnd(end)) => left(&limits, &end),
        _ => Some(limits),
    };
    Ok(limits.map(|limits| Asked { limits, attended }))
}

/// What is left of limits; none when one of them is used up. Time begins anew: how much of it was work is not known.
fn left(limits: &Limits, used: &TurnEnd) -> Option<Limits> {
    let steps = limits.max_steps.map(|most| most.saturating_sub(used.steps));
    let tokens = limits.max_tokens.map(|most| most.saturating_sub(used.usage.total()));
    let cost = limits.max_cost_usd.map(|most| most - used.usage.cost_usd.unwrap_or_default());
    let is_spent = steps == Some(0) || tokens == Some(0) || cost.is_some_and(|left| left <= 0.0);
    let timeout_ms = limits.timeout_ms;
    (!is_spent).then_some(Limits { max_steps: steps, timeout_ms, max_tokens: tokens, max_cost_usd: cost })
}

/// A turn may have come to its end when there was no time left to take its note away.
async fn was_cut_off(engine: &Engine, session: &SessionId) -> bool {
    let Ok(Reply::Session(view)) = engine.read(Request::Session { session: session.clone() }).await else {
        return false;
    };
    let last = view.items.iter().rev().find_map(|item| match &item.body {
        ItemBody::TurnEnd { cause, .. } => Some(*cause == Some(StopCause::Interrupted)),
        // It has no end yet.
        ItemBody::Prompt { .. } => Some(true),
        _ => None,
    });
    last.unwrap_or(false)
}
