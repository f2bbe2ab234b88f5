//! Finding words in all sessions, by a full-text index that can be thrown away.
//!
//! Prompts, answers and tool calls are documents in one SQLite database. It follows the logs by their length: an
//! update reads only what was appended since. When the database is damaged it is deleted and made anew.

use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::time::Duration;

use protocol::{SessionId, Timestamp};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::error::StoreError;
use crate::files;
use crate::store::Store;

mod documents;
mod query;
mod update;

/// Goes up when the tables change: an older database is then made anew.
const VERSION: i64 = 1;

/// The search index over all sessions of a store.
pub struct Search {
    path: PathBuf,
    database: Connection,
}

/// A document that fits a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub session: SessionId,
    pub title: String,
    /// The event where it begins.
    pub seq: u64,
    pub ts: Timestamp,
    pub kind: HitKind,
    /// A part of it.
    pub snippet: String,
    /// What fits the query, as byte ranges of `snippet`.
    pub marks: Vec<Range<usize>>,
    /// Higher is better.
    pub score: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitKind {
    Prompt,
    Answer,
    ToolCall,
}

/// How far an update is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    pub sessions_done: usize,
    /// Of the sessions that changed since the last update.
    pub sessions: usize,
    pub bytes_done: u64,
    pub bytes: u64,
}

/// What an update did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Updated {
    pub sessions: usize,
    pub removed: usize,
    pub bytes: u64,
    /// The caller stopped it; the next update goes on from here.
    pub cancelled: bool,
    /// Sessions that could not be read, and why.
    pub failed: Vec<(SessionId, String)>,
}

#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error("the search index `{path}` could not be used")]
    Database { path: String, source: rusqlite::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Search {
    /// Opens the database at `path`, or makes it.
    pub fn open(path: &Path) -> Result<Self, SearchError> {
        if let Some(folder) = path.parent() {
            files::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        }
        // Made by us and not by SQLite, so that nobody else can read it.
        files::open_or_create(path).map_err(StoreError::io("open", path))?;
        let opened = connect(path).or_else(|error| match is_damage(&error) {
            true => {
                remove(path);
                files::open_or_create(path).map_err(|_| error)?;
                connect(path)
            }
            false => Err(error),
        });
        let database = opened.map_err(|source| failed(path, source))?;
        Ok(Self { path: path.to_owned(), database })
    }

    /// Brings the index up to date with the logs. `progress` is called between steps and may stop it.
    pub fn update(
        &mut self,
        store: &Store,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Updated, SearchError> {
        match update::update(&mut self.database, store, progress) {
            Err(SearchError::Database { source, .. }) if is_damage(&source) => {
                self.rebuild()?;
                update::update(&mut self.database, store, progress)
            }
            done => done,
        }
    }

    /// The best documents for a person's words: all of them must occur, "quoted words" together, and the last word
    /// may be the beginning of one.
    pub fn search(&mut self, query: &str, limit: usize) -> Result<Vec<Hit>, SearchError> {
        let Some(expression) = query::expression(query) else { return Ok(Vec::new()) };
        match query::run(&self.database, &expression, limit) {
            Err(error) if is_damage(&error) => {
                // Nothing is known until the next update, which starts from the logs.
                self.rebuild()?;
                Ok(Vec::new())
            }
            found => found.map_err(|source| failed(&self.path, source)),
        }
    }

    fn rebuild(&mut self) -> Result<(), SearchError> {
        remove(&self.path);
        files::open_or_create(&self.path).map_err(StoreError::io("create", &self.path))?;
        self.database = connect(&self.path).map_err(|source| failed(&self.path, source))?;
        Ok(())
    }
}

fn failed(path: &Path, source: rusqlite::Error) -> SearchError {
    SearchError::Database { path: path.display().to_string(), source }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        // What is not there need not be removed; what can not be removed shows when it is opened.
        let _ = std::fs::remove_file(name);
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut database = Connection::open_with_flags(path, flags)?;
    database.busy_timeout(Duration::from_secs(10))?;
    database.pragma_update(None, "journal_mode", "wal")?;
    // A power cut may cost the newest entries of a cache.
    database.pragma_update(None, "synchronous", "normal")?;
    database.pragma_update(None, "cache_size", -16_384)?;
    if version(&database)? == VERSION {
        return Ok(database);
    }
    let change = database.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Another process may have made the tables while this one waited.
    if version(&change)? != VERSION {
        change.execute_batch(
            "drop table if exists words; drop table if exists documents; drop table if exists sessions;
             create table sessions (
                 number integer primary key, id text not null unique, title text not null,
                 offset integer not null, seq integer not null);
             create table documents (
                 number integer primary key, session integer not null, seq integer not null, ts integer not null,
                 kind integer not null, message text);
             create index documents_message on documents (session, message) where message is not null;
             create index documents_session on documents (session);
             create virtual table words using fts5 (text, tokenize = 'unicode61 remove_diacritics 2');",
        )?;
        change.pragma_update(None, "user_version", VERSION)?;
    }
    change.commit()?;
    Ok(database)
}

fn version(database: &Connection) -> rusqlite::Result<i64> {
    database.pragma_query_value(None, "user_version", |row| row.get(0))
}
