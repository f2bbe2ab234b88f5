//! Reading a log: from any event on, from the end, backwards, or all of it as a stream.
//!
//! Readers take no lock and follow a log while another process appends to it. Whatever is damaged is passed over and
//! reported; a last line that is not finished yet is left alone.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::{Event, SessionId, SessionView};

use crate::blobs::Blobs;
use crate::error::StoreError;
use crate::files;
use crate::index::{Index, TurnSpan};
use crate::lines::{BackLines, Lines, read_range};
use crate::record::{self, Damage, DamageKind, MAX_RECORD};
use crate::snapshot::Snapshot;

/// One call returns no more than about this much of the log, whatever the count asked for.
const PAGE_BYTES: u64 = 16 << 20;
/// An index or snapshot that took this much reading is kept for the next reader.
const WORTH_KEEPING: u64 = 8 << 20;

/// What stands at one place in a log.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    Event(Event),
    Damaged(Damage),
}

impl Record {
    pub fn event(self) -> Option<Event> {
        match self {
            Self::Event(event) => Some(event),
            Self::Damaged(_) => None,
        }
    }
}

/// A session, open for reading.
#[derive(Debug)]
pub struct Reader {
    session: SessionId,
    dir: PathBuf,
    log: Arc<File>,
    index: Option<Index>,
    snapshot_at: (u64, u64),
}

impl Reader {
    pub(crate) fn open(dir: &Path, session: &SessionId) -> Result<Self, StoreError> {
        let path = dir.join("events.jsonl");
        let log = files::open_regular(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::InvalidInput => {
                StoreError::Unusable { session: session.clone(), why: "its log is not a file".to_owned() }
            }
            std::io::ErrorKind::NotFound if !dir.is_dir() => StoreError::NotFound(session.clone()),
            std::io::ErrorKind::NotFound => {
                StoreError::Unusable { session: session.clone(), why: "its log is missing".to_owned() }
            }
            _ => StoreError::io("open", &path)(source),
        })?;
        Ok(Self::with_log(dir, session, Arc::new(log)))
    }

    pub(crate) fn with_log(dir: &Path, session: &SessionId, log: Arc<File>) -> Self {
        Self { session: session.clone(), dir: dir.to_owned(), log, index: None, snapshot_at: (0, 0) }
    }

    pub fn session(&self) -> &SessionId {
        &self.session
    }

    pub fn blobs(&self) -> Blobs {
        Blobs::new(&self.dir)
    }

    /// Bytes in the log now.
    pub fn log_bytes(&self) -> Result<u64, StoreError> {
        self.log.metadata().map(|found| found.len()).map_err(self.failed())
    }

    /// Up to `limit` records after the event `after` (0 for all). Fewer when they are large: go on from the last.
    pub fn events_from(&mut self, after: u64, limit: usize) -> Result<Vec<Record>, StoreError> {
        let mut records = Vec::new();
        let mut stream = self.iter(after)?;
        let mut bytes = 0;
        while records.len() < limit && bytes < PAGE_BYTES {
            let Some(record) = stream.next().transpose()? else { break };
            if matches!(record, Record::Event(_)) {
                bytes += stream.offset() - stream.last_offset();
            }
            records.push(record);
        }
        Ok(records)
    }

    /// The last `count` records, in order. Needs no index. Fewer when they are large.
    pub fn last(&mut self, count: usize) -> Result<Vec<Record>, StoreError> {
        let end = self.log_bytes()?;
        self.backwards(end, count, u64::MAX)
    }

    /// The `count` records before the event `seq`, in order: one page further back. Fewer when they are large.
    pub fn before(&mut self, seq: u64, count: usize) -> Result<Vec<Record>, StoreError> {
        let mut stream = self.iter(seq.saturating_sub(1))?;
        // The place of the event itself; when it is missing, of the next one there is.
        let end = loop {
            match stream.next().transpose()? {
                Some(Record::Event(_)) => break stream.last_offset(),
                Some(Record::Damaged(_)) => {}
                None => break stream.offset(),
            }
        };
        self.backwards(end, count, seq)
    }

    fn backwards(&mut self, end: u64, count: usize, below: u64) -> Result<Vec<Record>, StoreError> {
        let mut lines = BackLines::new(&self.log, end);
        let (mut buffer, mut scratch) = (Vec::new(), Vec::new());
        let mut records = Vec::new();
        let mut held = 0;
        while records.len() < count && held < PAGE_BYTES {
            let Some((range, whole)) = lines.next().map_err(self.failed())? else { break };
            if !whole {
                continue;
            }
            let (offset, bytes) = (range.start, range.end - range.start);
            let decoded = if bytes > MAX_RECORD as u64 {
                Err(DamageKind::TooLong)
            } else {
                let line = read_range(&self.log, range, &mut buffer).map_err(self.failed())?;
                record::decode(line.strip_suffix(b"\n").unwrap_or(line), &mut scratch)
            };
            match decoded {
                Ok(event) if event.seq >= below => {}
                Ok(event) => {
                    held += bytes;
                    records.push(Record::Event(event));
                }
                Err(why) => records.push(Record::Damaged(Damage { offset, bytes, why })),
            }
        }
        records.reverse();
        Ok(records)
    }

    /// Every record after the event `after`, as a stream that can be asked again when the log has grown.
    pub fn iter(&mut self, after: u64) -> Result<Records, StoreError> {
        let from = match after {
            0 => 0,
            _ => self.index()?.locate(after),
        };
        Ok(Records::new(self.log.clone(), from, after, self.dir.join("events.jsonl")))
    }

    /// The turns of the session, in the order they began.
    pub fn turns(&mut self) -> Result<Vec<TurnSpan>, StoreError> {
        let log = self.log.clone();
        let failed = self.failed();
        let index = self.index()?;
        index.extend(&log).map_err(failed)?;
        Ok(index.turns().to_vec())
    }

    /// What the events add up to: the snapshot, if there is one, and what came after it.
    pub fn view(&mut self) -> Result<SessionView, StoreError> {
        let snapshot = Snapshot::load(&self.dir, &self.log);
        let start = snapshot.as_ref().map_or(0, |snapshot| snapshot.offset);
        let mut view = snapshot.map(|snapshot| snapshot.view);
        self.snapshot_at = (view.as_ref().map_or(0, |view| view.seq), start);
        let mut lines = Lines::new(self.log.clone(), start);
        let mut scratch = Vec::new();
        let mut end = start;
        while let Some(line) = lines.next().map_err(self.failed())? {
            let decoded = line.text.map(|text| record::decode_to_fold(text, &mut scratch));
            let Some(Ok(event)) = decoded else { continue };
            view = SessionView::fold(view, [&event]);
            if view.is_none() {
                break;
            }
            end = line.offset + line.bytes;
        }
        let view = view.ok_or_else(|| StoreError::Unusable {
            session: self.session.clone(),
            why: "its log does not begin with `session_start`".to_owned(),
        })?;
        if end - start >= WORTH_KEEPING && Snapshot::save(&self.dir, &view, end).is_ok() {
            self.snapshot_at = (view.seq, end);
        }
        Ok(view)
    }

    pub(crate) fn snapshot_at(&self) -> (u64, u64) {
        self.snapshot_at
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn log(&self) -> &Arc<File> {
        &self.log
    }

    /// The index, read or made. It may end before the log does, but not by much.
    pub(crate) fn index(&mut self) -> Result<&mut Index, StoreError> {
        let failed = self.failed();
        let length = self.log_bytes()?;
        let mut index = match self.index.take() {
            Some(index) => index,
            None => Index::load(&self.dir.join("index"), &self.session, &self.log)
                .map_or_else(Index::default, |(index, _)| index),
        };
        let unread = length.saturating_sub(index.upto);
        if unread > 1 << 20 {
            index.extend(&self.log).map_err(failed)?;
            index.forget_pending();
        }
        if unread >= WORTH_KEEPING {
            // A cache that checks itself against the log: it may be written without the lock, or not at all.
            let _ = files::replace(&self.dir.join("index"), &index.to_file(&self.session));
        }
        Ok(self.index.insert(index))
    }

    fn failed(&self) -> impl Fn(std::io::Error) -> StoreError + use<> {
        let path = self.dir.join("events.jsonl");
        move |source| StoreError::io("read", &path)(source)
    }
}

