//! Where events and turns are in a log, so that no read starts at the beginning of a long one.
//!
//! A cache of sealed JSON lines: a header, then a line for each batch that was added, with a mark for about every
//! 128 KiB of log, the starts and ends of turns, and how far into the log it all reaches. JSON lines, because even a
//! large index loads in milliseconds that way and can be read by a person; the same seal as the log, because one
//! format is enough. Whatever does not fit the log is thrown away and made anew by streaming.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use protocol::{Event, EventBody, SessionId, TurnId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::files;
use crate::lines::{BackLines, Lines, read_range};
use crate::record::{self, Header, MAX_RECORD};

/// Bytes of log between two marks.
const STRIDE: u64 = 128 << 10;
const VERSION: u32 = 1;
/// An index larger than this would be of a log of over 100 GB.
const MAX_INDEX: u64 = 128 << 20;

/// Where a turn is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSpan {
    pub turn: TurnId,
    /// The turn that started this one.
    pub parent: Option<TurnId>,
    /// The number of its `turn_start`.
    pub first: u64,
    /// Where in the log that is.
    pub offset: u64,
    /// The number of its `turn_end`; none while it runs, or when it was cut short.
    pub last: Option<u64>,
}

/// The index in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Index {
    /// `(seq, offset)`, both growing.
    marks: Vec<(u64, u64)>,
    turns: Vec<TurnSpan>,
    open: HashMap<TurnId, usize>,
    /// The log is known up to here …
    pub(crate) upto: u64,
    /// … where the event of this number ends.
    pub(crate) last_seq: u64,
    /// What is not in the file yet.
    pending: Batch,
}

/// The first line.
#[derive(Serialize, Deserialize)]
struct Head {
    index: u32,
    session: SessionId,
}

/// Every other line.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Batch {
    /// Offset and number where the last event of the batch ends.
    upto: (u64, u64),
    /// Number and offset of an event.
    marks: Vec<(u64, u64)>,
    /// Id, parent, number and offset of a `turn_start`.
    turns: Vec<(TurnId, Option<TurnId>, u64, u64)>,
    /// Which turn, counted from the first in the log, and the number of its `turn_end`.
    ends: Vec<(usize, u64)>,
}

impl Index {
    /// Takes in the record at `upto`; `turn_start` must come with its event's parent.
    pub(crate) fn push(&mut self, offset: u64, end: u64, header: &Header<'_>, parent: Option<TurnId>) {
        let due = self.marks.last().is_none_or(|(seq, at)| offset >= at + STRIDE && header.seq > *seq);
        if due {
            self.marks.push((header.seq, offset));
            self.pending.marks.push((header.seq, offset));
        }
        if let Some(turn) = header.turn_id() {
            match header.kind.as_ref() {
                "turn_start" => {
                    let start = (turn, parent, header.seq, offset);
                    self.begin(start.clone());
                    self.pending.turns.push(start);
                }
                "turn_end" => {
                    if let Some(at) = self.open.remove(&turn) {
                        self.turns[at].last = Some(header.seq);
                        self.pending.ends.push((at, header.seq));
                    }
                }
                _ => {}
            }
        }
        self.upto = end;
        self.last_seq = self.last_seq.max(header.seq);
    }

    fn begin(&mut self, (turn, parent, first, offset): (TurnId, Option<TurnId>, u64, u64)) {
        self.open.insert(turn.clone(), self.turns.len());
        self.turns.push(TurnSpan { turn, parent, first, offset, last: None });
    }

    /// Takes in a line of the file; false when it does not fit those before it.
    fn take(&mut self, batch: Batch) -> bool {
        self.marks.extend(batch.marks);
        batch.turns.into_iter().for_each(|turn| self.begin(turn));
        for (at, seq) in batch.ends {
            let Some(span) = self.turns.get_mut(at) else { return false };
            span.last = Some(seq);
            // A later turn may have taken the name.
            if self.open.get(&span.turn) == Some(&at) {
                self.open.remove(&span.turn);
            }
        }
        (self.upto, self.last_seq) = batch.upto;
        true
    }

    /// A place at or before the event of this number, with only a little between.
    pub(crate) fn locate(&self, seq: u64) -> u64 {
        match self.marks.partition_point(|(mark, _)| *mark <= seq) {
            0 => 0,
            after => self.marks[after - 1].1,
        }
    }

    pub(crate) fn turns(&self) -> &[TurnSpan] {
        &self.turns
    }

