//! What is in a session's folders now: every file's looks, without its content.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::places::Places;

/// No survey takes longer than so many entries; beyond them files are not looked after, and that is said.
const MAX_ENTRIES: usize = 200_000;
const MAX_DEPTH: usize = 64;

/// How something on disk looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Looks {
    File {
        len: u64,
        modified: i128,
        /// When its content or anything else about it last changed. Unlike `modified` nobody can set it.
        changed: i128,
        mode: u32,
        inode: u64,
    },
    Link {
        to: PathBuf,
    },
    Folder,
}

/// Everything in some folders, by name.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) entries: BTreeMap<PathBuf, Looks>,
    /// Folders that are not looked after.
    pub(super) left_out: Vec<PathBuf>,
    pub(super) cut: bool,
}

impl Survey {
    /// Looks at everything in all places but git's own folders and generated folders. `is_tracked` says of a folder with a
    /// generated folder's name that git has files in it: then it is not generated.
    pub(super) fn of(places: &Places, is_tracked: &dyn Fn(&Path) -> bool) -> Self {
        let mut survey = Self::default();
        let walk = Walk { places, is_tracked, stops_at_places: true };
        survey.folder(&walk, Path::new(""), 0);
        for added in places.added() {
            let Some(name) = places.name(added).filter(|_| places.stands(added)) else { continue };
            survey.entries.insert(name.clone(), Looks::Folder);
            survey.folder(&walk, &name, 0);
        }
        survey
    }

    /// Looks at everything in one folder, whatever it is called.
    pub(super) fn inside(places: &Places, folder: &Path) -> Self {
        let mut survey = Self::default();
        survey.folder(&Walk { places, is_tracked: &|_| true, stops_at_places: false }, folder, 0);
        survey
    }

    fn folder(&mut self, walk: &Walk<'_>, name: &Path, depth: usize) {
        // One that can not be listed can not be changed by name either.
        let Ok(entries) = fs::read_dir(walk.places.absolute(name)) else { return };
        for entry in entries.flatten() {
            if self.entries.len() >= MAX_ENTRIES || depth > MAX_DEPTH {
                self.cut = true;
                return;
            }
            let Some(path) = walk.name(name, &entry) else { continue };
            let Some(looks) = looks(&walk.places.absolute(&path)) else { continue };
            if looks == Looks::Folder {
                let name = entry.file_name();
                if name == ".git" || walk.places.is_own(&path) || walk.ends_at(&path) {
                    continue;
                }
                if is_generated(&name.to_string_lossy()) && !(walk.is_tracked)(&path) {
                    self.left_out.push(path);
                    continue;
                }
                self.entries.insert(path.clone(), Looks::Folder);
                self.folder(walk, &path, depth + 1);
            } else {
                self.entries.insert(path, looks);
            }
        }
    }
}

/// How a survey goes about.
struct Walk<'a> {
    places: &'a Places,
    is_tracked: &'a dyn Fn(&Path) -> bool,
    /// A place in another one is looked at by itself, with its own git.
    stops_at_places: bool,
}

impl Walk<'_> {
    /// The name of an entry of a folder: the project may lie in an added folder, and names what is in it.
    fn name(&self, folder: &Path, entry: &fs::DirEntry) -> Option<PathBuf> {
        match self.places.added().is_empty() {
            true => Some(folder.join(entry.file_name())),
            false => self.places.name(&self.places.absolute(folder).join(entry.file_name())),
        }
    }

    fn ends_at(&self, name: &Path) -> bool {
        self.stops_at_places && !self.places.added().is_empty() && self.places.is_place(name)
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
        let nanos = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Some(Looks::File {
            len: metadata.len(),
            modified: nanos(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanos(metadata.ctime(), metadata.ctime_nsec()),
            mode: metadata.mode() & 0o7777,
            inode: metadata.ino(),
        })
    } else {
        None
    }
}
