//! Going through folders on this machine's disk, several threads at once.
//!
//! Ignore rules hold as git has them; hidden files and those that are ignored come when asked for. `.git` itself never
//! does. Links are not followed, so nothing leads out of where the walk started, or in a circle.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::ToolError;

/// More threads than this only wait for the disk.
const MAX_THREADS: usize = 8;

/// Says that nobody waits for the answer any more.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets it when the call that waits is dropped.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` where it may block. When the future is dropped, `work` is told to stop.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Result<T, ToolError> {
    let stop = Stop::default();
    let _guard = StopOnDrop(stop.clone());
    let done = tokio::task::spawn_blocking(move || work(&stop)).await;
    done.map_err(|error| ToolError(format!("the search broke off: {error}")))
}

/// Which files are wanted, by patterns. One without `/` fits at any depth; one with `!` in front takes
/// away.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    wanted: Option<GlobSet>,
    unwanted: GlobSet,
}

impl Filter {
    pub(crate) fn new(patterns: &[String]) -> Result<Self, ToolError> {
        let mut wanted = GlobSetBuilder::new();
        let mut unwanted = GlobSetBuilder::new();
        let mut any_wanted = false;
        let bad = |error: globset::Error| ToolError(format!("not a pattern: {error}"));
        for pattern in patterns {
            let (pattern, set) = match pattern.strip_prefix('!') {
                Some(pattern) => (pattern, &mut unwanted),
                None => {
                    any_wanted = true;
                    (pattern.as_str(), &mut wanted)
                }
            };
            // A folder stands for what is in it.
            let whole = if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_owned() };
            let below = whole.strip_prefix("./").unwrap_or(&whole).trim_start_matches('/');
            let anchored = if whole.contains('/') { below.to_owned() } else { format!("**/{below}") };
            set.add(GlobBuilder::new(&anchored).literal_separator(true).build().map_err(bad)?);
        }
        let wanted = any_wanted.then(|| wanted.build()).transpose().map_err(bad)?;
        Ok(Self { wanted, unwanted: unwanted.build().map_err(bad)? })
    }

    /// `path` is relative to where the walk started.
    pub(crate) fn takes(&self, path: &Path) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.is_match(path)) && !self.unwanted.is_match(path)
    }
}

/// Ripgrep's names for kinds of files: `rust`, `py`, `js`.
pub(crate) fn types(name: &str) -> Result<Types, ToolError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    builder.select(name);
    builder.build().map_err(|error| ToolError(format!("{error}; use `glob` instead")))
}

#[derive(Debug, Clone)]
pub(crate) struct Walk {
    base: PathBuf,
    hidden: bool,
    ignored: bool,
    types: Option<Types>,
    filter: Option<Filter>,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Sorted.
    pub(crate) files: Vec<PathBuf>,
    /// Places that could not be looked at.
    pub(crate) unreadable: usize,
}

impl Walk {
    /// Below `base`, which is free of links. A file is a walk of one.
    pub(crate) fn new(base: PathBuf) -> Self {
        Self { base, hidden: false, ignored: false, types: None, filter: None }
    }

    pub(crate) fn filtered(self, filter: Filter) -> Self {
        Self { filter: Some(filter), ..self }
    }

    pub(crate) fn of_types(self, types: Option<Types>) -> Self {
        Self { types, ..self }
    }

    /// Also hidden files, also ignored ones.
    pub(crate) fn with(self, hidden: bool, ignored: bool) -> Self {
        Self { hidden, ignored, ..self }
    }

    pub(crate) fn builder(&self) -> WalkBuilder {
        let mut builder = WalkBuilder::new(&self.base);
        builder.standard_filters(!self.ignored).hidden(!self.hidden).require_git(false).follow_links(false);
        builder.filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
        if let Some(types) = &self.types {
            builder.types(types.clone());
        }
        builder
    }

    /// Whether a file is one of those that are wanted.
    pub(crate) fn takes(&self, entry: &DirEntry) -> bool {
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            return false;
        }
        let Some(filter) = &self.filter else { return true };
        // A file that is named outright is wanted whatever the patterns say.
        let below = entry.path().strip_prefix(&self.base).unwrap_or(entry.path());
        below.as_os_str().is_empty() || filter.takes(below)
    }

    /// Hands each wanted file to a worker of its thread. Answers how many places could not be looked at.
    pub(crate) fn each<W: FnMut(&DirEntry) + Send>(&self, stop: &Stop, worker: impl Fn() -> W) -> usize {
        let unreadable = AtomicUsize::new(0);
        let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().min(MAX_THREADS));
        self.builder().threads(threads).build_parallel().run(|| {
            let mut work = worker();
            let unreadable = &unreadable;
            Box::new(move |entry| {
                if stop.is_set() {
                    return WalkState::Quit;
                }
                match entry {
                    Ok(entry) if self.takes(&entry) => work(&entry),
                    Ok(_) => {}
                    Err(_) => {
                        unreadable.fetch_add(1, Ordering::Relaxed);
                    }
                }
                WalkState::Continue
            })
        });
        unreadable.into_inner()
    }

    /// All wanted files.
    pub(crate) fn files(&self, stop: &Stop) -> Walked {
        let all = Mutex::new(Vec::new());
        let unreadable = self.each(stop, || {
            let mut found = Batch { found: Vec::new(), all: &all };
            move |entry: &DirEntry| found.push(entry.path().to_owned())
        });
        let mut files = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        files.sort_unstable();
        Walked { files, unreadable }
    }
}

/// What one thread found, handed over now and then instead of file by file.
struct Batch<'a> {
    found: Vec<PathBuf>,
    all: &'a Mutex<Vec<PathBuf>>,
}

impl Batch<'_> {
    fn push(&mut self, path: PathBuf) {
        self.found.push(path);
        if self.found.len() >= 1024 {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.found);
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.hand_over();
    }
}