    /// Reads on from where it ends, in bounded memory. Damaged records are passed over.
    pub(crate) fn extend(&mut self, log: &Arc<File>) -> io::Result<()> {
        let mut lines = Lines::new(log.clone(), self.upto);
        let mut scratch = Vec::new();
        while let Some(line) = lines.next()? {
            let Some(body) = line.text.and_then(|text| record::unseal(text).ok()) else { continue };
            let Some(header) = record::header(body) else { continue };
            let parent = match header.kind.as_ref() {
                "turn_start" => parent_of(line.text.unwrap_or_default(), &mut scratch),
                _ => None,
            };
            self.push(line.offset, line.offset + line.bytes, &header, parent);
        }
        Ok(())
    }

    /// Reads the file if it is whole and fits the log.
    pub(crate) fn load(path: &Path, session: &SessionId, log: &File) -> Option<(Self, u64)> {
        let bytes = files::read_small(path, MAX_INDEX).ok()?;
        let mut lines = bytes.split_inclusive(|b| *b == b'\n');
        let first = lines.next()?;
        let head: Head = line(first)?;
        if head.index != VERSION || head.session != *session {
            return None;
        }
        let mut length = first.len() as u64;
        let mut index = Self::default();
        for text in lines {
            // A batch that was being written when the process died is not whole; what is before it counts.
            let Some(batch) = line(text) else { break };
            if !index.take(batch) {
                return None;
            }
            length += text.len() as u64;
        }
        index.fits(log).then_some((index, length))
    }

    /// Whether the log has the events that the index says it has: looked at in two places.
    fn fits(&self, log: &File) -> bool {
        let mark = self.marks.last().is_none_or(|(seq, offset)| {
            let Ok(file) = log.try_clone() else { return false };
            let mut lines = Lines::new(Arc::new(file), *offset);
            matches!(lines.next(), Ok(Some(line)) if line.text.and_then(sealed_seq) == Some(*seq))
        });
        mark && ends_with(log, self.upto, self.last_seq)
    }

    /// What has to be added to the file, ending in an `upto`; nothing when the file is up to date.
    pub(crate) fn take_pending(&mut self, in_file: u64) -> Option<Vec<u8>> {
        if in_file == self.upto {
            return None;
        }
        let batch = Batch { upto: (self.upto, self.last_seq), ..std::mem::take(&mut self.pending) };
        let mut out = Vec::new();
        write(&mut out, &batch);
        Some(out)
    }

    /// Everything, as a file of its own.
    pub(crate) fn to_file(&self, session: &SessionId) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out, &Head { index: VERSION, session: session.clone() });
        let turn = |span: &TurnSpan| (span.turn.clone(), span.parent.clone(), span.first, span.offset);
        let end = |(at, span): (usize, &TurnSpan)| span.last.map(|last| (at, last));
        let batch = Batch {
            upto: (self.upto, self.last_seq),
            marks: self.marks.clone(),
            turns: self.turns.iter().map(turn).collect(),
            ends: self.turns.iter().enumerate().filter_map(end).collect(),
        };
        write(&mut out, &batch);
        out
    }

    pub(crate) fn forget_pending(&mut self) {
        self.pending = Batch::default();
    }
}

fn write(out: &mut Vec<u8>, line: &impl Serialize) {
    let start = out.len();
    // It always serialises: its only keys are field names.
    if serde_json::to_writer(&mut *out, line).is_ok() {
        record::seal(out, start);
    }
}

fn line<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    let body = record::unseal(line.strip_suffix(b"\n")?).ok()?;
    serde_json::from_slice(&[body, b"}"].concat()).ok()
}

fn parent_of(line: &[u8], scratch: &mut Vec<u8>) -> Option<TurnId> {
    match record::decode(line, scratch) {
        Ok(Event { body: EventBody::TurnStart(start), .. }) => start.parent,
        _ => None,
    }
}

pub(crate) fn sealed_seq(line: &[u8]) -> Option<u64> {
    record::header(record::unseal(line).ok()?).map(|header| header.seq)
}

/// Whether the record that ends at `offset` is whole and has this number.
pub(crate) fn ends_with(log: &File, offset: u64, seq: u64) -> bool {
    if offset == 0 {
        return seq == 0;
    }
    if log.metadata().map_or(true, |found| found.len() < offset) {
        return false;
    }
    let Ok(Some((range, true))) = BackLines::new(log, offset).next() else { return false };
    if range.end - range.start > MAX_RECORD as u64 {
        return false;
    }
    let mut buffer = Vec::new();
    let Ok(line) = read_range(log, range, &mut buffer) else { return false };
    line.strip_suffix(b"\n").and_then(sealed_seq) == Some(seq)
}

#[cfg(test)]
mod tests;
