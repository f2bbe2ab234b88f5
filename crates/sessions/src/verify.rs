//! Is a session whole? Reads every byte of it and changes nothing.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use protocol::{BlobId, BlobRef, EventBody, Repair, SessionId};

use crate::blobs::BlobError;
use crate::error::StoreError;
use crate::index::Index;
use crate::lines::Lines;
use crate::metadata::Metadata;
use crate::reader::Reader;
use crate::record::{self, DamageKind};
use crate::snapshot::Snapshot;
use crate::text::blobs_of;

/// No more than this many findings of one kind are listed; the counts are exact.
const LISTED: usize = 1000;

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// Whole records.
    pub events: u64,
    pub bytes: u64,
    /// Lines that are no records. The first 1,000; `damaged_count` has all.
    pub damaged: Vec<DamagedRecord>,
    pub damaged_count: u64,
    /// Numbers that are missing between two records.
    pub gaps: Vec<RangeInclusive<u64>>,
    /// Numbers that come twice, or after a higher one.
    pub duplicates: Vec<u64>,
    /// Repairs that the log itself tells of.
    pub repairs: Vec<Repair>,
    /// Bytes after the last line break: a record that was cut off, or is being written now.
    pub torn_tail: u64,
    pub starts_well: bool,
    pub missing_blobs: Vec<BlobId>,
    pub damaged_blobs: Vec<BlobId>,
    pub index: CacheState,
    pub snapshot: CacheState,
    pub metadata: CacheState,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DamagedRecord {
    pub offset: u64,
    pub bytes: u64,
    /// The number it should have had, when its neighbours tell.
    pub seq: Option<u64>,
    pub why: DamageKind,
}

/// How a cache beside the log is. None of these loses anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CacheState {
    #[default]
    Missing,
    /// Damaged, or of another log; made anew when needed.
    Unusable,
    /// Right, but the log has grown since.
    Behind,
    Current,
}

impl Report {
    /// Whether nothing is lost or wrong. Caches do not count: they are made anew.
    pub fn is_sound(&self) -> bool {
        self.starts_well
            && self.damaged_count == 0
            && self.gaps.is_empty()
            && self.duplicates.is_empty()
            && self.torn_tail == 0
            && self.missing_blobs.is_empty()
            && self.damaged_blobs.is_empty()
    }
}

pub(crate) fn verify(dir: &Path, session: &SessionId) -> Result<Report, StoreError> {
    let reader = Reader::open(dir, session)?;
    let mut report = Report { bytes: reader.log_bytes()?, ..Report::default() };
    let blobs = read_log(&reader, session, &mut report)?;
    check_blobs(&reader, blobs, &mut report)?;
    check_caches(&reader, dir, session, &mut report);
    Ok(report)
}

fn read_log(
    reader: &Reader,
    session: &SessionId,
    report: &mut Report,
) -> Result<HashMap<BlobId, BlobRef>, StoreError> {
    let path = reader.dir().join("events.jsonl");
    let mut lines = Lines::new(Arc::clone(reader.log()), 0).until(report.bytes);
    let mut scratch = Vec::new();
    let mut blobs = HashMap::new();
    let mut last = 0u64;
    // Damaged lines since the last whole record: they account for missing numbers.
    let mut damaged_since = 0u64;
    while let Some(line) = lines.next().map_err(StoreError::io("read", &path))? {
        let decoded = match line.text {
            None => Err(DamageKind::TooLong),
            Some(text) => record::decode(text, &mut scratch),
        };
        let event = match decoded {
            Ok(event) => event,
            Err(why) => {
                damaged_since += 1;
                report.damaged_count += 1;
                if report.damaged.len() < LISTED {
                    let seq = Some(last + damaged_since);
                    report.damaged.push(DamagedRecord { offset: line.offset, bytes: line.bytes, seq, why });
                }
                continue;
            }
        };
        if report.events == 0 {
            report.starts_well =
                matches!(&event.body, EventBody::SessionStart(start) if start.session == *session);
        }
        report.events += 1;
        if event.seq <= last {
            listed(&mut report.duplicates, event.seq);
        } else {
            if event.seq > last + 1 {
                listed(&mut report.gaps, last + 1..=event.seq - 1);
            }
            last = event.seq;
        }
        damaged_since = 0;
        for blob in blobs_of(&event.body) {
            blobs.entry(blob.hash.clone()).or_insert_with(|| blob.clone());
        }
        if let EventBody::Repair(repair) = event.body {
            listed(&mut report.repairs, repair);
        }
    }
    report.torn_tail = report.bytes - lines.offset();
    Ok(blobs)
}

fn listed<T>(list: &mut Vec<T>, item: T) {
    if list.len() < LISTED {
        list.push(item);
    }
}

fn check_blobs(
    reader: &Reader,
    referenced: HashMap<BlobId, BlobRef>,
    report: &mut Report,
) -> Result<(), StoreError> {
    let blobs = reader.blobs();
    for (id, blob) in referenced {
        match blobs.check(&blob) {
            Ok(()) => {}
            Err(BlobError::Missing(_)) => report.missing_blobs.push(id),
            Err(BlobError::Damaged(_) | BlobError::TooLarge { .. }) => report.damaged_blobs.push(id),
            Err(BlobError::Io { source, .. }) => {
                return Err(StoreError::io("read", &reader.dir().join("blobs"))(source));
            }
        }
    }
    report.missing_blobs.sort();
    report.damaged_blobs.sort();
    Ok(())
}

fn check_caches(reader: &Reader, dir: &Path, session: &SessionId, report: &mut Report) {
    let whole = report.bytes - report.torn_tail;
    let state = |name: &str, reaches: Option<u64>| match reaches {
        Some(offset) if offset == whole => CacheState::Current,
        Some(_) => CacheState::Behind,
        None if dir.join(name).exists() => CacheState::Unusable,
        None => CacheState::Missing,
    };
    let index = Index::load(&dir.join("index"), session, reader.log()).map(|(index, _)| index.upto);
    report.index = state("index", index);
    report.snapshot = state("snapshot", Snapshot::load(dir, reader.log()).map(|snapshot| snapshot.offset));
    report.metadata = state("metadata.json", Metadata::load(dir).ok().map(|metadata| metadata.log_bytes));
}
