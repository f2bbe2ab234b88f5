//! Making the vectors of an index, in the background and at low priority.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::chunk::{Level, passage, title};
use crate::decode::{Decoded, decode};
use crate::embed::{Embedder, Purpose, VectorCache};
use crate::error::IndexError;
use crate::index::Index;
use crate::store::Loaded;
use crate::update::{Progress, Step};
use crate::vectors::{Quantized, Vectors, model_key};

/// What is done is written this often: a killed process loses no more.
const OFTEN: Duration = Duration::from_secs(3);

/// How many vectors a local model makes before it looks whether it should stop.
const AT_ONCE: usize = 8;

/// What making vectors did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Embedded {
    /// Chunks that should have one.
    pub wanted: usize,
    /// How many were computed, and how many found in the cache.
    pub computed: usize,
    pub cached: usize,
}

/// A chunk that has no vector yet: where it is, and the hash of its text.
#[derive(Clone, Copy)]
struct Missing {
    part: usize,
    file: u32,
    chunk: u32,
    key: [u8; 16],
}

pub(crate) fn embed(index: &Index, progress: Progress<'_>, cancel: &Cancel) -> Result<Embedded, IndexError> {
    let Some(embedder) = index.options().embedder.clone() else { return Ok(Embedded::default()) };
    let store = index.store();
    let manifest = store.manifest();
    let (snapshot, _) = store.snapshot(&manifest, Some(embedder.id()));
    let mut done = Embedded::default();
    let mut missing = Vec::new();
    let mut tables = Vec::new();
    for (at, part) in snapshot.parts.iter().enumerate() {
        let count = part.segment.chunk_count() as usize;
        tables.push(start(part, embedder.as_ref(), count));
        for file in (0..part.segment.file_count()).filter(|file| !part.dead.contains(file)) {
            let row = part.segment.file(file);
            for chunk in row.first_chunk..row.first_chunk + row.chunk_count {
                let row = part.segment.chunk(chunk);
                if !row.has_passage() {
                    continue;
                }
                done.wanted += 1;
                if !tables[at].has(chunk as usize) {
                    missing.push(Missing { part: at, file, chunk, key: row.passage });
                }
            }
        }
    }
    if missing.is_empty() {
        return Ok(done);
    }
    let cache = VectorCache::open(&index.options().vectors, embedder.id(), embedder.dimensions());
    let mut dirty = vec![false; tables.len()];
    missing.retain(|wanted| match cache.get(&wanted.key) {
        Some(vector) => {
            tables[wanted.part].set(wanted.chunk as usize, &vector);
            dirty[wanted.part] = true;
            done.cached += 1;
            false
        }
        None => true,
    });
    let write = |tables: &[Vectors], dirty: &mut [bool]| -> Result<(), IndexError> {
        for (at, part) in snapshot.parts.iter().enumerate() {
            // A segment that was merged away meanwhile has no use for vectors; its successor takes them from the cache.
            if std::mem::take(&mut dirty[at]) && store.path(&part.name, "seg").exists() {
                store.write_vectors(&part.name, &tables[at])?;
            }
        }
        Ok(())
    };
    write(&tables, &mut dirty)?;
    let parts = &snapshot.parts;
    let batches = batches(&missing, embedder.batch());
    let state = Mutex::new((tables, dirty, cache, Instant::now(), done));
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failure: Mutex<Option<IndexError>> = Mutex::new(None);
    progress(Step::Embedding { done: 0, total: missing.len() });
    // A person who stops it, or waits for a moment of it, does not wait for more than a tenth of a second.
    let at_once = if embedder.is_local() { AT_ONCE } else { embedder.batch() * 4 };
    let work = || -> Result<(), IndexError> {
        lower_priority();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(batch) = batches.get(at).filter(|_| !cancel.is_cancelled()) else { return Ok(()) };
            let texts = texts(index, parts, batch);
            // What could not be read is done with.
            finished.fetch_add(batch.len() - texts.len(), Ordering::Relaxed);
            for texts in texts.chunks(at_once) {
                if cancel.is_cancelled() {
                    return Ok(());
                }
                let slices: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
                let vectors = embedder.embed(Purpose::Passage, &slices)?;
                let vectors: Vec<Quantized> = vectors.iter().map(|vector| Quantized::of(vector)).collect();
                let rows: Vec<([u8; 16], &Quantized)> =
                    texts.iter().zip(&vectors).map(|((wanted, _), vector)| (wanted.key, vector)).collect();
                let mut state = state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let (tables, dirty, cache, written, done) = &mut *state;
                cache.add(&rows)?;
                for ((wanted, _), vector) in texts.iter().zip(&vectors) {
                    tables[wanted.part].set(wanted.chunk as usize, vector);
                    dirty[wanted.part] = true;
                }
                done.computed += vectors.len();
                if written.elapsed() > OFTEN {
                    write(tables, dirty)?;
                    *written = Instant::now();
                }
                drop(state);
                let count = finished.fetch_add(texts.len(), Ordering::Relaxed) + texts.len();
                progress(Step::Embedding { done: count, total: missing.len() });
            }
        }
    };
    let threads = if embedder.is_local() { index.options().threads } else { 2 };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(batches.len()).max(1) {
            scope.spawn(|| {
                if let Err(error) = work() {
                    next.store(usize::MAX / 2, Ordering::Relaxed);
                    failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get_or_insert(error);
                }
            });
        }
    });
    let (tables, mut dirty, _, _, done) =
        state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    write(&tables, &mut dirty)?;
    match failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(error) => Err(error),
        None if cancel.is_cancelled() => Err(IndexError::Cancelled),
        None => Ok(done),
    }
}

