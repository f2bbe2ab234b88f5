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
        let person = self.person.iter().map(|folder| folder.join(kind));
        let folders = person.chain(project.iter().map(|folder| self.root.join(folder)));
        folders.flat_map(|folder| markdown(&folder)).collect()
    }

    /// A file's text, if it may be used. `None` and noted in `held` if it waits; `None` if it is not there.
    pub(crate) fn read<T>(&self, path: &Path, shelved: &mut Shelved<T>) -> Option<String> {
        let metadata = fs::metadata(path).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_FILE {
            return None;
        }
        let bytes = fs::read(path).ok()?;
        let is_own = self.person.as_ref().is_some_and(|folder| path.starts_with(folder));
        if !is_own && !(self.accepts)(path, &bytes) {
            shelved.held.push(path.to_owned());
            return None;
        }
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The Markdown files of a folder, by name.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .take(MAX_ENTRIES)
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    files.sort();
    files
}

/// A file's name without its ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
