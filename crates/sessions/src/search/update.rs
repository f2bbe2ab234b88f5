//! Following the logs.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::SessionId;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::documents::{Documents, is_searched};
use super::{Progress, SearchError, Updated};
use crate::files;
use crate::index::ends_with;
use crate::lines::Lines;
use crate::record;
use crate::store::Store;

/// One transaction takes in about this much, or lasts about this long: another process waits no longer.
const BATCH_BYTES: u64 = 16 << 20;
const BATCH_TIME: Duration = Duration::from_millis(250);

/// A session whose log is longer than what is known of it.
struct Changed {
    id: SessionId,
    length: u64,
}

pub(super) fn update(
    database: &mut Connection,
    store: &Store,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Updated, SearchError> {
    let failed = |source| SearchError::Database { path: "search".to_owned(), source };
    let mut updated = Updated::default();
    let known = known(database).map_err(failed)?;
    let ids: HashSet<SessionId> = store.ids()?.into_iter().collect();
    updated.removed = forget_deleted(database, &known, &ids).map_err(failed)?;

    let mut changed = Vec::new();
    for id in ids {
        // A log that can not be looked at now is looked at next time.
        let Ok(found) = fs::metadata(store.dir(&id).join("events.jsonl")) else { continue };
        let before = known.get(id.as_str()).copied();
        if before != Some(found.len()) {
            changed.push(Changed { length: found.len(), id });
        }
    }
    // Newest first: what people look for most is found soonest.
    changed.sort_by(|a, b| b.id.cmp(&a.id));

    let unread = |changed: &Changed| {
        changed.length.saturating_sub(known.get(changed.id.as_str()).copied().unwrap_or(0))
    };
    let mut state =
        Progress { sessions: changed.len(), bytes: changed.iter().map(unread).sum(), ..Progress::default() };
    let mut next = changed.into_iter().peekable();
    while next.peek().is_some() {
        if progress(state).is_break() {
            updated.cancelled = true;
            return Ok(updated);
        }
        let change = database.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let (started, mut taken) = (Instant::now(), 0);
        while taken < BATCH_BYTES && started.elapsed() < BATCH_TIME {
            let Some(session) = next.peek() else { break };
            let (bytes, finished) = match take_in(&change, store, &session.id, BATCH_BYTES - taken) {
                Ok(done) => done,
                Err(TakeError::Database(source)) => return Err(failed(source)),
                Err(TakeError::Session(why)) => {
                    updated.failed.push((session.id.clone(), why));
                    (0, true)
                }
            };
            taken += bytes;
            state.bytes_done += bytes;
            updated.bytes += bytes;
            if finished {
                state.sessions_done += 1;
                updated.sessions += 1;
                next.next();
            }
        }
        change.commit().map_err(failed)?;
    }
    // The last word: nothing is left to stop.
    let _ = progress(state);
    Ok(updated)
}

fn known(database: &Connection) -> rusqlite::Result<HashMap<String, u64>> {
    let mut statement = database.prepare_cached("select id, offset from sessions")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.max(0) as u64)))?;
    rows.collect()
}

fn forget_deleted(
    database: &mut Connection,
    known: &HashMap<String, u64>,
    ids: &HashSet<SessionId>,
) -> rusqlite::Result<usize> {
    let gone: Vec<&String> =
        known.keys().filter(|id| !id.parse::<SessionId>().is_ok_and(|id| ids.contains(&id))).collect();
    if gone.is_empty() {
        return Ok(0);
    }
    let change = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for id in &gone {
        forget(&change, id)?;
    }
    change.commit()?;
    Ok(gone.len())
}

fn forget(change: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    change.execute(
        "delete from words where rowid in (select d.number from documents d
         join sessions s on s.number = d.session where s.id = ?1)",
        [id],
    )?;
    change.execute(
        "delete from documents where session in (select number from sessions where id = ?1)",
        [id],
    )?;
    change.execute("delete from sessions where id = ?1", [id])?;
    Ok(())
}

enum TakeError {
    Database(rusqlite::Error),
    Session(String),
}

impl From<rusqlite::Error> for TakeError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// Reads on in one session's log; says how much it read and whether that was all.
fn take_in(
    change: &Transaction<'_>,
    store: &Store,
    id: &SessionId,
    budget: u64,
) -> Result<(u64, bool), TakeError> {
    let session = |error: &dyn std::fmt::Display| TakeError::Session(error.to_string());
    let title = store.summary(id).map_err(|error| session(&error))?.title;
    let log = files::open_regular(&store.dir(id).join("events.jsonl")).map_err(|error| session(&error))?;
    let (number, offset, mut seq) = place(change, id, &log)?;

    let mut lines = Lines::new(Arc::new(log), offset);
    let mut documents = Documents::new(change, number);
    let mut scratch = Vec::new();
    let mut reached = offset;
    let finished = loop {
        // Only the end of a whole record is a place to go on from, so damage is read past, however long it is.
        if lines.offset() - offset >= budget && reached > offset {
            break false;
        }
        let Some(line) = lines.next().map_err(|error| session(&error))? else { break true };
        let end = line.offset + line.bytes;
        let Some(body) = line.text.and_then(|text| record::unseal(text).ok()) else { continue };
        let Some(header) = record::header(body) else { continue };
        (reached, seq) = (end, header.seq);
        if is_searched(&header.kind)
            && let Ok(event) = record::decode(line.text.unwrap_or_default(), &mut scratch)
        {
            documents.add(&event)?;
        }
    };
    documents.finish()?;
    change
        .prepare_cached("update sessions set title = ?2, offset = ?3, seq = ?4 where number = ?1")?
        .execute(params![number, title, reached as i64, seq as i64])?;
    Ok((lines.offset() - offset, finished))
}

/// Where to go on; from the beginning when the log is not the one that was read before.
fn place(change: &Transaction<'_>, id: &SessionId, log: &File) -> rusqlite::Result<(i64, u64, u64)> {
    let known = change
        .prepare_cached("select number, offset, seq from sessions where id = ?1")?
        .query_row([id.as_str()], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)? as u64, row.get::<_, i64>(2)? as u64))
        })
        .optional()?;
    if let Some(known) = known {
        if ends_with(log, known.1, known.2) {
            return Ok(known);
        }
        forget(change, id.as_str())?;
    }
    change
        .prepare_cached("insert into sessions (id, title, offset, seq) values (?1, '', 0, 0)")?
        .execute([id.as_str()])?;
    Ok((change.last_insert_rowid(), 0, 0))
}