/// The vectors that a segment has, to be added to.
fn start(part: &Loaded, embedder: &dyn Embedder, count: usize) -> Vectors {
    let mut table = Vectors::new(model_key(embedder.id()), embedder.dimensions(), count);
    if let Some(old) = &part.vectors {
        (0..count).filter_map(|at| Some((at, old.get(at)?))).for_each(|(at, vector)| table.set(at, &vector));
    }
    table
}

/// Files stay together, so that each is read once; the same text twice is embedded once for each, which is rare.
fn batches(missing: &[Missing], size: usize) -> Vec<&[Missing]> {
    let mut out = Vec::new();
    let mut start = 0;
    for at in 1..=missing.len() {
        let ends = at == missing.len()
            || (missing[at].part, missing[at].file) != (missing[at - 1].part, missing[at - 1].file);
        if ends && at - start >= size || at == missing.len() || at - start >= size * 4 {
            out.push(&missing[start..at]);
            start = at;
        }
    }
    out.retain(|batch| !batch.is_empty());
    out
}

/// The passages of a batch, read again. What changed since has another hash and is left to the next update.
fn texts(index: &Index, parts: &[Loaded], batch: &[Missing]) -> Vec<(Missing, String)> {
    let mut by_file: HashMap<(usize, u32), Vec<Missing>> = HashMap::new();
    for wanted in batch {
        by_file.entry((wanted.part, wanted.file)).or_default().push(*wanted);
    }
    let mut out = Vec::with_capacity(batch.len());
    for ((part, file), wanted) in by_file {
        let segment = &parts[part].segment;
        let row = segment.file(file);
        let Ok(bytes) = std::fs::read(index.root().join(row.path)) else { continue };
        if blake3::hash(&bytes).as_bytes()[..16] != row.hash {
            continue;
        }
        let Decoded::Text(text) = decode(bytes) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        let chunks = (row.first_chunk..row.first_chunk + row.chunk_count).map(|chunk| segment.chunk(chunk));
        let outermost = chunks.filter(|chunk| chunk.level == Level::Symbol && chunk.parent.is_none());
        let names = title(outermost.map(|chunk| chunk.name));
        for wanted in wanted {
            let chunk = segment.chunk(wanted.chunk);
            let title = if chunk.level == Level::File { names.as_str() } else { chunk.name };
            out.push((wanted, passage(row.path, title, chunk.start_line, chunk.end_line, &lines)));
        }
    }
    out
}

/// This thread gives way to everything else on the machine.
pub(crate) fn lower_priority() {
    // On Linux the priority is the thread's; where it can not be changed, it stays.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(10);
}
