//! Bringing an index up to date: what is new or changed is read, what is gone is forgotten.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags};

use crate::cancel::Cancel;
use crate::chunk::outline;
use crate::decode::{Decoded, decode};
use crate::error::IndexError;
use crate::index::Index;
use crate::rules::{Skipped, skip_text};
use crate::segment::{Builder, FileEntry};
use crate::store::{Embedded, Lock, Manifest, Snapshot, View};
use crate::walk::{Candidate, Stamp, Walked, walk};

/// A builder heavier than this becomes a segment.
const HEAVY: usize = 64 << 20;
/// And so does one that is older: what was done is kept if the process dies.
const OLD: Duration = Duration::from_secs(5);
/// A file that changed so shortly before it was read may change again without a new time.
const RACY: i64 = 20_000_000;

/// How far the work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Looking for files.
    Walking,
    /// Reading those that are new or changed.
    Reading { done: usize, total: usize, bytes: u64 },
    /// Making vectors.
    Embedding { done: usize, total: usize },
}

/// Told now and then, from any thread.
pub type Progress<'a> = &'a (dyn Fn(Step) + Sync);

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Updated {
    /// Files in the index now.
    pub files: usize,
    pub added: usize,
    pub changed: usize,
    pub removed: usize,
    /// Bytes that were read and cut.
    pub bytes: u64,
    pub skipped: BTreeMap<Skipped, u64>,
    /// Folders that could not be listed.
    pub unreadable: Vec<std::path::PathBuf>,
    /// Whether a part of the index was damaged and made again.
    pub repaired: bool,
}

/// What is shared while files are read.
struct Shared<'a> {
    store: &'a Embedded,
    lock: &'a Lock,
    manifest: Mutex<Manifest>,
    /// Where each path was before: segment and file.
    before: HashMap<String, (String, u32)>,
    skipped: Mutex<BTreeMap<Skipped, u64>>,
}

/// Looks at the whole tree.
pub(crate) fn update(
    index: &Index,
    lock: &Lock,
    progress: Progress<'_>,
    cancel: &Cancel,
) -> Result<Updated, IndexError> {
    progress(Step::Walking);
    let mut manifest = index.store().manifest();
    let (snapshot, damaged) = index.store().snapshot(&manifest, None);
    manifest.segments.retain(|entry| !damaged.contains(&entry.name));
    let walked = walk(index.root(), index.options().max_file_bytes, index.options().threads, cancel);
    if cancel.is_cancelled() {
        return Err(IndexError::Cancelled);
    }
    let plan = plan(&snapshot, &walked);
    let mut report = carry_out(index, lock, manifest, plan, Some(&walked), progress, cancel)?;
    report.repaired = !damaged.is_empty();
    Ok(report)
}

/// Looks at these files only, if all of them are in the index; nothing if one is not, since whether it should be takes a
/// look at the rules of every folder above it.
pub(crate) fn update_known(
    index: &Index,
    lock: &Lock,
    paths: &[String],
    cancel: &Cancel,
) -> Result<Option<Updated>, IndexError> {
    let manifest = index.store().manifest();
    let (snapshot, damaged) = index.store().snapshot(&manifest, None);
    if !damaged.is_empty() {
        return Ok(None);
    }
    let mut candidates = Vec::new();
    let mut gone = Vec::new();
    let known = known(&snapshot);
    for path in paths {
        let Some((at, file, _)) = known.get(path.as_str()) else { return Ok(None) };
        match std::fs::symlink_metadata(index.root().join(path)) {
            Ok(metadata) if metadata.is_file() => {
                candidates.push(Candidate { path: path.clone(), stamp: Stamp::of(&metadata) });
            }
            _ => gone.push((snapshot.parts[*at].name.clone(), *file)),
        }
    }
    let mut plan = Plan { todo: Vec::new(), added: 0, removed: gone, before: HashMap::new() };
    for candidate in &candidates {
        if let Some((at, file, stamp)) = known.get(candidate.path.as_str())
            && *stamp != candidate.stamp
        {
            plan.before.insert(candidate.path.clone(), (snapshot.parts[*at].name.clone(), *file));
            plan.todo.push(candidate);
        }
    }
    carry_out(index, lock, manifest, plan, None, &|_| {}, cancel).map(Some)
}

