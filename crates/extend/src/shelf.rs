//! Where things lie, and which of them may be used.

use std::fs;
use std::path::{Path, PathBuf};

/// No file is read beyond this.
pub(crate) const MAX_FILE: u64 = 256 * 1024;
/// A folder with more than this is something else.
const MAX_ENTRIES: usize = 500;

/// The folders of one person in one project.
pub struct Shelf<'a> {
    /// The person's own; everything in it may be used.
    pub person: Option<PathBuf>,
    pub root: PathBuf,
    /// Where the session works, at or below the root.
    pub cwd: PathBuf,
    /// Whether this content of this file of the project was accepted.
    pub accepts: &'a dyn Fn(&Path, &[u8]) -> bool,
}

/// What was found: what may be used, and what waits for the person's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelved<T> {
    pub items: Vec<T>,
    /// Files of the project that were left out.
    pub held: Vec<PathBuf>,
}

impl<T> Default for Shelved<T> {
    fn default() -> Self {
        Self { items: Vec::new(), held: Vec::new() }
    }
}

impl Shelf<'_> {
    /// The Markdown files of a kind: the person's, then those of the project's folders.
    pub(crate) fn files(&self, kind: &str, project: &[&str]) -> Vec<PathBuf> {
        self.files_ending(kind, project, "md")
    }

    pub(crate) fn files_ending(&self, kind: &str, project: &[&str], ending: &str) -> Vec<PathBuf> {
        let person = self.person.iter().map(|folder| folder.join(kind));
        let folders = person.chain(project.iter().map(|folder| self.root.join(folder)));
        folders.flat_map(|folder| files_in(&folder, ending)).collect()
    }

    /// A file's text, if it may be used. `None` and noted in `held` if it waits; `None` if it is not there.
    pub(crate) fn read<T>(&self, path: &Path, shelved: &mut Shelved<T>) -> Option<String> {
        let metadata = fs::metadata(path).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_FILE {
            return None;
        }
        let bytes = fs::read(path).ok()?;
        if !self.is_own(path) && !(self.accepts)(path, &bytes) {
            shelved.held.push(path.to_owned());
            return None;
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether a file is the person's own.
    pub(crate) fn is_own(&self, path: &Path) -> bool {
        self.person.as_ref().is_some_and(|folder| path.starts_with(folder))
    }

    /// Whether a file of the project is as it was when the person accepted it.
    pub(crate) fn accepted(&self, path: &Path) -> bool {
        fs::read(path).is_ok_and(|bytes| (self.accepts)(path, &bytes))
    }
}

/// The files of a folder that end so, by name.
fn files_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .take(MAX_ENTRIES)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == ending))
        .collect();
    files.sort();
    files
}

/// A file's name without its ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
