//! Writing a segment.

use super::{CHUNK_ROW, MAGIC, PATH_SALT, Posting};
use crate::bytes::put_varint;
use crate::chunk::{Kind, Level, Outline, part, passage, title};
use crate::tokens::{hash, tokens};
use crate::walk::Stamp;

/// A file, ready to go into a segment.
#[derive(Debug, Clone)]
pub(crate) struct FileEntry {
    pub(crate) path: String,
    pub(crate) stamp: Stamp,
    pub(crate) hash: [u8; 16],
}

/// Collects files and makes a segment of them.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    pub(super) files: Vec<u8>,
    pub(super) chunks: Vec<u8>,
    pub(super) strings: Vec<u8>,
    pub(super) file_count: u32,
    pub(super) chunk_count: u32,
    pub(super) postings: Vec<(u64, Posting)>,
    scratch: Vec<(u32, u64, bool)>,
}

impl Builder {
    pub(crate) fn is_empty(&self) -> bool {
        self.file_count == 0
    }

    pub(crate) fn file_count(&self) -> u32 {
        self.file_count
    }

    /// About how much memory it takes.
    pub(crate) fn weight(&self) -> usize {
        self.postings.len() * 24 + self.strings.len() + self.chunks.len() + self.files.len()
    }

    pub(crate) fn string(&mut self, text: &str) -> (u32, u32) {
        let at = self.strings.len() as u32;
        self.strings.extend_from_slice(text.as_bytes());
        (at, text.len() as u32)
    }

    /// Adds a file with its outline.
    pub(crate) fn add(&mut self, entry: &FileEntry, outline: &Outline, text: &str) {
        let file = self.file_count;
        let first_chunk = self.chunk_count;
        let lines: Vec<&str> = text.lines().collect();
        let outermost =
            outline.chunks.iter().filter(|chunk| chunk.level == Level::Symbol && chunk.parent.is_none());
        let names = title(outermost.map(|chunk| chunk.name.as_str()));
        let lengths = self.count(file, first_chunk, entry, outline, &lines);
        for (at, chunk) in outline.chunks.iter().enumerate() {
            let name = self.string(&chunk.name);
            let signature = self.string(&chunk.signature);
            // The first block of a symbol begins as the symbol does, and the encoder reads no further than that.
            let first = |parent: u32| outline.chunks[parent as usize].start_line == chunk.start_line;
            let wanted = chunk.level != Level::Block || !chunk.parent.is_some_and(first);
            let key = if wanted {
                let title = if chunk.level == Level::File { &names } else { &chunk.name };
                let text = passage(&entry.path, title, chunk.start_line, chunk.end_line, &lines);
                blake3::hash(text.as_bytes()).as_bytes()[..16].try_into().unwrap_or([0; 16])
            } else {
                [0u8; 16]
            };
            let parent = chunk.parent.map_or(u32::MAX, |parent| first_chunk + parent);
            let row = &mut self.chunks;
            for number in [file, chunk.start_line, chunk.end_line, parent, lengths[at].1, name.0, signature.0]
            {
                row.extend_from_slice(&number.to_le_bytes());
            }
            // Both are cut far below this.
            row.extend_from_slice(&(name.1.min(0xffff) as u16).to_le_bytes());
            row.extend_from_slice(&(signature.1.min(0xffff) as u16).to_le_bytes());
            row.extend_from_slice(&[chunk.level as u8, chunk.kind as u8, lengths[at].0, 0]);
            row.extend_from_slice(&key);
            debug_assert_eq!(row.len() % CHUNK_ROW, 0);
        }
        self.chunk_count += outline.chunks.len() as u32;
        let path = self.string(&entry.path);
        let mut related = outline.imports.join("\n");
        related.push('\0');
        for definition in &outline.definitions {
            related
                .push_str(&format!("{}\t{}\t{}\n", definition.line, definition.kind as u8, definition.name));
        }
        let related = self.string(&related);
        let row = &mut self.files;
        for number in [path.0, path.1, related.0, related.1, first_chunk, outline.chunks.len() as u32] {
            row.extend_from_slice(&number.to_le_bytes());
        }
        row.extend_from_slice(&[outline.language as u8, part(&entry.path, outline.language).byte(), 0, 0]);
        row.extend_from_slice(&(entry.stamp.size.min(u64::from(u32::MAX)) as u32).to_le_bytes());
        row.extend_from_slice(&entry.stamp.modified.to_le_bytes());
        row.extend_from_slice(&entry.stamp.changed.to_le_bytes());
        row.extend_from_slice(&entry.hash);
        self.file_count += 1;
    }

