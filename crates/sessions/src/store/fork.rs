//! A second session that begins as a copy of the first.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use protocol::{Event, EventBody, ForkPoint, SessionId, SessionStart, Timestamp};

use super::Store;
use crate::error::{AppendError, StoreError};
use crate::files;
use crate::reader::{Reader, Record};
use crate::record;
use crate::unfinished::unfinished;
use crate::writer::Writer;
use crate::writer::open::Opened;

impl Store {
    /// Copies a session up to and including the event `at` (all of it by default) into a new one, ready to be written
    /// to. The parent is only read, so it may be in use.
    ///
    /// The copy has a `session_start` of its own as its first event, which names the parent. Every record after it is
    /// the parent's, byte for byte and with its number. What is open at the cut is then closed by new records.
    pub fn fork(
        &self,
        session: &SessionId,
        at: Option<u64>,
        new: SessionId,
        now: Timestamp,
    ) -> Result<Opened, StoreError> {
        let mut parent = self.reader(session)?;
        let (start, first_end) = start_of(&mut parent)?;
        let cut = cut_of(&mut parent, at)?;
        let start = SessionStart {
            session: new.clone(),
            forked_from: Some(ForkPoint { session: session.clone(), seq: cut.seq }),
            ..start
        };
        let mut opened = self.appear(&new, |dir| {
            copy(&parent, first_end..cut.end, dir, start, now)?;
            parent.blobs().share_with(&crate::blobs::Blobs::new(dir)).map_err(StoreError::io("copy", dir))?;
            Writer::open(dir, &new, self.holder(now), now)
        })?;
        let closing = unfinished(&opened.view).closing_records(now);
        for event in opened.writer.append(closing, now)? {
            opened.view.apply(&event);
        }
        opened.writer.checkpoint(&opened.view)?;
        Ok(opened)
    }
}

/// The place where a copy ends.
struct Cut {
    seq: u64,
    end: u64,
}

fn start_of(parent: &mut Reader) -> Result<(SessionStart, u64), StoreError> {
    let mut records = parent.iter(0)?;
    if let Some(Record::Event(Event { body: EventBody::SessionStart(start), .. })) =
        records.next().transpose()?
    {
        return Ok((start, records.offset()));
    }
    let why = "its log does not begin with `session_start`".to_owned();
    Err(StoreError::Unusable { session: parent.session().clone(), why })
}

fn cut_of(parent: &mut Reader, at: Option<u64>) -> Result<Cut, StoreError> {
    let length = parent.log_bytes()?;
    let last =
        crate::tail::last_record(parent.log(), length).map_err(StoreError::io("read", parent.dir()))?;
    let (last, end) = last.map_or((0, 0), |last| (last.event.seq, last.end));
    let seq = match at {
        None => return Ok(Cut { seq: last, end }),
        Some(seq) => seq,
    };
    let missing = || StoreError::NoSuchEvent { session: parent.session().clone(), seq, last };
    if seq == 0 || seq > last {
        return Err(missing());
    }
    let missing = missing();
    let mut records = parent.iter(seq - 1)?;
    while let Some(record) = records.next().transpose()? {
        match record {
            Record::Event(event) if event.seq == seq => return Ok(Cut { seq, end: records.offset() }),
            Record::Event(event) if event.seq > seq => break,
            _ => {}
        }
    }
    Err(missing)
}

fn copy(
    parent: &Reader,
    range: std::ops::Range<u64>,
    dir: &Path,
    start: SessionStart,
    now: Timestamp,
) -> Result<(), StoreError> {
    let session = start.session.clone();
    let mut line = Vec::new();
    Event::new(1, now, None, EventBody::SessionStart(start)).write_json(&mut line);
    record::seal(&mut line, 0);
    let path = parent.dir().join("events.jsonl");
    let copied = || -> io::Result<()> {
        let mut log = files::create_new(&dir.join("events.jsonl"))?;
        log.write_all(&line)?;
        // Opened anew, because a position is shared between clones of a file.
        let mut from = File::open(&path)?;
        from.seek(io::SeekFrom::Start(range.start))?;
        io::copy(&mut from.take(range.end.saturating_sub(range.start)), &mut log)?;
        log.sync_data()
    };
    copied().map_err(|source| AppendError::new(&session, source).into())
}
