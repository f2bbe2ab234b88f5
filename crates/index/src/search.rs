//! Asking an index.

use std::path::Path;
use std::sync::{Arc, Mutex};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use serde::Serialize;

use crate::chunk::{Kind, Level};
use crate::embed::Purpose;
use crate::error::IndexError;
use crate::index::Index;
use crate::language::Language;
use crate::lexical::{self, Shape};
use crate::query::{Query, QueryKind};
use crate::rank::{Scored, Sides, Weights, Why, rank};
use crate::store::{Snapshot, View};

/// Which sides answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    #[default]
    Hybrid,
    Lexical,
    Dense,
}

/// How they are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fusion {
    /// A weighted sum of normalised scores.
    #[default]
    Sum,
    /// Reciprocal ranks.
    Rrf,
}

/// What to search for, and in what.
#[derive(Debug, Clone)]
pub struct SearchOptions {
    /// How many results.
    pub limit: usize,
    pub mode: Mode,
    pub fusion: Fusion,
    /// Only these languages; all if empty.
    pub languages: Vec<Language>,
    /// Only paths that one of these patterns fits, written as in an ignore file; all if empty.
    pub paths: Vec<String>,
    /// Only this level. Blocks are parts of the symbols that were found.
    pub level: Option<Level>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            limit: 10,
            mode: Mode::Hybrid,
            fusion: Fusion::Sum,
            languages: Vec::new(),
            paths: Vec::new(),
            level: None,
        }
    }
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    pub rank: usize,
    /// Relative to the root.
    pub file: String,
    pub start_line: u32,
    pub end_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    pub score: f32,
    #[serde(skip)]
    pub kind: Kind,
    #[serde(skip)]
    pub language: Language,
    #[serde(skip)]
    pub signature: String,
    #[serde(skip)]
    pub why: Why,
}

/// The results of one search.
#[derive(Debug, Clone)]
pub struct Found {
    pub hits: Vec<Hit>,
    pub kind: QueryKind,
    /// What was looked for, as tokens, for marking them in a text.
    pub terms: Vec<String>,
    /// Whether vectors took part.
    pub dense: bool,
}

/// Answers questions about a project. Blocking, cheap to clone, for any thread; it sees what any process adds to the index.
#[derive(Debug, Clone)]
pub struct Searcher {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    index: Index,
    state: Mutex<Option<Arc<State>>>,
    weights: Weights,
}

/// What was read of the index.
#[derive(Debug)]
pub(crate) struct State {
    /// What tells that it is out of date.
    stamps: Vec<i64>,
    pub(crate) view: Snapshot,
    pub(crate) shape: Shape,
}

impl Searcher {
    pub(crate) fn new(index: Index) -> Self {
        Self { inner: Arc::new(Inner { index, state: Mutex::new(None), weights: Weights::default() }) }
    }

    /// With other weights, to measure what they do.
    pub fn with_weights(index: &Index, weights: Weights) -> Self {
        Self { inner: Arc::new(Inner { index: index.clone(), state: Mutex::new(None), weights }) }
    }

    pub fn index(&self) -> &Index {
        &self.inner.index
    }

    /// The newest state there is. Costs a look at a few files when nothing changed.
    pub(crate) fn state(&self) -> Arc<State> {
        let index = &self.inner.index;
        let store = index.store();
        let mut state = self.inner.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let stamp = |path: &Path| {
            std::fs::metadata(path)
                .map(|metadata| crate::walk::Stamp::of(&metadata))
                .map_or(0, |stamp| stamp.changed.wrapping_mul(31).wrapping_add(stamp.size as i64))
        };
        let manifest_stamp = stamp(&store.folder().join("manifest.json"));
        let stamps_for = |snapshot: &Snapshot| {
            let vectors = snapshot.parts.iter().map(|part| stamp(&store.path(&part.name, "vec")));
            std::iter::once(manifest_stamp).chain(vectors).collect::<Vec<i64>>()
        };
        if let Some(current) = &*state
            && stamps_for(&current.view) == current.stamps
        {
            return current.clone();
        }
        let manifest = store.manifest();
        let (view, _) = store.snapshot(&manifest, index.model().as_deref());
        let fresh = Arc::new(State { stamps: stamps_for(&view), shape: Shape::of(&view), view });
        *state = Some(fresh.clone());
        fresh
    }

    /// Searches what the index holds now.
    pub fn search(&self, text: &str, options: &SearchOptions) -> Result<Found, IndexError> {
        let state = self.state();
        let query = Query::parse(text);
        let (view, shape) = (&state.view, &state.shape);
        let lexical = (options.mode != Mode::Dense)
            .then(|| lexical::score(view, shape, &query, &self.inner.weights.lexical));
        let dense =
            if options.mode == Mode::Lexical { None } else { self.dense(view, &query, options.mode)? };
        let used_dense = dense.is_some();
        let sides = Sides { lexical, dense };
        let ranked = rank(view, shape, &query, sides, options.fusion, options.mode, &self.inner.weights);
        let hits = self.hits(&state, &query, ranked, options);
        let terms = query.terms.into_iter().map(|term| term.text).collect();
        Ok(Found { hits, kind: query.kind, terms, dense: used_dense })
    }

