//! Event logs on disk: write, read, repair, search, export, replay.
//!
//! A session is a folder with an append-only log of numbered events, `events.jsonl`. The log is the truth; everything
//! beside it (`index`, `snapshot`, `metadata.json`, the search database) is a cache that checks itself against the log
//! and is made anew from it. Start with [`Store`], then [`Writer`] and [`Reader`].
//!
//! # What is promised
//! - An append that returned survives the end of the process, `kill -9` included. At the latest a second later, and
//!   at each turn's end, it survives a power cut too: whoever owns a [`Writer`] calls [`Writer::checkpoint`] and
//!   [`Writer::sync_if_due`].
//! - A crash costs at most the record that was being written. What it left is cut off, kept aside and reported when
//!   the session is next opened for writing, and the log itself records that ([`protocol::Repair`]).
//! - A damaged record in the middle costs that record. Readers pass over it and say so.
//! - One writer at a time, by a lock that the system frees; readers need none.
//! - Memory is bounded by the page asked for, never by the log.
//! - Files are 0600 and folders 0700.
//!
//! Left to others: what the events mean (`protocol`), when to write them (`engine`). Nothing here is async; callers run
//! it on threads of their own.

mod blobs;
mod conversation;
mod error;
mod export;
mod files;
mod index;
mod lines;
mod lock;
mod metadata;
mod player;
mod reader;
mod record;
mod search;
mod snapshot;
mod store;
mod tail;
mod text;
mod unfinished;
mod usage_log;
mod verify;
mod writer;

pub use blobs::{BlobError, Blobs};
pub use error::{AppendError, StoreError};
pub use export::{ExportError, Format, export};
pub use index::TurnSpan;
pub use lock::Holder;
pub use metadata::summary;
pub use player::{Filter, Player, Timed};
pub use reader::{Reader, Record, Records};
pub use record::{Damage, DamageKind, MAX_RECORD};
pub use search::{Hit, HitKind, Progress, Search, SearchError, Updated};
pub use store::{Found, ListOptions, Listing, Store, Unreadable};
pub use unfinished::{OpenEnd, Unfinished, unfinished};
pub use usage_log::{UsageEntry, UsageLog};
pub use verify::{CacheState, DamagedRecord, Report};
pub use writer::Writer;
pub use writer::open::Opened;
