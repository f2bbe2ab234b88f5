//! All sessions, newest first, from their metadata.

use std::fs;
use std::io;
use std::path::Path;

use protocol::{SessionId, SessionStatus, SessionSummary};

use super::Store;
use crate::error::StoreError;
use crate::lock::Holder;
use crate::metadata::{Metadata, summary};
use crate::reader::Reader;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListOptions {
    /// Only sessions that work in this folder.
    pub cwd: Option<String>,
    /// At most this many.
    pub limit: Option<usize>,
}

/// Sessions, the one that was used last first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Listing {
    pub sessions: Vec<SessionSummary>,
    /// Folders that look like sessions but can not be read. Never hidden, so that nothing is lost unseen.
    pub unreadable: Vec<Unreadable>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Unreadable {
    pub session: SessionId,
    pub why: String,
}

/// Fewer sessions than this are not worth a second thread.
const PARALLEL_FROM: usize = 512;

impl Store {
    /// Lists sessions. Reads one small file each; a session whose metadata is missing, damaged or behind is summed up
    /// from its log, and the metadata written again.
    pub fn list(&self, options: &ListOptions) -> Result<Listing, StoreError> {
        let ids = self.ids()?;
        let threads = match ids.len() {
            0..PARALLEL_FROM => 1,
            _ => std::thread::available_parallelism().map_or(1, usize::from).min(8),
        };
        let mut listing = Listing::default();
        std::thread::scope(|scope| {
            let parts = ids.chunks(ids.len().div_ceil(threads).max(1));
            let workers: Vec<_> = parts.map(|part| scope.spawn(|| self.list_some(part, options))).collect();
            for worker in workers {
                if let Ok(mut part) = worker.join() {
                    listing.sessions.append(&mut part.sessions);
                    listing.unreadable.append(&mut part.unreadable);
                }
            }
        });
        listing.sessions.sort_by(|a, b| b.updated.cmp(&a.updated).then_with(|| b.session.cmp(&a.session)));
        listing.sessions.truncate(options.limit.unwrap_or(usize::MAX));
        listing.unreadable.sort_by(|a, b| b.session.cmp(&a.session));
        Ok(listing)
    }

    fn list_some(&self, ids: &[SessionId], options: &ListOptions) -> Listing {
        let mut listing = Listing::default();
        for id in ids {
            match self.summary(id) {
                Ok(summary) if options.cwd.as_ref().is_none_or(|cwd| *cwd == summary.cwd) => {
                    listing.sessions.push(summary);
                }
                Ok(_) => {}
                // Deleted since the folder was listed.
                Err(StoreError::NotFound(_)) => {}
                Err(error) => {
                    listing.unreadable.push(Unreadable { session: id.clone(), why: error.to_string() });
                }
            }
        }
        listing
    }

    /// What a list shows of one session.
    pub fn summary(&self, session: &SessionId) -> Result<SessionSummary, StoreError> {
        let dir = self.dir(session);
        let length = match fs::metadata(dir.join("events.jsonl")) {
            Ok(found) => found.len(),
            Err(_) => Reader::open(&dir, session)?.log_bytes()?,
        };
        let mut summary = match Metadata::load(&dir) {
            Ok(known) if known.log_bytes == length && known.summary.session == *session => known.summary,
            _ => rebuilt(&dir, session)?,
        };
        let busy = matches!(summary.status, SessionStatus::Running | SessionStatus::Waiting);
        if busy && !Holder::read(&dir).is_some_and(|holder| holder.seems_alive()) {
            // It was running when its process died.
            summary.status = SessionStatus::Idle;
        }
        Ok(summary)
    }

    /// The ids of all sessions, in no order. No file is read.
    pub fn ids(&self) -> Result<Vec<SessionId>, StoreError> {
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(StoreError::io("list", &self.root))?,
        };
        let mut ids = Vec::new();
        for entry in entries {
            let entry = entry.map_err(StoreError::io("list", &self.root))?;
            // Anything else in the folder is not ours.
            ids.extend(entry.file_name().to_str().and_then(|name| name.parse::<SessionId>().ok()));
        }
        Ok(ids)
    }
}

fn rebuilt(dir: &Path, session: &SessionId) -> Result<SessionSummary, StoreError> {
    let mut reader = Reader::open(dir, session)?;
    // Asked for before the log is read: if it grows meanwhile, the metadata says so by its length.
    let log_bytes = reader.log_bytes()?;
    let metadata = Metadata { summary: summary(&reader.view()?), log_bytes };
    // A cache that is checked when it is read: without the lock, and not at all where nothing may be written.
    let _ = metadata.save(dir);
    Ok(metadata.summary)
}