    /// Counts tokens and answers for each chunk how many its name and its body have.
    fn count(
        &mut self,
        file: u32,
        first_chunk: u32,
        entry: &FileEntry,
        outline: &Outline,
        lines: &[&str],
    ) -> Vec<(u8, u32)> {
        let mut lengths = vec![(0u8, 0u32); outline.chunks.len()];
        let scratch = &mut self.scratch;
        scratch.clear();
        for (line, owner) in lines.iter().zip(&outline.owners) {
            let body = &mut lengths[*owner as usize].1;
            tokens(line, |_, token| {
                *body += 1;
                scratch.push((*owner, hash(token), false));
            });
        }
        for (at, chunk) in outline.chunks.iter().enumerate() {
            if chunk.level == Level::Symbol && chunk.kind != Kind::Loose {
                tokens(&chunk.name, |_, token| {
                    lengths[at].0 = lengths[at].0.saturating_add(1);
                    scratch.push((at as u32, hash(token), true));
                });
            }
        }
        for definition in &outline.definitions {
            let owner = outline.owners.get(definition.line as usize - 1).copied().unwrap_or(0);
            tokens(&definition.name, |_, token| {
                let name = &mut lengths[owner as usize].0;
                *name = name.saturating_add(1);
                scratch.push((owner, hash(token), true));
            });
        }
        scratch.sort_unstable();
        for run in scratch.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let in_name = run.iter().filter(|(_, _, name)| *name).count();
            let posting = Posting {
                at: first_chunk + run[0].0,
                name: in_name.min(3) as u8,
                body: (run.len() - in_name) as u32,
            };
            self.postings.push((run[0].1, posting));
        }
        let mut path = Vec::new();
        tokens(&entry.path, |_, token| path.push(hash(token) ^ PATH_SALT));
        path.sort_unstable();
        for run in path.chunk_by(|a, b| a == b) {
            self.postings.push((run[0], Posting { at: file, name: 0, body: run.len() as u32 }));
        }
        lengths
    }

    /// The bytes of the segment.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.postings.sort_unstable_by_key(|(term, posting)| (*term, posting.at));
        let mut terms = Vec::new();
        let mut lists = Vec::new();
        for run in self.postings.chunk_by(|a, b| a.0 == b.0) {
            put_term(&mut terms, &mut lists, run[0].0, run.iter().map(|(_, posting)| *posting));
        }
        drop(std::mem::take(&mut self.postings));
        assemble(&[&self.files, &self.chunks, &self.strings, &terms, &lists])
    }
}

/// Appends a term and its postings.
pub(super) fn put_term(
    terms: &mut Vec<u8>,
    lists: &mut Vec<u8>,
    term: u64,
    run: impl ExactSizeIterator<Item = Posting>,
) {
    terms.extend_from_slice(&term.to_le_bytes());
    terms.extend_from_slice(&(lists.len() as u32).to_le_bytes());
    terms.extend_from_slice(&(run.len() as u32).to_le_bytes());
    let mut before = 0;
    for posting in run {
        put_varint(lists, u64::from(posting.at - before));
        before = posting.at;
        put_varint(lists, u64::from(posting.body) << 2 | u64::from(posting.name));
    }
}

pub(super) fn assemble(sections: &[&[u8]; super::SECTIONS]) -> Vec<u8> {
    let mut out = Vec::with_capacity(sections.iter().map(|section| section.len()).sum::<usize>() + 100);
    out.extend_from_slice(MAGIC);
    for section in sections {
        out.extend_from_slice(&(section.len() as u64).to_le_bytes());
        out.extend_from_slice(&crc32fast::hash(section).to_le_bytes());
    }
    let head = crc32fast::hash(&out);
    out.extend_from_slice(&head.to_le_bytes());
    sections.iter().for_each(|section| out.extend_from_slice(section));
    out
}
