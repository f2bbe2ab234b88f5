//! Searching code by its structure: a tree-sitter query, or a piece of code with holes in it.

mod language;
mod pattern;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, ParseState, Parser, Query, QueryCursor, StreamingIterator, Tree};

pub(crate) use language::Language;
pub(crate) use pattern::Pattern;

use crate::ToolError;
use crate::grep::open;
use crate::text::Text;
use crate::walk::{Stop, Walk};

/// Larger files are made by programs.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// How long one file may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// States of a query that are kept at once.
const MATCH_LIMIT: u32 = 4096;

/// What is looked for.
pub(crate) enum Shape {
    Query(Query),
    Pattern(Pattern),
}

impl Shape {
    pub(crate) fn query(text: &str, language: Language) -> Result<Self, ToolError> {
        let query = Query::new(&language.grammar(), text)
            .map_err(|error| ToolError(format!("the query does not work: {error}")))?;
        Ok(Self::Query(query))
    }

    pub(crate) fn pattern(text: &str, language: Language) -> Result<Self, ToolError> {
        Pattern::new(text, language).map(Self::Pattern)
    }

    /// Where it is in one text.
    fn find(&self, tree: &Tree, text: &str) -> Vec<Match> {
        match self {
            Self::Pattern(pattern) => pattern.find(tree, text),
            Self::Query(query) => {
                let mut cursor = QueryCursor::new();
                cursor.set_match_limit(MATCH_LIMIT);
                let names = query.capture_names();
                let mut found = Vec::new();
                let mut matches = cursor.matches(query, tree.root_node(), text.as_bytes());
                while let Some(one) = matches.next() {
                    let Some(whole) = one.captures().first() else { continue };
                    let holes = one.captures().iter().map(|capture| {
                        let name = names.get(capture.index as usize).copied().unwrap_or_default();
                        (format!("@{name}"), text[capture.node.byte_range()].to_owned())
                    });
                    found.push(Match::new(whole.node, text, holes.collect()));
                }
                found
            }
        }
    }
}

/// One place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match {
    /// From 1 on.
    pub(crate) first: usize,
    pub(crate) last: usize,
    pub(crate) text: String,
    /// What filled the holes.
    pub(crate) holes: Vec<(String, String)>,
}

impl Match {
    fn new(node: tree_sitter::Node<'_>, text: &str, holes: Vec<(String, String)>) -> Self {
        Self {
            first: node.start_position().row + 1,
            last: node.end_position().row + 1,
            text: text[node.byte_range()].to_owned(),
            holes,
        }
    }
}

/// What was found in all files; only so much of it as is wanted is kept.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) files: BTreeMap<PathBuf, Vec<Match>>,
    pub(crate) count: usize,
    pub(crate) file_count: usize,
    /// Files that took too long or were too large.
    pub(crate) passed_over: usize,
    kept: usize,
}

impl Found {
    fn add(&mut self, path: &Path, mut matches: Vec<Match>, keep: usize) {
        if matches.is_empty() {
            return;
        }
        self.count += matches.len();
        self.file_count += 1;
        matches.truncate(keep);
        self.kept += matches.len();
        self.files.insert(path.to_owned(), matches);
        while let Some(last) = self.files.last_entry()
            && self.kept - last.get().len() >= keep
        {
            self.kept -= last.remove().len();
        }
    }
}

/// Looks through all files of the language.
pub(crate) fn search(walks: &[Walk], shape: &Shape, language: Language, keep: usize, stop: &Stop) -> Found {
    let found = Mutex::new(Found::default());
    for walk in walks {
        walk.each(stop, || {
            let mut parser = Parser::new();
            let ready = parser.set_language(&language.grammar()).is_ok();
            let found = &found;
            move |entry: &ignore::DirEntry| {
                if !ready || !language.is_of(entry.path()) {
                    return;
                }
                let is_large = entry.metadata().is_ok_and(|metadata| metadata.len() > MAX_BYTES as u64);
                let Some(text) = read(entry.path()) else { return };
                let tree = if is_large { None } else { parse(&mut parser, text.plain(), stop) };
                let matches = tree.map(|tree| shape.find(&tree, text.plain()));
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                match matches {
                    Some(matches) => found.add(entry.path(), matches, keep),
                    None => found.passed_over += 1,
                }
            }
        });
    }
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn read(path: &Path) -> Option<Text> {
    let mut bytes = Vec::new();
    open(path).ok()?.take(MAX_BYTES as u64).read_to_end(&mut bytes).ok()?;
    Text::decode(&bytes).ok()
}

fn parse(parser: &mut Parser, text: &str, stop: &Stop) -> Option<Tree> {
    let deadline = Instant::now() + PATIENCE;
    let mut late = |_: &ParseState| {
        if stop.is_set() || Instant::now() > deadline {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut late);
    let mut read = |offset: usize, _| text.as_bytes().get(offset..).unwrap_or_default();
    parser.reset();
    parser.parse_with_options(&mut read, None, Some(options))
}
