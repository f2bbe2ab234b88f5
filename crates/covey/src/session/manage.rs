//! `covey session fork`, `rename`, `delete`.

use protocol::{SessionId, Timestamp};
use serde_json::json;
use sessions::Store;

use super::one_session;
use crate::exit::{Exit, Failure};
use crate::terminal::{one_line, print};

pub(super) fn fork(store: &Store, query: &str, at: Option<u64>, json: bool) -> Result<Exit, Failure> {
    let session = one_session(store, query)?;
    let now = Timestamp::now();
    let new = SessionId::new(now, engine::random());
    let opened = store.fork(&session, at, new.clone(), now)?;
    let (last, view) = (opened.writer.last_seq(), opened.view.clone());
    opened.writer.close(&view).map_err(sessions::StoreError::from)?;
    match json {
        true => print(&format!("{}\n", json!({"session": new, "forked_from": session, "seq": last})))?,
        false => print(&format!("{new}\n"))?,
    }
    Ok(Exit::Done)
}

pub(super) fn rename(store: &Store, query: &str, title: &str, json: bool) -> Result<Exit, Failure> {
    let title = one_line(title, 200);
    if title.is_empty() {
        return Err(Failure::usage("the title is empty"));
    }
    let session = one_session(store, query)?;
    store.rename(&session, &title, Timestamp::now())?;
    match json {
        true => print(&format!("{}\n", json!({"session": session, "title": title})))?,
        false => print(&format!("{session}  {title}\n"))?,
    }
    Ok(Exit::Done)
}

pub(super) fn delete(store: &Store, queries: &[String], json: bool) -> Result<Exit, Failure> {
    // All are found before one is gone, so that a typing error removes nothing.
    let sessions: Vec<SessionId> =
        queries.iter().map(|query| one_session(store, query)).collect::<Result<_, _>>()?;
    let mut sessions = sessions;
    sessions.sort();
    sessions.dedup();
    for session in &sessions {
        store.delete(session, Timestamp::now())?;
        if !json {
            print(&format!("deleted {session}\n"))?;
        }
    }
    if json {
        print(&format!("{}\n", json!({"deleted": sessions})))?;
    }
    Ok(Exit::Done)
}
