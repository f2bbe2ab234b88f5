//! A project on disk and its index.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use index::{Cancel, Embedder, IfBusy, Index, IndexError, Options, Purpose, SearchOptions, Updated};

pub(crate) struct Shelf {
    pub(crate) root: PathBuf,
    pub(crate) options: Options,
    pub(crate) letters: Arc<Letters>,
    _folder: tempfile::TempDir,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("project");
        std::fs::create_dir(&root).unwrap();
        let letters = Arc::new(Letters::default());
        let mut options = Options::new(&project::Home::at(base.join("home")));
        options.embedder = Some(letters.clone());
        Self { root, options, letters, _folder: folder }
    }

    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let shelf = Self::new();
        files.iter().for_each(|(path, text)| shelf.write(path, text));
        shelf.update();
        shelf
    }

    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    pub(crate) fn index(&self) -> Index {
        Index::new(&self.root, self.options.clone())
    }

    pub(crate) fn update(&self) -> Updated {
        self.index().update(IfBusy::Wait, &|_| {}, &Cancel::default()).unwrap()
    }

    /// `file:lines symbol` of every result.
    pub(crate) fn find(&self, query: &str) -> Vec<String> {
        self.find_with(query, &SearchOptions::default())
    }

    pub(crate) fn find_with(&self, query: &str, options: &SearchOptions) -> Vec<String> {
        let found = self.index().searcher().search(query, options).unwrap();
        let show = |hit: &index::Hit| {
            let symbol = hit.symbol.clone().unwrap_or_default();
            format!("{}:{}-{} {symbol}", hit.file, hit.start_line, hit.end_line).trim_end().to_owned()
        };
        found.hits.iter().map(show).collect()
    }

    /// The files found, each once.
    pub(crate) fn files(&self, query: &str) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for hit in self.index().searcher().search(query, &SearchOptions::default()).unwrap().hits {
            if !files.contains(&hit.file) {
                files.push(hit.file);
            }
        }
        files
    }

    /// The folder of the index.
    pub(crate) fn folder(&self) -> PathBuf {
        self.index().status().unwrap().unwrap().folder
    }

    pub(crate) fn segments(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder()).unwrap().map(|entry| entry.unwrap().path());
        let mut found: Vec<PathBuf> =
            entries.filter(|path| path.extension().is_some_and(|end| end == "seg")).collect();
        found.sort();
        found
    }
}

/// Counts letters: a model that takes no time.
#[derive(Debug, Default)]
pub(crate) struct Letters {
    pub(crate) texts: AtomicUsize,
}

impl Embedder for Letters {
    fn id(&self) -> &str {
        "letters"
    }

    fn dimensions(&self) -> usize {
        64
    }

    fn embed(&self, _: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        let vector = |text: &&str| {
            let mut vector = vec![0.01f32; 64];
            text.bytes().for_each(|byte| vector[usize::from(byte) % 64] += 1.0);
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            vector.iter_mut().for_each(|value| *value /= length);
            vector
        };
        Ok(texts.iter().map(vector).collect())
    }
}
