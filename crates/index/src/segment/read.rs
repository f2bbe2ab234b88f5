//! Reading a segment.

use std::path::Path;

use super::{CHUNK_ROW, FILE_ROW, MAGIC, Posting, SECTIONS, TERM_ROW};
use crate::bytes::{u32_at, u64_at, varint};
use crate::chunk::{Kind, Level};
use crate::language::Language;
use crate::rules::Part;

/// The bytes of a segment, checked.
#[derive(Debug)]
pub(crate) struct Segment {
    bytes: Vec<u8>,
    starts: [usize; SECTIONS + 1],
}

/// A file's row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileRow<'a> {
    pub(crate) path: &'a str,
    related: &'a str,
    pub(crate) first_chunk: u32,
    pub(crate) chunk_count: u32,
    pub(crate) language: Language,
    pub(crate) part: Part,
    pub(crate) size: u32,
    pub(crate) modified: i64,
    pub(crate) changed: i64,
    pub(crate) hash: [u8; 16],
}

impl<'a> FileRow<'a> {
    pub(crate) fn imports(&self) -> impl Iterator<Item = &'a str> {
        self.related.split('\0').next().unwrap_or_default().lines()
    }

    /// Line, kind and name of small definitions.
    pub(crate) fn definitions(&self) -> impl Iterator<Item = (u32, Kind, &'a str)> {
        let all = self.related.split_once('\0').map_or("", |(_, rest)| rest);
        all.lines().filter_map(|line| {
            let mut parts = line.splitn(3, '\t');
            let number = parts.next()?.parse().ok()?;
            Some((number, Kind::from_byte(parts.next()?.parse().ok()?), parts.next()?))
        })
    }
}

/// A chunk's row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkRow<'a> {
    pub(crate) file: u32,
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
    pub(crate) parent: Option<u32>,
    pub(crate) level: Level,
    pub(crate) kind: Kind,
    pub(crate) name_length: u8,
    pub(crate) body_length: u32,
    pub(crate) name: &'a str,
    pub(crate) signature: &'a str,
    /// Hash of what the encoder reads.
    pub(crate) passage: [u8; 16],
}

impl ChunkRow<'_> {
    /// Whether the encoder is to read it.
    pub(crate) fn has_passage(&self) -> bool {
        self.passage != [0; 16]
    }
}

impl Segment {
    /// Nothing if any part of it is not what was written.
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Option<Self> {
        let head = MAGIC.len() + SECTIONS * 12;
        if bytes.get(..MAGIC.len())? != MAGIC || crc32fast::hash(bytes.get(..head)?) != u32_at(&bytes, head) {
            return None;
        }
        let mut starts = [head + 4; SECTIONS + 1];
        for section in 0..SECTIONS {
            let row = MAGIC.len() + section * 12;
            let length = usize::try_from(u64_at(&bytes, row)).ok()?;
            starts[section + 1] = starts[section].checked_add(length)?;
            let content = bytes.get(starts[section]..starts[section + 1])?;
            if crc32fast::hash(content) != u32_at(&bytes, row + 8) {
                return None;
            }
        }
        let segment = Self { bytes, starts };
        // Strings are read without checking again, so they are checked here.
        std::str::from_utf8(segment.section(2)).ok()?;
        Some(segment)
    }

    pub(crate) fn read(path: &Path) -> Option<Self> {
        Self::from_bytes(std::fs::read(path).ok()?)
    }

    pub(crate) fn size(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn section(&self, at: usize) -> &[u8] {
        &self.bytes[self.starts[at]..self.starts[at + 1]]
    }

    pub(crate) fn file_count(&self) -> u32 {
        (self.section(0).len() / FILE_ROW) as u32
    }

    pub(crate) fn chunk_count(&self) -> u32 {
        (self.section(1).len() / CHUNK_ROW) as u32
    }

    fn string(&self, at: u32, length: u32) -> &str {
        let bytes = self.section(2).get(at as usize..at as usize + length as usize).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    pub(crate) fn file(&self, at: u32) -> FileRow<'_> {
        let row = self.section(0).get(at as usize * FILE_ROW..).unwrap_or_default();
        let number = |index: usize| u32_at(row, index * 4);
        FileRow {
            path: self.string(number(0), number(1)),
            related: self.string(number(2), number(3)),
            first_chunk: number(4),
            chunk_count: number(5),
            language: Language::from_byte(row.get(24).copied().unwrap_or(255)),
            part: Part::from_byte(row.get(25).copied().unwrap_or(0)),
            size: number(7),
            modified: u64_at(row, 32) as i64,
            changed: u64_at(row, 40) as i64,
            hash: sixteen(row, 48),
        }
    }

    pub(crate) fn chunk(&self, at: u32) -> ChunkRow<'_> {
        let row = self.section(1).get(at as usize * CHUNK_ROW..).unwrap_or_default();
        let number = |index: usize| u32_at(row, index * 4);
        let lengths = number(7);
        let small = |index: usize| row.get(index).copied().unwrap_or(0);
        ChunkRow {
            file: number(0),
            start_line: number(1),
            end_line: number(2),
            parent: Some(number(3)).filter(|parent| *parent != u32::MAX),
            body_length: number(4),
            name: self.string(number(5), lengths & 0xffff),
            signature: self.string(number(6), lengths >> 16),
            level: Level::from_byte(small(32)),
            kind: Kind::from_byte(small(33)),
            name_length: small(34),
            passage: sixteen(row, 36),
        }
    }

    /// The file of a chunk, without the rest of its row.
    pub(crate) fn chunk_file(&self, at: u32) -> u32 {
        u32_at(self.section(1), at as usize * CHUNK_ROW)
    }

    pub(super) fn term_count(&self) -> usize {
        self.section(3).len() / TERM_ROW
    }

    pub(super) fn term(&self, at: usize) -> (u64, u32, u32) {
        let row = &self.section(3)[at * TERM_ROW..];
        (u64_at(row, 0), u32_at(row, 8), u32_at(row, 12))
    }

    /// Where a token occurs, in order.
    pub(crate) fn postings(&self, term: u64) -> impl Iterator<Item = Posting> {
        let (mut low, mut high) = (0, self.term_count());
        while low < high {
            let middle = low.midpoint(high);
            if self.term(middle).0 < term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let found = (low < self.term_count()).then(|| self.term(low)).filter(|row| row.0 == term);
        let (offset, count) = found.map_or((0, 0), |(_, offset, count)| (offset, count));
        self.list(offset, count)
    }

    pub(super) fn list(&self, offset: u32, count: u32) -> impl ExactSizeIterator<Item = Posting> {
        let bytes = self.section(4);
        let mut at = offset as usize;
        let mut before = 0u32;
        (0..count).map(move |_| {
            before = before.wrapping_add(varint(bytes, &mut at) as u32);
            let counts = varint(bytes, &mut at);
            Posting { at: before, name: (counts & 3) as u8, body: (counts >> 2) as u32 }
        })
    }
}

fn sixteen(bytes: &[u8], at: usize) -> [u8; 16] {
    bytes.get(at..at + 16).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; 16])
}
