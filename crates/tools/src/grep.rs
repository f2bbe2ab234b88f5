//! Searching the text of many files: ripgrep's engine, with answers in a fixed order and of bounded size.

mod hits;
mod sink;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use rustix::fs::{Mode, OFlags};

pub(crate) use hits::{FileHits, Hits, LineKind};
use sink::Collect;

use crate::ToolError;
use crate::paths::LineRange;
use crate::walk::{Stop, Walk};

/// What one line, or with `multiline` one file, may take up. Whatever is larger is told as unreadable.
const MAX_HEAP: usize = 64 * 1024 * 1024;
/// What a compiled pattern may take up.
const MAX_PATTERN: usize = 10 * 1024 * 1024;

/// How a pattern is meant.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meaning {
    pub(crate) literal: bool,
    pub(crate) ignore_case: bool,
    /// A match may go over several lines.
    pub(crate) multiline: bool,
    /// A dot is also a line's end.
    pub(crate) dot_all: bool,
}

/// What is wanted of each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    Lines,
    /// Only whether it has a match.
    Files,
    Counts,
}

#[derive(Debug, Clone)]
pub(crate) struct Search {
    pub(crate) matcher: RegexMatcher,
    pub(crate) multiline: bool,
    pub(crate) want: Want,
    pub(crate) context: usize,
    pub(crate) lines: LineRange,
    /// How many lines (or files) of the answer are kept, from its start.
    pub(crate) keep: usize,
}

pub(crate) fn matcher(pattern: &str, meaning: Meaning) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_insensitive(meaning.ignore_case)
        .fixed_strings(meaning.literal)
        .dot_matches_new_line(meaning.dot_all)
        .size_limit(MAX_PATTERN)
        .dfa_size_limit(MAX_PATTERN);
    if !meaning.multiline {
        builder.line_terminator(Some(b'\n'));
        // So that `;$` finds the ends of lines that end in `\r\n`, too. Even saying no to it would unset the line's end,
        // and with it most of what makes a search fast.
        if pattern.contains('$') && !meaning.literal {
            builder.crlf(true);
        }
    }
    builder.build(pattern).map_err(|error| {
        let hint = if meaning.literal { "" } else { "; set `literal` for plain text" };
        ToolError(format!("the pattern does not work: {error}{hint}"))
    })
}

impl Search {
    /// Searches all files of all walks.
    pub(crate) fn run(&self, walks: &[Walk], stop: &Stop) -> Hits {
        let hits = Mutex::new(Hits::new(self.keep));
        for walk in walks {
            let unreadable = walk.each(stop, || {
                let mut searcher = self.searcher();
                let hits = &hits;
                move |entry: &ignore::DirEntry| {
                    let found = self.file(&mut searcher, entry.path(), stop);
                    if matches!(&found, Ok(found) if found.count == 0 && !found.is_binary) {
                        return;
                    }
                    hits.lock().unwrap_or_else(PoisonError::into_inner).add(entry.path(), found);
                }
            });
            hits.lock().unwrap_or_else(PoisonError::into_inner).unreadable += unreadable;
        }
        hits.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_terminator(self.matcher.line_terminator().unwrap_or_default())
            .multi_line(self.multiline)
            .line_number(self.want == Want::Lines || self.lines != LineRange::ALL)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .heap_limit(Some(MAX_HEAP))
            .build()
    }

    fn file(&self, searcher: &mut Searcher, path: &Path, stop: &Stop) -> io::Result<FileHits> {
        let file = Stoppable { file: open(path)?, stop };
        let mut found = FileHits::default();
        searcher.search_reader(&self.matcher, file, Collect { search: self, found: &mut found })?;
        Ok(found)
    }
}

/// Opens a file that a walk came by, unless a link was put in its place or on the way to it since.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, ResolveFlags, openat2};
        use rustix::io::Errno;
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // An old kernel, or a container's filter.
            Err(Errno::NOSYS | Errno::PERM) => {}
            other => return Ok(other?.into()),
        }
    }
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// A file that ends early when nobody waits for it any more.
struct Stoppable<'a> {
    file: File,
    stop: &'a Stop,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() { Ok(0) } else { self.file.read(buffer) }
    }
}
