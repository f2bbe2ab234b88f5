//! The files of a project that an index should hold.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use ignore::{WalkBuilder, WalkState};

use crate::cancel::Cancel;
use crate::rules::{Skipped, skip_folder, skip_name};

/// A file as the file system describes it. Times are compared for equality only, so a clock may run backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    /// Nanoseconds; of the content, and of the file's description, which no program can set back.
    pub(crate) modified: i64,
    pub(crate) changed: i64,
}

impl Stamp {
    pub(crate) fn of(metadata: &std::fs::Metadata) -> Self {
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self {
            size: metadata.len(),
            modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanos(metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// A file to look at.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    /// Relative to the root, with `/`; never empty.
    pub(crate) path: String,
    pub(crate) stamp: Stamp,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Sorted by path.
    pub(crate) files: Vec<Candidate>,
    pub(crate) skipped: BTreeMap<Skipped, u64>,
    /// Folders that could not be listed.
    pub(crate) unreadable: Vec<PathBuf>,
}

enum Found {
    File(Candidate),
    Skipped(Skipped),
    Unreadable(PathBuf),
}

/// Lists a project. Links are not followed, so there are no loops; other file systems' special files are not opened.
pub(crate) fn walk(root: &Path, max_size: u64, threads: usize, cancel: &Cancel) -> Walked {
    let (sender, receiver) = mpsc::channel::<Found>();
    let walker = walker(root).threads(threads).build_parallel();
    walker.run(|| {
        let sender = sender.clone();
        Box::new(move |entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            let Some((found, state)) = look(root, max_size, entry) else { return WalkState::Continue };
            // Nobody listens any more only when the walk is over.
            let _ = sender.send(found);
            state
        })
    });
    drop(sender);
    let mut walked = Walked::default();
    for found in receiver {
        match found {
            Found::File(file) => walked.files.push(file),
            Found::Skipped(why) => *walked.skipped.entry(why).or_default() += 1,
            Found::Unreadable(path) => walked.unreadable.push(path),
        }
    }
    walked.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    walked.unreadable.sort_unstable();
    walked
}

/// The folders that a walk looks into, the root among them.
pub(crate) fn folders(root: &Path) -> BTreeSet<PathBuf> {
    let walker = walker(root)
        .filter_entry(|entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            is_folder && (entry.depth() == 0 || (is_wanted(entry) && !skip_folder(entry.path())))
        })
        .build();
    walker.flatten().map(ignore::DirEntry::into_path).collect()
}

fn walker(root: &Path) -> WalkBuilder {
    let mut walker = WalkBuilder::new(root);
    walker.hidden(false).require_git(false).follow_links(false).filter_entry(is_wanted);
    walker
}

/// Hidden folders belong to tools; what runs a project's checks is part of the project.
fn is_wanted(entry: &ignore::DirEntry) -> bool {
    let name = entry.file_name().to_str().unwrap_or_default();
    entry.depth() == 0
        || !name.starts_with('.')
        || name == ".github"
        || entry.file_type().is_some_and(|kind| kind.is_file())
}

fn look(
    root: &Path,
    max_size: u64,
    entry: Result<ignore::DirEntry, ignore::Error>,
) -> Option<(Found, WalkState)> {
    let entry = match entry {
        Ok(entry) => entry,
        Err(error) => {
            let path = error_path(&error).unwrap_or_else(|| root.to_owned());
            return Some((Found::Unreadable(path), WalkState::Continue));
        }
    };
    let kind = entry.file_type()?;
    if kind.is_dir() {
        let skip = entry.depth() > 0 && skip_folder(entry.path());
        return skip.then_some((Found::Skipped(Skipped::Vendored), WalkState::Skip));
    }
    if !kind.is_file() {
        return None;
    }
    let go_on = |found| Some((found, WalkState::Continue));
    // A name that is not UTF-8 can not be printed as JSON or typed by a model.
    let Some(path) = entry.path().strip_prefix(root).ok().and_then(Path::to_str) else {
        return go_on(Found::Skipped(Skipped::Unreadable));
    };
    if let Some(why) = skip_name(path) {
        return go_on(Found::Skipped(why));
    }
    let Ok(metadata) = entry.metadata() else {
        return go_on(Found::Skipped(Skipped::Unreadable));
    };
    if metadata.len() > max_size {
        return go_on(Found::Skipped(Skipped::Huge));
    }
    go_on(Found::File(Candidate { path: path.to_owned(), stamp: Stamp::of(&metadata) }))
}

fn error_path(error: &ignore::Error) -> Option<PathBuf> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path.clone()),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => error_path(err),
        ignore::Error::Partial(errors) => errors.iter().find_map(error_path),
        _ => None,
    }
}