/// A stream of records. Not fused: after `None` it may be asked again, and goes on if the log has grown.
pub struct Records {
    lines: Lines,
    after: u64,
    /// The number of the last event on the way to `after`.
    passed: u64,
    last_offset: u64,
    scratch: Vec<u8>,
    path: PathBuf,
}

impl Records {
    fn new(log: Arc<File>, from: u64, after: u64, path: PathBuf) -> Self {
        Self { lines: Lines::new(log, from), after, passed: 0, last_offset: from, scratch: Vec::new(), path }
    }

    /// Where the next record begins.
    pub fn offset(&self) -> u64 {
        self.lines.offset()
    }

    /// Where the last record that was given out begins.
    pub fn last_offset(&self) -> u64 {
        self.last_offset
    }
}

impl Iterator for Records {
    type Item = Result<Record, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.lines.next() {
                Ok(line) => line?,
                Err(source) => return Some(Err(StoreError::io("read", &self.path)(source))),
            };
            let (offset, bytes) = (line.offset, line.bytes);
            // On the way from a mark to the place asked for, events need not be read in full.
            if self.passed < self.after {
                match line.text.and_then(crate::index::sealed_seq) {
                    Some(seq) if seq <= self.after => {
                        self.passed = seq;
                        continue;
                    }
                    Some(_) => {}
                    // Damage stands for one event that can not be read.
                    None => {
                        self.passed += 1;
                        continue;
                    }
                }
            }
            let decoded = match line.text {
                None => Err(DamageKind::TooLong),
                Some(text) => record::decode(text, &mut self.scratch),
            };
            self.last_offset = offset;
            return match decoded {
                Ok(event) => {
                    self.passed = self.after;
                    Some(Ok(Record::Event(event)))
                }
                Err(why) => Some(Ok(Record::Damaged(Damage { offset, bytes, why }))),
            };
        }
    }
}
