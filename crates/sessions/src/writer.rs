//! Appending to a log: one writer per session, for as long as it lives.
//!
//! # Durability
//! An append that returned is in the system's page cache: it survives the end of this process, however it ends.
//! [`Writer::sync`] makes it survive a power cut as well. Whoever owns the writer calls [`Writer::checkpoint`] at turn
//! ends and [`Writer::sync_if_due`] from a tick, so a power cut costs at most the last second.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::{Event, EventBody, SessionId, SessionView, Timestamp, TurnId};

use crate::blobs::Blobs;
use crate::error::{AppendError, StoreError};
use crate::files;
use crate::index::{Index, TurnSpan};
use crate::lock::{Holder, Lock};
use crate::metadata::{Metadata, summary};
use crate::record::{self, MAX_RECORD};
use crate::snapshot::Snapshot;

pub(crate) mod open;

/// What was appended is on the disk itself at most this much later.
const SYNC_AFTER_MS: u64 = 1_000;
/// A snapshot is worth its writing after this much log, or this many events.
const SNAPSHOT_BYTES: u64 = 256 << 10;
const SNAPSHOT_EVENTS: u64 = 512;
/// A turn longer than this has its index written before it ends.
const INDEX_BYTES: u64 = 4 << 20;

/// The one writer of a session. Dropping it frees the session for others.
#[derive(Debug)]
pub struct Writer {
    session: SessionId,
    dir: PathBuf,
    log: Arc<File>,
    /// The log's length, as far as it is known to be good.
    length: u64,
    last_seq: u64,
    /// A write failed and what it left could not be cut off yet.
    ragged: bool,
    buffer: Vec<u8>,
    unsynced_since: Option<Timestamp>,
    names_unsynced: bool,
    index: Index,
    index_file: IndexFile,
    /// The number and place of the last event in the snapshot.
    snapshot: (u64, u64),
    blobs: Blobs,
    lock: Lock,
}

/// The index on disk, as far as this writer has written it.
#[derive(Debug, Default)]
struct IndexFile {
    file: Option<File>,
    length: u64,
    /// How much of the log it covers.
    upto: u64,
}

impl Writer {
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The number of the last event.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Bytes in the log.
    pub fn log_bytes(&self) -> u64 {
        self.length
    }

    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    pub fn turns(&self) -> &[TurnSpan] {
        self.index.turns()
    }

    pub fn holder(&self) -> &Holder {
        &self.lock.holder
    }

    /// Names, in the lock, the socket where others can attach to this session.
    pub fn announce(&mut self, socket: Option<PathBuf>) -> Result<(), StoreError> {
        self.lock.announce(socket).map_err(StoreError::io("write", &self.dir.join("lock")))
    }

    /// Records events, all or none, and returns them with their numbers.
    ///
    /// When it returns, they survive the end of this process. When it fails, the log is as it was before, and the next
    /// append may succeed.
    pub fn append(
        &mut self,
        bodies: Vec<(Option<TurnId>, EventBody)>,
        now: Timestamp,
    ) -> Result<Vec<Arc<Event>>, AppendError> {
        self.buffer.clear();
        let mut events = Vec::with_capacity(bodies.len());
        let mut ends = Vec::with_capacity(bodies.len());
        for (seq, (turn, body)) in (self.last_seq + 1..).zip(bodies) {
            let event = Event::new(seq, now, turn, body);
            let start = self.buffer.len();
            event.write_json(&mut self.buffer);
            record::seal(&mut self.buffer, start);
            let bytes = self.buffer.len() - start;
            if bytes > MAX_RECORD {
                self.buffer = Vec::new();
                return Err(AppendError::TooLarge { kind: event.body.name().to_owned(), bytes });
            }
            ends.push(self.length + self.buffer.len() as u64);
            events.push(Arc::new(event));
        }
        if events.is_empty() {
            return Ok(events);
        }
        self.write().map_err(|source| AppendError::new(&self.session, source))?;
        self.unsynced_since.get_or_insert(now);
        for (event, end) in events.iter().zip(ends) {
            self.note(event, end);
        }
        Ok(events)
    }

    /// Writes the buffer after the last good byte, or leaves the log as it was.
    fn write(&mut self) -> io::Result<()> {
        if self.ragged {
            self.log.set_len(self.length)?;
            self.ragged = false;
        }
        let written = files::write_at(&self.log, &self.buffer, self.length);
        if written.is_err() {
            self.ragged = self.log.set_len(self.length).is_err();
        }
        written
    }

