//! What is in a project now: every file's looks, without its content.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// No survey takes longer than so many entries; beyond them files are not looked after, and that is said.
const MAX_ENTRIES: usize = 200_000;
const MAX_DEPTH: usize = 64;

/// How something on disk looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Looks {
    File { len: u64, modified: i128, mode: u32, inode: u64 },
    Link { to: PathBuf },
    Folder,
}

/// Everything below a root, by relative path.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) entries: BTreeMap<PathBuf, Looks>,
    /// Folders that are not looked after.
    pub(super) left_out: Vec<PathBuf>,
    pub(super) cut: bool,
}

impl Survey {
    /// Looks at everything but git's own folder and generated folders. `is_tracked` says of a folder with a generated
    /// folder's name that git has files in it: then it is not generated.
    pub(super) fn of(root: &Path, is_tracked: &dyn Fn(&Path) -> bool) -> Self {
        let mut survey = Self::default();
        survey.folder(root, Path::new(""), 0, is_tracked);
        survey
    }

    fn folder(&mut self, root: &Path, below: &Path, depth: usize, is_tracked: &dyn Fn(&Path) -> bool) {
        // One that can not be listed can not be changed by name either.
        let Ok(entries) = fs::read_dir(root.join(below)) else { return };
        for entry in entries.flatten() {
            if self.entries.len() >= MAX_ENTRIES || depth > MAX_DEPTH {
                self.cut = true;
                return;
            }
            let path = below.join(entry.file_name());
            let Some(looks) = looks(&root.join(&path)) else { continue };
            if looks == Looks::Folder {
                let name = entry.file_name();
                if name == ".git" {
                    continue;
                }
                if is_generated(&name.to_string_lossy()) && !is_tracked(&path) {
                    self.left_out.push(path);
                    continue;
                }
                self.entries.insert(path.clone(), Looks::Folder);
                self.folder(root, &path, depth + 1, is_tracked);
            } else {
                self.entries.insert(path, looks);
            }
        }
    }
}

fn is_generated(name: &str) -> bool {
    guard::GENERATED.contains(&name)
}

/// None when nothing is there, or something that no file tool makes.
pub(super) fn looks(path: &Path) -> Option<Looks> {
    let metadata = fs::symlink_metadata(path).ok()?;
    let kind = metadata.file_type();
    if kind.is_dir() {
        Some(Looks::Folder)
    } else if kind.is_symlink() {
        Some(Looks::Link { to: fs::read_link(path).ok()? })
    } else if kind.is_file() {
        let modified = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
        Some(Looks::File {
            len: metadata.len(),
            modified,
            mode: metadata.mode() & 0o7777,
            inode: metadata.ino(),
        })
    } else {
        None
    }
}
