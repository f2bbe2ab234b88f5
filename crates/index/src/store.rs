//! Where an index is kept. The embedded store is files; ranking is ours and asks only this much of any store, so that the
//! same numbers come out of every one.

mod embedded;
mod manifest;
mod snapshot;

pub(crate) use embedded::{Embedded, Lock};
pub(crate) use manifest::{Manifest, SegmentEntry};
pub(crate) use snapshot::{Loaded, Snapshot};

use crate::segment::{ChunkRow, FileRow, Posting};

/// Numbers over everything that is in an index.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) files: u32,
    /// Those that are searched: files and symbols.
    pub(crate) chunks: u32,
    pub(crate) blocks: u32,
    /// Texts for the encoder, and how many it has read.
    pub(crate) passages: u32,
    pub(crate) vectors: u32,
    /// Sums of lengths, in tokens.
    pub(crate) name_length: u64,
    pub(crate) body_length: u64,
    pub(crate) path_length: u64,
    pub(crate) bytes: u64,
}

/// One state of an index: consistent, and unchanging while it is looked at.
///
/// Chunks and files are numbered from zero up to [`chunk_end`](Self::chunk_end) and [`file_end`](Self::file_end), with
/// gaps where something was replaced.
pub(crate) trait View: Send + Sync {
    fn totals(&self) -> &Totals;
    fn chunk_end(&self) -> u32;
    fn file_end(&self) -> u32;
    fn is_live(&self, file: u32) -> bool;
    fn file(&self, file: u32) -> FileRow<'_>;
    /// With numbers of this view.
    fn chunk(&self, chunk: u32) -> ChunkRow<'_>;
    /// Where a token occurs, only in what is live, in order. With `in_paths` the postings name files.
    fn postings(&self, term: u64, in_paths: bool, visit: &mut dyn FnMut(Posting));
    /// The similarity of every chunk to a vector, by number; zero where there is no vector.
    fn similarities(&self, query: &[f32]) -> Vec<f32>;
}