fn carry_out(
    index: &Index,
    lock: &Lock,
    mut manifest: Manifest,
    plan: Plan<'_>,
    walked: Option<&Walked>,
    progress: Progress<'_>,
    cancel: &Cancel,
) -> Result<Updated, IndexError> {
    let store = index.store();
    let mut report = Updated {
        added: plan.added,
        changed: plan.todo.len() - plan.added,
        removed: plan.removed.len(),
        unreadable: walked.map(|walked| walked.unreadable.clone()).unwrap_or_default(),
        ..Updated::default()
    };
    for (segment, file) in &plan.removed {
        bury(&mut manifest, segment, *file);
    }
    let shared = Shared {
        store,
        lock,
        manifest: Mutex::new(manifest),
        before: plan.before,
        skipped: Mutex::new(walked.map(|walked| walked.skipped.clone()).unwrap_or_default()),
    };
    report.bytes = read_all(index, &shared, &plan.todo, progress, cancel)?;
    let mut manifest = shared.manifest.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    report.skipped = shared.skipped.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let cancelled = cancel.is_cancelled();
    if walked.is_some() && !cancelled {
        manifest.skipped =
            report.skipped.iter().map(|(why, count)| (why.word().to_owned(), *count)).collect();
        manifest.checked_ms = now_nanos() / 1_000_000;
    }
    if !cancelled {
        store.tidy(lock, &mut manifest, index.model().as_deref())?;
    }
    // An index that did not change is written only so that its age is right, and not for every question.
    let before = store.manifest();
    let stale = !store.exists() || (manifest.checked_ms - before.checked_ms).abs() > 5_000;
    if manifest.segments != before.segments || stale {
        store.commit(lock, &manifest)?;
    }
    if cancelled {
        return Err(IndexError::Cancelled);
    }
    report.files = store.snapshot(&manifest, None).0.totals().files as usize;
    Ok(report)
}

struct Plan<'w> {
    todo: Vec<&'w Candidate>,
    added: usize,
    removed: Vec<(String, u32)>,
    before: HashMap<String, (String, u32)>,
}

/// Where each file is, and what it looked like.
fn known(snapshot: &Snapshot) -> HashMap<&str, (usize, u32, Stamp)> {
    let mut known: HashMap<&str, (usize, u32, Stamp)> = HashMap::new();
    for (at, part) in snapshot.parts.iter().enumerate() {
        for file in (0..part.segment.file_count()).filter(|file| !part.dead.contains(file)) {
            let row = part.segment.file(file);
            let stamp = Stamp { size: u64::from(row.size), modified: row.modified, changed: row.changed };
            known.insert(row.path, (at, file, stamp));
        }
    }
    known
}

fn plan<'w>(snapshot: &Snapshot, walked: &'w Walked) -> Plan<'w> {
    let mut known = known(snapshot);
    let mut plan = Plan { todo: Vec::new(), added: 0, removed: Vec::new(), before: HashMap::new() };
    for candidate in &walked.files {
        match known.remove(candidate.path.as_str()) {
            Some((_, _, stamp)) if stamp == candidate.stamp => {}
            Some((at, file, _)) => {
                plan.before.insert(candidate.path.clone(), (snapshot.parts[at].name.clone(), file));
                plan.todo.push(candidate);
            }
            None => {
                plan.added += 1;
                plan.todo.push(candidate);
            }
        }
    }
    plan.removed = known.into_values().map(|(at, file, _)| (snapshot.parts[at].name.clone(), file)).collect();
    plan.removed.sort();
    plan
}

/// Marks a file as gone from a segment.
fn bury(manifest: &mut Manifest, segment: &str, file: u32) {
    if let Some(entry) = manifest.segments.iter_mut().find(|entry| entry.name == segment)
        && !entry.dead.contains(&file)
    {
        entry.dead.push(file);
    }
}

