//! Undoing what a child did to files that run code later.
//!
//! Where walls can be built inside the project nothing of this finds anything to do, but for files that were not
//! there before. Where they cannot (Landlock only adds rights) this is all there is.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::git::Protected;

/// Larger files are not kept; that they changed is told, and they are left.
const MOST_BYTES: u64 = 1024 * 1024;
const MOST_ENTRIES: usize = 1000;

/// What was undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reverted {
    pub path: PathBuf,
    pub change: Tampering,
    /// Why it could not be undone, if so.
    pub failed: Option<String>,
}

/// What a child did to a protected file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tampering {
    Created,
    Changed,
    Removed,
}

impl std::fmt::Display for Reverted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (path, change) = (
            self.path.display(),
            match self.change {
                Tampering::Created => "created",
                Tampering::Changed => "changed",
                Tampering::Removed => "removed",
            },
        );
        match &self.failed {
            None => {
                write!(f, "`{path}` was {change} by the command and put back: what it holds can run later")
            }
            Some(reason) => {
                write!(f, "`{path}` was {change} by the command and could not be put back: {reason}")
            }
        }
    }
}

/// How protected files were.
#[derive(Debug, Clone, Default)]
pub(super) struct Snapshot {
    files: BTreeMap<PathBuf, Kept>,
    absent: Vec<PathBuf>,
}

/// One file, folder or link. The stamp tells whether to look closer: nobody can set a change time.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    stamp: Stamp,
    what: What,
}

type Stamp = (u64, u64, i64, i64, u32);

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    File { bytes: Option<Vec<u8>>, mode: u32 },
    Folder,
    Link(PathBuf),
    Other,
}

impl Snapshot {
    /// Looks at everything that is protected. Files whose stamp is as in `earlier` are not read again.
    ///
    /// With `walls` around what is there only what is not there yet can be tampered with: a change to the rest is
    /// the person's own and stays.
    pub(super) fn take(protected: &[Protected], walls: bool, earlier: Option<&Self>) -> Self {
        let mut snapshot = Self::default();
        for one in protected {
            for path in one.present.iter().filter(|_| !walls) {
                snapshot.add(path, earlier);
            }
            snapshot.absent.extend(one.absent.iter().cloned());
        }
        snapshot
    }

    fn add(&mut self, path: &Path, earlier: Option<&Self>) {
        let Ok(stamp) = stamp(path) else { return };
        if self.files.len() >= MOST_ENTRIES {
            return;
        }
        let known = earlier.and_then(|earlier| earlier.files.get(path)).filter(|kept| kept.stamp == stamp);
        let kept = match known {
            Some(kept) => kept.clone(),
            None => Kept { stamp, what: look(path) },
        };
        let is_folder = kept.what == What::Folder;
        self.files.insert(path.to_owned(), kept);
        if is_folder {
            for entry in list(path) {
                self.add(&entry, earlier);
            }
        }
    }

    /// Puts everything back as it was and says what was not.
    pub(super) fn restore(&self) -> Vec<Reverted> {
        let mut reverted = Vec::new();
        for (path, kept) in &self.files {
            if stamp(path).is_ok_and(|now| now == kept.stamp) {
                continue;
            }
            let now = path.symlink_metadata().ok().map(|_| look(path));
            if kept.what == What::Folder {
                self.remove_strangers(path, &mut reverted);
            }
            let change = match now {
                Some(now) if now == kept.what => continue,
                Some(_) => Tampering::Changed,
                None => Tampering::Removed,
            };
            let failed = put_back(path, &kept.what).err().map(|error| error.to_string());
            reverted.push(Reverted { path: path.clone(), change, failed });
        }
        for path in &self.absent {
            if path.symlink_metadata().is_ok() && !is_harmless(path) {
                let failed = remove(path).err().map(|error| error.to_string());
                reverted.push(Reverted { path: path.clone(), change: Tampering::Created, failed });
            }
        }
        reverted
    }

    /// Takes out what came to be in a protected folder.
    fn remove_strangers(&self, folder: &Path, reverted: &mut Vec<Reverted>) {
        for path in list(folder).filter(|path| !self.files.contains_key(path)) {
            let failed = remove(&path).err().map(|error| error.to_string());
            reverted.push(Reverted { path, change: Tampering::Created, failed });
        }
    }
}

fn stamp(path: &Path) -> io::Result<Stamp> {
    let metadata = path.symlink_metadata()?;
    Ok((metadata.dev(), metadata.ino(), metadata.ctime(), metadata.ctime_nsec(), metadata.mode()))
}

fn look(path: &Path) -> What {
    let Ok(metadata) = path.symlink_metadata() else { return What::Other };
    if metadata.is_file() {
        let bytes = if metadata.len() <= MOST_BYTES { fs::read(path).ok() } else { None };
        What::File { bytes, mode: metadata.mode() & 0o7777 }
    } else if metadata.is_dir() {
        What::Folder
    } else if let Ok(target) = fs::read_link(path) {
        What::Link(target)
    } else {
        What::Other
    }
}

/// `git init` makes a folder of examples, which git does not run.
fn is_harmless(path: &Path) -> bool {
    let real_folder = path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    real_folder
        && path.ends_with("hooks")
        && list(path).all(|hook| hook.extension().is_some_and(|end| end == "sample"))
}

fn list(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// Never through a link: what it leads to is somebody else's.
fn remove(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

fn put_back(path: &Path, what: &What) -> io::Result<()> {
    real_parent(path)?;
    if path.symlink_metadata().is_ok() && !(*what == What::Folder && path.symlink_metadata()?.is_dir()) {
        remove(path)?;
    }
    match what {
        What::File { bytes: Some(bytes), mode } => {
            fs::write(path, bytes)?;
            fs::set_permissions(path, Permissions::from_mode(*mode))
        }
        What::File { bytes: None, .. } => Err(io::Error::other("it is too large to be kept")),
        What::Folder => match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        },
        What::Link(target) => std::os::unix::fs::symlink(target, path),
        What::Other => Err(io::Error::other("it was neither a file nor a folder")),
    }
}

/// Makes sure that the folder of `path` is one, and no link that was put in its place.
fn real_parent(path: &Path) -> io::Result<()> {
    let Some(parent) = path.parent() else { return Ok(()) };
    match parent.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => {
            fs::remove_file(parent)?;
            fs::create_dir(parent)
        }
        Err(_) => fs::create_dir_all(parent),
    }
}
