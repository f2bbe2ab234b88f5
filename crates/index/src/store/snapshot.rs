//! One state of the embedded store, in memory.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Totals, View};
use crate::chunk::Level;
use crate::segment::{ChunkRow, FileRow, PATH_SALT, Posting, Segment};
use crate::tokens::tokens;
use crate::vectors::Vectors;

/// A segment and what is valid of it.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) segment: Arc<Segment>,
    pub(crate) dead: Arc<HashSet<u32>>,
    pub(crate) vectors: Option<Arc<Vectors>>,
    pub(crate) first_chunk: u32,
    pub(crate) first_file: u32,
}

/// See [`View`].
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) parts: Vec<Loaded>,
    totals: Totals,
    chunk_end: u32,
    file_end: u32,
}

impl Snapshot {
    pub(crate) fn new(mut parts: Vec<Loaded>) -> Self {
        let (mut chunk_end, mut file_end) = (0, 0);
        let mut totals = Totals::default();
        for part in &mut parts {
            part.first_chunk = chunk_end;
            part.first_file = file_end;
            chunk_end += part.segment.chunk_count();
            file_end += part.segment.file_count();
            totals.bytes += part.segment.size() as u64;
            for file in (0..part.segment.file_count()).filter(|file| !part.dead.contains(file)) {
                let row = part.segment.file(file);
                totals.files += 1;
                tokens(row.path, |_, _| totals.path_length += 1);
                for chunk in row.first_chunk..row.first_chunk + row.chunk_count {
                    let row = part.segment.chunk(chunk);
                    totals.passages += u32::from(row.has_passage());
                    let has = part.vectors.as_ref().is_some_and(|vectors| vectors.has(chunk as usize));
                    totals.vectors += u32::from(has);
                    if row.level == Level::Block {
                        totals.blocks += 1;
                        continue;
                    }
                    totals.chunks += 1;
                    totals.name_length += u64::from(row.name_length);
                    totals.body_length += u64::from(row.body_length);
                }
            }
        }
        Self { parts, totals, chunk_end, file_end }
    }

    fn part_of_chunk(&self, chunk: u32) -> Option<&Loaded> {
        let at = self.parts.partition_point(|part| part.first_chunk <= chunk);
        self.parts.get(at.checked_sub(1)?)
    }

    fn part_of_file(&self, file: u32) -> Option<&Loaded> {
        let at = self.parts.partition_point(|part| part.first_file <= file);
        self.parts.get(at.checked_sub(1)?)
    }
}

impl View for Snapshot {
    fn totals(&self) -> &Totals {
        &self.totals
    }

    fn chunk_end(&self) -> u32 {
        self.chunk_end
    }

    fn file_end(&self) -> u32 {
        self.file_end
    }

    fn is_live(&self, file: u32) -> bool {
        file < self.file_end
            && self.part_of_file(file).is_some_and(|part| !part.dead.contains(&(file - part.first_file)))
    }

    #[expect(
        clippy::expect_used,
        reason = "numbers come from this view; another one is a mistake in this crate"
    )]
    fn file(&self, file: u32) -> FileRow<'_> {
        let part = self.part_of_file(file).expect("a file of this view");
        let mut row = part.segment.file(file - part.first_file);
        row.first_chunk += part.first_chunk;
        row
    }

    #[expect(
        clippy::expect_used,
        reason = "numbers come from this view; another one is a mistake in this crate"
    )]
    fn chunk(&self, chunk: u32) -> ChunkRow<'_> {
        let part = self.part_of_chunk(chunk).expect("a chunk of this view");
        let mut row = part.segment.chunk(chunk - part.first_chunk);
        row.file += part.first_file;
        row.parent = row.parent.map(|parent| parent + part.first_chunk);
        row
    }

    fn postings(&self, term: u64, in_paths: bool, visit: &mut dyn FnMut(Posting)) {
        let term = if in_paths { term ^ PATH_SALT } else { term };
        for part in &self.parts {
            for posting in part.segment.postings(term) {
                let file = if in_paths { posting.at } else { part.segment.chunk_file(posting.at) };
                if part.dead.is_empty() || !part.dead.contains(&file) {
                    let first = if in_paths { part.first_file } else { part.first_chunk };
                    visit(Posting { at: posting.at + first, ..posting });
                }
            }
        }
    }

    fn similarities(&self, query: &[f32]) -> Vec<f32> {
        let mut all = Vec::with_capacity(self.chunk_end as usize);
        let mut scores = Vec::new();
        for part in &self.parts {
            match &part.vectors {
                Some(vectors) => {
                    vectors.scores(query, &mut scores);
                    for file in part.dead.iter() {
                        let row = part.segment.file(*file);
                        scores[row.first_chunk as usize..][..row.chunk_count as usize].fill(0.0);
                    }
                    all.extend_from_slice(&scores);
                }
                None => all.resize(all.len() + part.segment.chunk_count() as usize, 0.0),
            }
        }
        all
    }
}
