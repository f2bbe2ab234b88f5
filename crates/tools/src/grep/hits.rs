//! What was found, as much of it as is wanted, in the order of paths.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Found in one file.
#[derive(Debug, Default)]
pub(crate) struct FileHits {
    /// Lines that match, and around them; not all of them when there are many.
    pub(crate) lines: Vec<Line>,
    /// Matches among `lines`.
    pub(crate) matches: usize,
    /// Lines that match, altogether.
    pub(crate) count: usize,
    pub(crate) is_binary: bool,
}

#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) number: u64,
    pub(crate) text: String,
    pub(crate) kind: LineKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    Match,
    /// A match goes on here.
    Rest,
    Around,
}

/// Found in all files. However many matches there are, only those at the start of the answer are kept.
#[derive(Debug)]
pub(crate) struct Hits {
    pub(crate) files: BTreeMap<PathBuf, FileHits>,
    keep: usize,
    kept: usize,
    /// Lines that match, altogether.
    pub(crate) count: usize,
    /// Files that match, altogether.
    pub(crate) file_count: usize,
    pub(crate) unreadable: usize,
    pub(crate) binary: usize,
}

impl Hits {
    pub(super) fn new(keep: usize) -> Self {
        Self { files: BTreeMap::new(), keep, kept: 0, count: 0, file_count: 0, unreadable: 0, binary: 0 }
    }

    pub(super) fn add(&mut self, path: &Path, found: io::Result<FileHits>) {
        let Ok(found) = found else {
            self.unreadable += 1;
            return;
        };
        self.binary += usize::from(found.is_binary);
        if found.count == 0 {
            return;
        }
        self.count += found.count;
        self.file_count += 1;
        self.kept += weight(&found);
        self.files.insert(path.to_owned(), found);
        // The last ones go when those before them are enough.
        while let Some(last) = self.files.last_entry() {
            let weight = weight(last.get());
            if self.kept - weight < self.keep {
                break;
            }
            self.kept -= weight;
            last.remove();
        }
    }
}

/// How much of the answer a file takes up: its matches, or where only files are wanted, one.
fn weight(found: &FileHits) -> usize {
    found.matches.max(1)
}