    fn note(&mut self, event: &Event, end: u64) {
        let parent = match &event.body {
            EventBody::TurnStart(start) => start.parent.clone(),
            _ => None,
        };
        let header = record::Header {
            seq: event.seq,
            kind: event.body.name().into(),
            turn: event.turn.as_ref().map(|turn| turn.as_str().into()),
        };
        self.index.push(self.length, end, &header, parent);
        self.length = end;
        self.last_seq = event.seq;
    }

    /// Whether something was appended that a power cut could still take.
    pub fn needs_sync(&self) -> bool {
        self.unsynced_since.is_some()
    }

    /// Syncs if the oldest unsynced append is a second old. For a tick; costs nothing when there is nothing to do.
    pub fn sync_if_due(&mut self, now: Timestamp) -> Result<(), AppendError> {
        match self.unsynced_since {
            Some(since) if now.millis_since(since) >= SYNC_AFTER_MS || now < since => self.sync(),
            _ => Ok(()),
        }
    }

    /// Makes everything appended so far survive a power cut: blobs first, then the events that name them.
    pub fn sync(&mut self) -> Result<(), AppendError> {
        self.try_sync().map_err(|source| AppendError::new(&self.session, source))
    }

    fn try_sync(&mut self) -> io::Result<()> {
        self.blobs.sync()?;
        if self.unsynced_since.is_some() {
            self.log.sync_data()?;
        }
        if self.names_unsynced {
            files::sync_dir(&self.dir)?;
            self.dir.parent().map_or(Ok(()), files::sync_dir)?;
            self.names_unsynced = false;
        }
        self.unsynced_since = None;
        if self.length - self.index_file.upto >= INDEX_BYTES {
            self.write_index()?;
        }
        Ok(())
    }

    /// For a turn's end: syncs, then brings index, snapshot and metadata up to date. `view` is the caller's fold of
    /// everything appended so far.
    ///
    /// What follows the sync are caches: if one can not be written the session is none the worse, so only a failed
    /// sync is an error.
    pub fn checkpoint(&mut self, view: &SessionView) -> Result<(), AppendError> {
        self.sync()?;
        self.write_caches(view, SNAPSHOT_EVENTS, SNAPSHOT_BYTES);
        Ok(())
    }

    /// For the end of the writer's life: a checkpoint with a snapshot in any case.
    pub fn close(mut self, view: &SessionView) -> Result<(), AppendError> {
        self.sync()?;
        self.write_caches(view, 1, 1);
        Ok(())
    }

    fn write_caches(&mut self, view: &SessionView, events: u64, bytes: u64) {
        // Caches: the next checkpoint tries again, and readers do without.
        let _ = self.write_index();
        if view.seq == self.last_seq {
            let (seq, offset) = self.snapshot;
            let due = view.seq.saturating_sub(seq) >= events || self.length.saturating_sub(offset) >= bytes;
            if due && Snapshot::save(&self.dir, view, self.length).is_ok() {
                self.snapshot = (view.seq, self.length);
            }
        }
        let _ = self.write_metadata(view);
    }

    /// Writes what a list shows. For a turn's start, a rename; a checkpoint does it too.
    pub fn write_metadata(&self, view: &SessionView) -> io::Result<()> {
        Metadata { summary: summary(view), log_bytes: self.length }.save(&self.dir)
    }

    fn write_index(&mut self) -> io::Result<()> {
        let state = &mut self.index_file;
        let Some(file) = &state.file else {
            // The old one did not fit, or there is none: a new one takes its place in one step.
            let bytes = self.index.to_file(&self.session);
            let path = self.dir.join("index");
            files::replace(&path, &bytes)?;
            self.index.forget_pending();
            *state = IndexFile {
                file: Some(files::open_or_create(&path)?),
                length: bytes.len() as u64,
                upto: self.index.upto,
            };
            return Ok(());
        };
        let Some(bytes) = self.index.take_pending(state.upto) else { return Ok(()) };
        if let Err(error) = files::write_at(file, &bytes, state.length) {
            // Its lines are gone from memory, so the next time all of it is written.
            state.file = None;
            return Err(error);
        }
        state.length += bytes.len() as u64;
        state.upto = self.index.upto;
        Ok(())
    }

    /// The folder was given its name.
    pub(crate) fn moved_to(&mut self, dir: &Path) {
        self.dir = dir.to_owned();
        self.blobs = Blobs::new(dir);
        self.names_unsynced = true;
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A last chance for what the owner did not sync; there is nobody left to tell.
        let _ = self.try_sync();
        let _ = self.write_index();
    }
}
