//! Keeping an index fresh while something runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use notify::{EventKind, RecursiveMode, Watcher};

use crate::cancel::Cancel;
use crate::index::{IfBusy, Index};
use crate::update::Updated;

/// Changes that come closer together than this are one.
const QUIET: Duration = Duration::from_millis(40);
/// But nobody waits longer for the first of them.
const PATIENCE: Duration = Duration::from_millis(500);
/// Where the system can not tell of changes, the tree is looked at this often.
const LOOK: Duration = Duration::from_secs(20);
/// More files than this at once are a branch that was switched: then the tree is looked at as a whole.
const MANY: usize = 200;

/// Watches a project's files; ends when it is dropped.
pub struct Watch {
    cancel: Cancel,
    worker: Option<JoinHandle<()>>,
    // Dropping it closes the channel that the worker waits on.
    watcher: Option<notify::RecommendedWatcher>,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("told", &self.watcher.is_some()).finish_non_exhaustive()
    }
}

enum Change {
    File(String),
    /// Something that takes a look at the whole tree.
    Tree,
}

impl Watch {
    pub(crate) fn start(index: Index, told: impl Fn(&Updated) + Send + 'static) -> Self {
        let (sender, changes) = mpsc::channel();
        let root = index.root().to_owned();
        let own = sender.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            for change in changes_of(&root, event) {
                // Nobody listens any more only when it is over.
                let _ = own.send(change);
            }
        });
        let watcher = watcher.ok().and_then(|mut watcher| {
            watcher.watch(index.root(), RecursiveMode::Recursive).ok()?;
            Some(watcher)
        });
        let look = if watcher.is_some() { None } else { Some(LOOK) };
        let cancel = Cancel::default();
        let stop = cancel.clone();
        let worker = std::thread::spawn(move || {
            // Without a watcher the channel has to stay open for the time-outs to come.
            let _open = look.map(|_| sender);
            work(&index, &changes, look, &told, &stop);
        });
        Self { cancel, worker: Some(worker), watcher }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.cancel.cancel();
        let told = self.watcher.take().is_some();
        // The worker ends as soon as the channel closes; one that only looks now and then is left to find out by itself.
        if let Some(worker) = self.worker.take().filter(|_| told) {
            let _ = worker.join();
        }
    }
}

fn changes_of(root: &Path, event: notify::Result<notify::Event>) -> Vec<Change> {
    let Ok(event) = event else { return vec![Change::Tree] };
    if matches!(event.kind, EventKind::Access(_)) {
        return Vec::new();
    }
    let of = |path: &std::path::PathBuf| {
        let path = path.strip_prefix(root).ok()?.to_str()?;
        // What git does inside is not the project's.
        let inside = path.split('/').any(|part| part == ".git");
        (!inside && !path.is_empty()).then(|| Change::File(path.to_owned()))
    };
    if event.need_rescan() { vec![Change::Tree] } else { event.paths.iter().filter_map(of).collect() }
}

fn work(
    index: &Index,
    changes: &Receiver<Change>,
    look: Option<Duration>,
    told: &impl Fn(&Updated),
    cancel: &Cancel,
) {
    loop {
        let first = match look {
            Some(pace) => match changes.recv_timeout(pace) {
                Err(RecvTimeoutError::Timeout) => Ok(Change::Tree),
                other => other.map_err(|_| ()),
            },
            None => changes.recv().map_err(|_| ()),
        };
        let Ok(first) = first else { return };
        let mut files = BTreeSet::new();
        let mut tree = false;
        let mut take = |change| match change {
            Change::File(path) => {
                files.insert(path);
            }
            Change::Tree => tree = true,
        };
        take(first);
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline
            && let Ok(change) = changes.recv_timeout(QUIET)
        {
            take(change);
        }
        if cancel.is_cancelled() {
            return;
        }
        let updated = if tree || files.len() > MANY {
            index.update(IfBusy::Wait, &|_| {}, cancel)
        } else {
            index.update_files(&files.into_iter().collect::<Vec<_>>(), cancel)
        };
        // What could not be taken in now is found by the next look.
        if let Ok(updated) = updated
            && updated.added + updated.changed + updated.removed > 0
        {
            told(&updated);
            let _ = index.embed(&|_| {}, cancel);
        }
    }
}
