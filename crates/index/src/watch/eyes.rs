//! Hearing of changes from the system.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;

use notify::{EventKind, RecursiveMode, Watcher};

use super::Change;

/// Watches the folders that the index looks into. Those that are left out are not watched either: what a build writes is
/// nobody's business, and each folder costs the system memory.
pub(super) struct Eyes {
    root: PathBuf,
    /// Nothing where the system has no means, or no more of them.
    watcher: Option<notify::RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
}

impl Eyes {
    pub(super) fn new(root: &Path, changes: Sender<Change>) -> Self {
        let base = root.to_owned();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            for change in changes_of(&base, event) {
                // Nobody listens any more only when it is over.
                let _ = changes.send(change);
            }
        });
        Self { root: root.to_owned(), watcher: watcher.ok(), watched: BTreeSet::new() }
    }

    pub(super) fn are_blind(&self) -> bool {
        self.watcher.is_none()
    }

    /// Watches every folder there is now.
    pub(super) fn open(&mut self) {
        let Some(watcher) = &mut self.watcher else { return };
        let now = crate::walk::folders(&self.root);
        for gone in self.watched.difference(&now) {
            // The system may have noticed by itself.
            let _ = watcher.unwatch(gone);
        }
        let new = now.difference(&self.watched);
        // One that vanished meanwhile is no reason to give up; a limit that is reached is.
        let seen = new
            .into_iter()
            .all(|folder| watcher.watch(folder, RecursiveMode::NonRecursive).is_ok() || !folder.exists());
        self.watched = now;
        if !seen {
            self.watcher = None;
        }
    }
}

fn changes_of(root: &Path, event: notify::Result<notify::Event>) -> Vec<Change> {
    let Ok(event) = event else { return vec![Change::Tree] };
    if matches!(event.kind, EventKind::Access(_)) {
        return Vec::new();
    }
    let of = |path: &PathBuf| {
        let path = path.strip_prefix(root).ok()?.to_str()?;
        // What git does inside is not the project's.
        let inside = path.split('/').any(|part| part == ".git");
        (!inside && !path.is_empty()).then(|| Change::File(path.to_owned()))
    };
    if event.need_rescan() { vec![Change::Tree] } else { event.paths.iter().filter_map(of).collect() }
}
