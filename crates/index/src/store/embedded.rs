//! The store in files: a folder for each project, private to the person.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustix::fs::{FlockOperation, flock};

use super::manifest::SegmentEntry;
use super::snapshot::Loaded;
use super::{Manifest, Snapshot};
use crate::error::IndexError;
use crate::segment::{Segment, merge};
use crate::vectors::{Vectors, model_key};

/// More segments than this are merged.
const MANY: usize = 10;

/// An index on disk.
///
/// Segments are never changed, and the manifest is replaced in one step: whoever reads needs no lock, and whoever is
/// killed leaves the state before. One process writes at a time; the lock goes with the process.
#[derive(Debug)]
pub(crate) struct Embedded {
    folder: PathBuf,
    root: PathBuf,
    /// What was read last, so that a new state costs only what is new.
    known: Mutex<HashMap<String, Known>>,
}

#[derive(Debug, Clone)]
struct Known {
    segment: Arc<Segment>,
    vectors: Option<(String, i64, Option<Arc<Vectors>>)>,
}

/// The right to write, while it lives.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Embedded {
    /// The index of `root` under `indexes`. Nothing is read or made yet.
    pub(crate) fn new(indexes: &Path, root: &Path) -> Self {
        let name = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        Self { folder: indexes.join(&name[..16]), root: root.to_owned(), known: Mutex::default() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn exists(&self) -> bool {
        self.folder.join("manifest.json").exists()
    }

    /// The right to write; nothing if someone else has it and `wait` is off.
    pub(crate) fn lock(&self, wait: bool) -> Result<Option<Lock>, IndexError> {
        self.take("lock", wait)
    }

    fn take(&self, name: &str, wait: bool) -> Result<Option<Lock>, IndexError> {
        project::create_private_dir(&self.folder).map_err(IndexError::io("create", &self.folder))?;
        let path = self.folder.join(name);
        let file = File::options().create(true).append(true).mode(0o600).open(&path);
        let file = file.map_err(IndexError::io("open", &path))?;
        let how = if wait { FlockOperation::LockExclusive } else { FlockOperation::NonBlockingLockExclusive };
        match flock(&file, how) {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(errno) => Err(IndexError::io("lock", &path)(errno.into())),
        }
    }

    /// The right to make vectors unasked; nothing if someone else has it. Who is asked to make them makes them anyway.
    pub(crate) fn turn_for_vectors(&self) -> Result<Option<Lock>, IndexError> {
        self.take("vectors.lock", false)
    }

    /// What is valid now. A manifest that can not be read is as good as none.
    pub(crate) fn manifest(&self) -> Manifest {
        let read = std::fs::read(self.folder.join("manifest.json")).ok();
        let parsed = read.and_then(|bytes| Manifest::parse(&bytes));
        parsed.unwrap_or_else(|| Manifest::new(self.root.to_string_lossy().into_owned()))
    }

    /// The state that a manifest describes, with the vectors of `model`. Segments that are damaged are left out, and
    /// named: what was in them has to be indexed again.
    pub(crate) fn snapshot(&self, manifest: &Manifest, model: Option<&str>) -> (Snapshot, Vec<String>) {
        let mut damaged = Vec::new();
        let mut parts = Vec::new();
        let mut known = self.known.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        known.retain(|name, _| manifest.segments.iter().any(|entry| entry.name == *name));
        for entry in &manifest.segments {
            let loaded = known.get(&entry.name).cloned().or_else(|| {
                let segment = Segment::read(&self.path(&entry.name, "seg"))?;
                Some(Known { segment: Arc::new(segment), vectors: None })
            });
            let Some(mut loaded) = loaded else {
                damaged.push(entry.name.clone());
                continue;
            };
            let vectors = model.and_then(|model| self.vectors(&mut loaded, &entry.name, model));
            known.insert(entry.name.clone(), loaded.clone());
            parts.push(Loaded {
                name: entry.name.clone(),
                segment: loaded.segment,
                dead: Arc::new(entry.dead.iter().copied().collect()),
                vectors,
                first_chunk: 0,
                first_file: 0,
            });
        }
        (Snapshot::new(parts), damaged)
    }

    /// From memory unless the file was replaced since.
    fn vectors(&self, known: &mut Known, name: &str, model: &str) -> Option<Arc<Vectors>> {
        let path = self.path(name, "vec");
        let stamp =
            std::fs::metadata(&path).map(|metadata| crate::walk::Stamp::of(&metadata).changed).unwrap_or(0);
        match &known.vectors {
            Some((of, at, vectors)) if of == model && *at == stamp => vectors.clone(),
            _ => {
                let count = known.segment.chunk_count() as usize;
                let vectors = Vectors::read(&path, model_key(model), count).map(Arc::new);
                known.vectors = Some((model.to_owned(), stamp, vectors.clone()));
                vectors
            }
        }
    }

    /// Writes a segment. It counts once a manifest names it.
    pub(crate) fn write_segment(
        &self,
        _lock: &Lock,
        number: u64,
        bytes: &[u8],
    ) -> Result<String, IndexError> {
        let name = format!("s{number:08x}");
        // Numbers start again after a manifest that could not be read, and what lies there belongs to other chunks.
        let vectors = self.path(&name, "vec");
        match std::fs::remove_file(&vectors) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(IndexError::io("remove", &vectors)(error));
            }
            _ => {}
        }
        self.write(&self.path(&name, "seg"), bytes)?;
        Ok(name)
    }

    pub(crate) fn write_vectors(&self, name: &str, vectors: &Vectors) -> Result<(), IndexError> {
        self.write(&self.path(name, "vec"), &vectors.to_bytes())
    }

    /// As a whole or not at all. Not forced to the disk: a power cut costs a checksum that does not fit, and an index
    /// that is made again.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), IndexError> {
        let part = path.with_extension(format!("{}.part", std::process::id()));
        let written = (|| -> io::Result<()> {
            let mut file = File::options().create(true).truncate(true).write(true).mode(0o600).open(&part)?;
            file.write_all(bytes)?;
            drop(file);
            std::fs::rename(&part, path)
        })();
        written.map_err(|error| {
            // The error that matters is the first one.
            let _ = std::fs::remove_file(&part);
            IndexError::io("write", path)(error)
        })
    }

    /// Makes a manifest the valid one and removes what it does not name.
    pub(crate) fn commit(&self, _lock: &Lock, manifest: &Manifest) -> Result<(), IndexError> {
        let bytes = serde_json::to_vec(manifest)
            .map_err(|error| IndexError::io("write", &self.folder)(error.into()))?;
        self.write(&self.folder.join("manifest.json"), &bytes)?;
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Ok(()) };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let stem = name.split('.').next().unwrap_or_default();
            let ours = name.ends_with(".seg") || name.ends_with(".vec") || name.ends_with(".part");
            if ours
                && (name.ends_with(".part") || !manifest.segments.iter().any(|segment| segment.name == stem))
            {
                // What stays behind is removed the next time.
                let _ = std::fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    /// Merges segments when there are many, or when much of them is dead. Keeps the vectors.
    pub(crate) fn tidy(
        &self,
        lock: &Lock,
        manifest: &mut Manifest,
        model: Option<&str>,
    ) -> Result<bool, IndexError> {
        let (snapshot, _) = self.snapshot(manifest, model);
        let dead: usize = snapshot.parts.iter().map(|part| part.dead.len()).sum();
        let all: u32 = snapshot.parts.iter().map(|part| part.segment.file_count()).sum();
        let mut chosen: Vec<&Loaded> = snapshot.parts.iter().collect();
        if dead * 3 < all as usize || dead < 8 {
            if chosen.len() <= MANY {
                return Ok(false);
            }
            // The small ones: each file is then rewritten about once for every tenfold growth.
            chosen.sort_by_key(|part| part.segment.size());
            chosen.truncate(MANY - 1);
        }
        let sources: Vec<(&Segment, &HashSet<u32>)> =
            chosen.iter().map(|part| (&*part.segment, &*part.dead)).collect();
        let (bytes, origins) = merge(&sources);
        let merged =
            (!origins.is_empty()).then(|| self.write_segment(lock, manifest.next, &bytes)).transpose()?;
        manifest.next += 1;
        if let (Some(name), Some(model)) = (&merged, model) {
            let dimensions =
                chosen.iter().find_map(|part| part.vectors.as_ref()).map(|vectors| vectors.dimensions);
            if let Some(dimensions) = dimensions {
                let mut vectors = Vectors::new(model_key(model), dimensions, origins.len());
                for (at, (which, chunk)) in origins.iter().enumerate() {
                    let vector =
                        chosen[*which].vectors.as_ref().and_then(|vectors| vectors.get(*chunk as usize));
                    if let Some(vector) = vector {
                        vectors.set(at, &vector);
                    }
                }
                self.write_vectors(name, &vectors)?;
            }
        }
        let names: HashSet<&str> = chosen.iter().map(|part| part.name.as_str()).collect();
        manifest.segments.retain(|entry| !names.contains(entry.name.as_str()));
        manifest.segments.extend(merged.map(|name| SegmentEntry { name, dead: Vec::new() }));
        Ok(true)
    }

    /// Removes everything.
    pub(crate) fn clear(&self) -> Result<bool, IndexError> {
        if !self.folder.exists() {
            return Ok(false);
        }
        let _lock = self.lock(true)?;
        std::fs::remove_dir_all(&self.folder).map_err(IndexError::io("remove", &self.folder))?;
        Ok(true)
    }

    pub(crate) fn path(&self, name: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{name}.{extension}"))
    }
}
