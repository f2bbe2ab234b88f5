//! A project's index.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::cancel::Cancel;
use crate::embed::Embedder;
use crate::embedding::{self, Embedded as EmbeddedVectors};
use crate::error::IndexError;
use crate::store::{Embedded, View};
use crate::update::{self, Progress, Updated};
use crate::watch::Watch;

/// Where things are kept and how much is done.
#[derive(Clone)]
pub struct Options {
    /// The folder with an index for each project.
    pub indexes: PathBuf,
    /// The folder with vectors for all projects.
    pub vectors: PathBuf,
    /// Larger files are left out.
    pub max_file_bytes: u64,
    pub threads: usize,
    /// What makes vectors; without one, search is lexical.
    pub embedder: Option<Arc<dyn Embedder>>,
}

impl Options {
    /// As the person's folders say, with the built-in model.
    pub fn new(home: &project::Home) -> Self {
        Self {
            indexes: home.data_dir().join("index"),
            vectors: home.cache_dir().join("vectors"),
            max_file_bytes: 1 << 20,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            embedder: Some(Arc::new(crate::embed::Bert::built_in())),
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let embedder = self.embedder.as_ref().map(|embedder| embedder.id().to_owned());
        f.debug_struct("Options")
            .field("indexes", &self.indexes)
            .field("embedder", &embedder)
            .finish_non_exhaustive()
    }
}

/// What to do when another process writes the same index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfBusy {
    Wait,
    /// [`IndexError::Busy`].
    Refuse,
}

/// The index of one project. Cheap to clone; clones share what they read.
#[derive(Debug, Clone)]
pub struct Index {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    root: PathBuf,
    options: Options,
    store: Embedded,
}

/// How an index is.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub files: u32,
    /// Pieces that are searched, and blocks of long ones.
    pub chunks: u32,
    pub blocks: u32,
    /// Texts for the encoder, and how many it has read.
    pub passages: u32,
    pub vectors: u32,
    pub model: Option<String>,
    /// On disk.
    pub bytes: u64,
    /// When the tree was last looked at, in milliseconds since 1970.
    pub checked_ms: i64,
    pub skipped: std::collections::BTreeMap<String, u64>,
    pub folder: PathBuf,
    /// Whether another process is writing it now.
    pub busy: bool,
    /// Whether a part of it can not be read and will be made again.
    pub damaged: bool,
}

impl Index {
    /// The index of the project at `root`, an absolute path. Touches nothing yet.
    pub fn new(root: &Path, options: Options) -> Self {
        let store = Embedded::new(&options.indexes, root);
        Self { inner: Arc::new(Inner { root: root.to_owned(), options, store }) }
    }

    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    pub(crate) fn options(&self) -> &Options {
        &self.inner.options
    }

    pub(crate) fn store(&self) -> &Embedded {
        &self.inner.store
    }

    /// The id of the model in use.
    pub fn model(&self) -> Option<String> {
        self.inner.options.embedder.as_ref().map(|embedder| embedder.id().to_owned())
    }

    /// Whether there is anything to search yet.
    pub fn exists(&self) -> bool {
        self.inner.store.exists()
    }

    /// Brings the lexical side up to date with the files. Costs what changed, and looking.
    pub fn update(
        &self,
        if_busy: IfBusy,
        progress: Progress<'_>,
        cancel: &Cancel,
    ) -> Result<Updated, IndexError> {
        let lock = self.inner.store.lock(if_busy == IfBusy::Wait)?;
        let lock = lock.ok_or_else(|| IndexError::Busy { root: self.inner.root.clone() })?;
        update::update(self, &lock, progress, cancel)
    }

    /// As [`update`](Self::update) for files that are known to have changed. Costs what changed, and looks at the whole
    /// tree only if one of them is new. Paths are relative to the root.
    pub fn update_files(&self, paths: &[String], cancel: &Cancel) -> Result<Updated, IndexError> {
        let lock = self.inner.store.lock(true)?;
        let lock = lock.ok_or_else(|| IndexError::Busy { root: self.inner.root.clone() })?;
        match update::update_known(self, &lock, paths, cancel)? {
            Some(updated) => Ok(updated),
            None => update::update(self, &lock, &|_| {}, cancel),
        }
    }

    /// Keeps it fresh until the answer is dropped. `told` hears of every change that was taken in.
    pub fn watch(&self, told: impl Fn(&Updated) + Send + 'static) -> Watch {
        Watch::start(self.clone(), Duration::ZERO, told)
    }

    /// Keeps it fresh, and makes the vectors that are missing, as long as anybody in this process holds the answer. It
    /// begins a moment later, so that a short run pays nothing.
    pub fn keep(&self) -> Arc<Watch> {
        crate::watch::keep(self)
    }

    /// As [`update_files`](Self::update_files); nothing if one of them is new.
    pub(crate) fn update_known(
        &self,
        paths: &[String],
        cancel: &Cancel,
    ) -> Result<Option<Updated>, IndexError> {
        let lock = self.inner.store.lock(true)?;
        let lock = lock.ok_or_else(|| IndexError::Busy { root: self.inner.root.clone() })?;
        update::update_known(self, &lock, paths, cancel)
    }

    /// Makes the vectors that are missing, or takes them from the cache. Searches go on meanwhile.
    pub fn embed(&self, progress: Progress<'_>, cancel: &Cancel) -> Result<EmbeddedVectors, IndexError> {
        embedding::embed(self, progress, cancel)
    }

    /// Something to ask. Cheap to clone, for any thread.
    pub fn searcher(&self) -> crate::Searcher {
        crate::Searcher::new(self.clone())
    }

    /// How it is. Nothing if there is none.
    pub fn status(&self) -> Result<Option<Status>, IndexError> {
        let store = &self.inner.store;
        if !store.exists() {
            return Ok(None);
        }
        let manifest = store.manifest();
        let model = self.model();
        let (snapshot, damaged) = store.snapshot(&manifest, model.as_deref());
        let totals = *snapshot.totals();
        let entries = std::fs::read_dir(store.folder()).map_err(IndexError::io("read", store.folder()))?;
        let bytes =
            entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum();
        Ok(Some(Status {
            files: totals.files,
            chunks: totals.chunks,
            blocks: totals.blocks,
            passages: totals.passages,
            vectors: totals.vectors,
            model,
            bytes,
            checked_ms: manifest.checked_ms,
            skipped: manifest.skipped,
            folder: store.folder().to_owned(),
            busy: store.lock(false)?.is_none(),
            damaged: !damaged.is_empty(),
        }))
    }

    /// Removes it. Whether there was one.
    pub fn clear(&self) -> Result<bool, IndexError> {
        self.inner.store.clear()
    }
}
