//! Keeping an index fresh while something runs.
//!
//! One thread hears of changes and takes them in, another makes the vectors that are missing then. Both give way to
//! everything else, and neither does anything while nothing changes.

mod eyes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use self::eyes::Eyes;
use crate::cancel::Cancel;
use crate::embedding::lower_priority;
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
/// Looking at the whole tree takes no more than this share of the time, however much is written to it.
const SHARE: u32 = 20;
/// What is kept begins so much later: a program that is done by then pays nothing.
const LATER: Duration = Duration::from_secs(2);
/// How long another process may go on making vectors before it is asked for again.
const AGAIN: Duration = Duration::from_secs(30);

/// Watches a project's files; ends when it is dropped.
#[derive(Debug)]
pub struct Watch {
    cancel: Cancel,
    changes: Sender<Change>,
}

/// What the thread hears.
#[derive(Debug)]
enum Change {
    File(String),
    /// Something that takes a look at the whole tree.
    Tree,
    End,
}

impl Watch {
    pub(crate) fn start(index: Index, after: Duration, told: impl Fn(&Updated) + Send + 'static) -> Self {
        let (changes, heard) = mpsc::channel();
        let watch = Self { cancel: Cancel::default(), changes: changes.clone() };
        let cancel = watch.cancel.clone();
        // It ends by itself; whoever drops the watch does not wait for it.
        std::thread::spawn(move || {
            lower_priority();
            if !matches!(heard.recv_timeout(after), Err(RecvTimeoutError::Timeout)) {
                return;
            }
            let vectors = make_vectors(index.clone(), cancel.clone());
            let eyes = Eyes::new(index.root(), changes);
            Worker { index, heard, eyes, vectors, cancel, rest_until: Instant::now() }.run(&told);
        });
        watch
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.cancel.cancel();
        // A thread that ended already needs no telling.
        let _ = self.changes.send(Change::End);
    }
}

/// The watch over a project that all parts of a process share. See [`Index::keep`].
pub(crate) fn keep(index: &Index) -> Arc<Watch> {
    static KEPT: Mutex<BTreeMap<PathBuf, Weak<Watch>>> = Mutex::new(BTreeMap::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    kept.retain(|_, watch| watch.strong_count() > 0);
    // The folder of the index, since tests and people may have several homes.
    let folder = index.store().folder();
    if let Some(watch) = kept.get(folder).and_then(Weak::upgrade) {
        return watch;
    }
    let watch = Arc::new(Watch::start(index.clone(), LATER, |_| {}));
    kept.insert(folder.to_owned(), Arc::downgrade(&watch));
    watch
}

struct Worker {
    index: Index,
    heard: Receiver<Change>,
    eyes: Eyes,
    vectors: Sender<()>,
    cancel: Cancel,
    /// When the whole tree may be looked at again.
    rest_until: Instant,
}

impl Worker {
    fn run(mut self, told: &impl Fn(&Updated)) {
        // What changed before anybody watched.
        let mut tree = true;
        let mut files = BTreeSet::new();
        loop {
            let updated = if tree { self.look() } else { self.take_in(&files) };
            if self.cancel.is_cancelled() {
                return;
            }
            // Nothing means that one of them is new, and whether it belongs here takes a look at every rule above it.
            tree = updated.is_none();
            if let Some(updated) = updated {
                files.clear();
                if updated.added + updated.changed + updated.removed > 0 {
                    told(&updated);
                }
                // Also without a change: vectors may be missing from before.
                let _ = self.vectors.send(());
            }
            match self.hear(tree, &mut files) {
                Some(whole) => tree |= whole || files.len() > MANY,
                None => return,
            }
        }
    }

    /// Waits for changes and the time to take them in. Whether the whole tree has to be looked at; nothing at the end.
    fn hear(&self, mut tree: bool, files: &mut BTreeSet<String>) -> Option<bool> {
        let mut deadline = tree.then_some(self.rest_until);
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let change = match left {
                Some(left) if left.is_zero() => return Some(tree),
                // The first wait of a burst ends when it is quiet, a rest when it is over.
                Some(left) => self.heard.recv_timeout(if tree { left } else { left.min(QUIET) }),
                None if self.eyes.are_blind() => self.heard.recv_timeout(LOOK).or(Ok(Change::Tree)),
                None => self.heard.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            // However much follows, the time that the first of them set stays.
            match change {
                Ok(Change::File(path)) => {
                    files.insert(path);
                    deadline = deadline.or(Some(Instant::now() + PATIENCE));
                }
                Ok(Change::Tree) if tree => {}
                Ok(Change::Tree) => {
                    tree = true;
                    deadline = Some(self.rest_until.max(Instant::now() + QUIET));
                }
                Ok(Change::End) | Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => return Some(tree),
            }
        }
    }

    fn look(&mut self) -> Option<Updated> {
        let started = Instant::now();
        self.eyes.open();
        let updated = self.index.update(IfBusy::Wait, &|_| {}, &self.cancel);
        self.rest_until = Instant::now() + started.elapsed() * SHARE;
        // What could not be taken in now is found by the next look.
        Some(updated.unwrap_or_default())
    }

    fn take_in(&self, files: &BTreeSet<String>) -> Option<Updated> {
        let files: Vec<String> = files.iter().cloned().collect();
        self.index.update_known(&files, &self.cancel).unwrap_or_default()
    }
}

/// A thread that makes missing vectors whenever it is told, until whoever tells it is gone.
fn make_vectors(index: Index, cancel: Cancel) -> Sender<()> {
    let (sender, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut busy = false;
        loop {
            let told_now = if busy {
                told.recv_timeout(AGAIN)
            } else {
                told.recv().map_err(|_| RecvTimeoutError::Disconnected)
            };
            if matches!(told_now, Err(RecvTimeoutError::Disconnected)) || cancel.is_cancelled() {
                return;
            }
            while told.try_recv().is_ok() {}
            // One process of several is enough. What fails is tried again with the next change.
            let turn = index.store().turn_for_vectors();
            busy = matches!(turn, Ok(None));
            if let Ok(Some(_turn)) = turn {
                let _ = index.embed(&|_| {}, &cancel);
            }
        }
    });
    sender
}