/// Reads files in all threads, each making segments of its own. Answers how many bytes.
fn read_all(
    index: &Index,
    shared: &Shared<'_>,
    todo: &[&Candidate],
    progress: Progress<'_>,
    cancel: &Cancel,
) -> Result<u64, IndexError> {
    let (next, done, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0));
    let failure: Mutex<Option<IndexError>> = Mutex::new(None);
    let work = || -> Result<(), IndexError> {
        let mut builder = Builder::default();
        let mut paths: Vec<&str> = Vec::new();
        let mut started = Instant::now();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(candidate) = todo.get(at).filter(|_| !cancel.is_cancelled()) else { break };
            match read(index.root(), candidate, index.options().max_file_bytes) {
                Ok((entry, text)) => {
                    bytes.fetch_add(text.len() as u64, Ordering::Relaxed);
                    builder.add(&entry, &outline(&entry.path, &text), &text);
                    paths.push(&candidate.path);
                }
                Err(why) => {
                    let mut skipped =
                        shared.skipped.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    *skipped.entry(why).or_default() += 1;
                    drop(skipped);
                    shared.forget(&candidate.path);
                }
            }
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            if count.is_multiple_of(16) || count == todo.len() {
                progress(Step::Reading {
                    done: count,
                    total: todo.len(),
                    bytes: bytes.load(Ordering::Relaxed),
                });
            }
            if builder.weight() > HEAVY || (started.elapsed() > OLD && builder.file_count() > 200) {
                shared.flush(std::mem::take(&mut builder), &mut paths)?;
                started = Instant::now();
            }
        }
        if builder.is_empty() { Ok(()) } else { shared.flush(builder, &mut paths) }
    };
    let threads = index.options().threads.min(todo.len().div_ceil(4)).max(1);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                if let Err(error) = work() {
                    // The others have nothing to write to either.
                    next.store(usize::MAX / 2, Ordering::Relaxed);
                    failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
                }
            });
        }
    });
    match failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(bytes.into_inner()),
    }
}

impl Shared<'_> {
    /// Writes a segment and makes it count, in place of what its files were before.
    fn flush(&self, builder: Builder, paths: &mut Vec<&str>) -> Result<(), IndexError> {
        let bytes = builder.finish();
        let mut manifest = self.manifest.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let name = self.store.write_segment(self.lock, manifest.next, &bytes)?;
        manifest.next += 1;
        for path in paths.drain(..) {
            if let Some((segment, file)) = self.before.get(path) {
                bury(&mut manifest, segment, *file);
            }
        }
        manifest.segments.push(crate::store::SegmentEntry { name, dead: Vec::new() });
        self.store.commit(self.lock, &manifest)
    }

    /// A file that can not be read any more is not in the index any more.
    fn forget(&self, path: &str) {
        if let Some((segment, file)) = self.before.get(path) {
            bury(
                &mut self.manifest.lock().unwrap_or_else(std::sync::PoisonError::into_inner),
                segment,
                *file,
            );
        }
    }
}

/// Reads a file as text, or says why not. Whatever it is by now, this neither blocks nor reads more than the limit.
fn read(root: &Path, candidate: &Candidate, limit: u64) -> Result<(FileEntry, String), Skipped> {
    let path = root.join(&candidate.path);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(&path, flags, Mode::empty()).map_err(|_| Skipped::Unreadable)?;
    let file = std::fs::File::from(file);
    let metadata = file.metadata().map_err(|_| Skipped::Unreadable)?;
    if !metadata.is_file() {
        return Err(Skipped::Unreadable);
    }
    let mut stamp = Stamp::of(&metadata);
    let read_at = now_nanos();
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size.min(limit)).unwrap_or(0) + 1);
    (&file).take(limit + 1).read_to_end(&mut bytes).map_err(|_| Skipped::Unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(Skipped::Huge);
    }
    let after = file.metadata().map(|metadata| Stamp::of(&metadata)).unwrap_or_default();
    if after != stamp || stamp.changed > read_at - RACY {
        // It may be half of one state and half of another: a stamp that fits nothing has it read again next time.
        stamp.changed = i64::MIN;
    }
    let mut hash = [0; 16];
    hash.copy_from_slice(&blake3::hash(&bytes).as_bytes()[..16]);
    let Decoded::Text(text) = decode(bytes) else { return Err(Skipped::Binary) };
    if let Some(why) = skip_text(&candidate.path, &text) {
        return Err(why);
    }
    Ok((FileEntry { path: candidate.path.clone(), stamp, hash }, text))
}

/// A file's bytes, if it is a file and within the limit.
pub(crate) fn read_limited(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let mut bytes = Vec::new();
    file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    file.take(limit + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= limit).then_some(bytes)
}

pub(crate) fn now_nanos() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