    /// Similarities, if enough vectors are there to be fair to those that are not.
    fn dense(&self, view: &Snapshot, query: &Query, mode: Mode) -> Result<Option<Vec<f32>>, IndexError> {
        let Some(embedder) = &self.inner.index.options().embedder else { return Ok(None) };
        let totals = view.totals();
        let enough = totals.vectors * 10 >= totals.passages * 6 || mode == Mode::Dense;
        if query.text.trim().is_empty() || totals.vectors == 0 || !enough {
            return Ok(None);
        }
        let vectors = match embedder.embed(Purpose::Query, &[&query.text]) {
            Ok(vectors) => vectors,
            // Words still answer when a service does not.
            Err(_) if mode == Mode::Hybrid && !embedder.is_local() => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(vectors.first().map(|vector| view.similarities(vector)))
    }

    fn hits(&self, state: &State, query: &Query, ranked: Vec<Scored>, options: &SearchOptions) -> Vec<Hit> {
        let patterns = patterns(&options.paths);
        let wanted = |item: &Scored| {
            let file = state.view.file(state.shape.file[item.chunk as usize]);
            let level = state.view.chunk(item.chunk).level;
            (options.languages.is_empty() || options.languages.contains(&file.language))
                && patterns
                    .as_ref()
                    .is_none_or(|patterns| patterns.matched_path_or_any_parents(file.path, false).is_ignore())
                && match options.level {
                    Some(Level::File) | None => true,
                    Some(_) => level == Level::Symbol,
                }
        };
        let mut hits: Vec<Hit> = Vec::new();
        let mut files = std::collections::HashSet::new();
        let best = ranked.first().map_or(1.0, |item| item.score).max(f32::MIN_POSITIVE);
        for item in ranked.into_iter().filter(wanted) {
            if hits.len() >= options.limit {
                break;
            }
            let chunk = state.view.chunk(item.chunk);
            let file = state.view.file(chunk.file);
            let (mut start_line, mut end_line) = self.lines(state, item.chunk);
            let mut symbol = (!chunk.name.is_empty()).then(|| chunk.name.to_owned());
            let (mut kind, mut signature) = (chunk.kind, chunk.signature);
            if options.level == Some(Level::File) {
                if !files.insert(chunk.file) {
                    continue;
                }
                let whole = state.view.chunk(file.first_chunk);
                (start_line, end_line, symbol) = (1, whole.end_line, None);
                (kind, signature) = (Kind::File, "");
            } else if options.level == Some(Level::Block) {
                (start_line, end_line) =
                    self.block(state, item.chunk, query).unwrap_or((start_line, end_line));
            }
            // Never a piece and what it is part of.
            let shown =
                |hit: &Hit| hit.file == file.path && hit.start_line <= end_line && start_line <= hit.end_line;
            if hits.iter().any(shown) {
                continue;
            }
            hits.push(Hit {
                rank: hits.len() + 1,
                file: file.path.to_owned(),
                start_line,
                end_line,
                symbol,
                score: ((item.score / best) * 10_000.0).round() / 10_000.0,
                kind,
                language: file.language,
                signature: signature.to_owned(),
                why: item.why,
            });
        }
        hits
    }

    /// The lines to show: of a file or a class what comes before its first symbol, so that nothing is shown twice.
    fn lines(&self, state: &State, chunk: u32) -> (u32, u32) {
        let row = state.view.chunk(chunk);
        let file = state.view.file(row.file);
        let all = file.first_chunk..file.first_chunk + file.chunk_count;
        let is_file = row.level == Level::File;
        let inner = all.map(|at| state.view.chunk(at)).filter(|other| {
            other.level == Level::Symbol
                && if is_file { other.start_line > 1 } else { other.parent == Some(chunk) }
        });
        let first = inner.map(|other| other.start_line).min();
        let end = first.map_or(row.end_line, |first| first.saturating_sub(1).max(row.start_line));
        let end = if is_file { end.min(row.start_line + 59) } else { end };
        (row.start_line, end)
    }

    /// The part of a long symbol that has the most of the query.
    fn block(&self, state: &State, chunk: u32, query: &Query) -> Option<(u32, u32)> {
        let row = state.view.chunk(chunk);
        let file = state.view.file(row.file);
        let all = file.first_chunk..file.first_chunk + file.chunk_count;
        let blocks = all
            .map(|at| state.view.chunk(at))
            .filter(|other| other.level == Level::Block && other.parent == Some(chunk));
        let text = self.text(file.path)?;
        let lines: Vec<&str> = text.lines().collect();
        let weight = |block: &crate::segment::ChunkRow<'_>| {
            let mut sum = 0.0;
            let from = (block.start_line as usize - 1).min(lines.len());
            for line in &lines[from..(block.end_line as usize).clamp(from, lines.len())] {
                crate::tokens::tokens(line, |_, token| {
                    let hash = crate::tokens::hash(token);
                    sum += query.terms.iter().find(|term| term.hash == hash).map_or(0.0, |term| term.weight);
                });
            }
            sum
        };
        let mut best: Option<(f32, (u32, u32))> = None;
        for block in blocks {
            let weight = weight(&block);
            if best.as_ref().is_none_or(|(most, _)| weight > *most) {
                best = Some((weight, (block.start_line, block.end_line)));
            }
        }
        best.map(|(_, lines)| lines)
    }

    /// A file as it is now, if it still is text.
    pub fn text(&self, path: &str) -> Option<String> {
        let index = &self.inner.index;
        let bytes = crate::update::read_limited(&index.root().join(path), index.options().max_file_bytes)?;
        match crate::decode::decode(bytes) {
            crate::decode::Decoded::Text(text) => Some(text),
            crate::decode::Decoded::Binary => None,
        }
    }
}

fn patterns(paths: &[String]) -> Option<Gitignore> {
    if paths.is_empty() {
        return None;
    }
    let mut builder = GitignoreBuilder::new("");
    for path in paths {
        // A pattern that can not be read fits nothing, which the person sees.
        let _ = builder.add_line(None, path);
    }
    builder.build().ok()
}
