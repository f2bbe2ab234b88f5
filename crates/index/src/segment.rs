//! A part of an index in one file: written once, read whole, never changed.
//!
//! ```text
//! magic, then for each section its length and checksum, then the sections:
//!   files    rows of 64 bytes: where its path, imports and chunks are, its stamp and hash
//!   chunks   rows of 52 bytes: file, lines, level, kind, parent, lengths, names, hash of its passage
//!            (zero where it has none)
//!   strings  UTF-8, pointed at by offset and length
//!   terms    hashes of tokens, sorted, and where their postings are
//!   postings for each term: chunk and counts, as differences
//! ```
//! A checksum that does not fit makes the whole segment unreadable: its files are indexed again.

mod build;
mod merge;
mod read;

pub(crate) use build::{Builder, FileEntry};
pub(crate) use merge::merge;
pub(crate) use read::{ChunkRow, FileRow, Segment};

pub(crate) const MAGIC: &[u8; 8] = b"CVYIDX01";
pub(crate) const SECTIONS: usize = 5;
pub(crate) const FILE_ROW: usize = 64;
pub(crate) const CHUNK_ROW: usize = 52;
pub(crate) const TERM_ROW: usize = 16;

/// Tokens of a path are kept apart from those of code, and count for the file.
pub(crate) const PATH_SALT: u64 = 0x7061_7468_7061_7468;

/// Where a token occurs. For path tokens `at` is a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) at: u32,
    /// Times in the name.
    pub(crate) name: u8,
    /// Times elsewhere.
    pub(crate) body: u32,
}
