//! This machine as a host.

use std::collections::BinaryHeap;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use rustix::fs::{AtFlags, Dir, FileType, statat};

use super::change;
use super::run::{Launcher, Running, Task, Unconfined, start};
use super::{
    ByteRange, DirEntry, EntryKind, Expect, FileRead, Grants, Host, HostError, Listing, MAX_READ, Stamp, Stat,
};
use crate::confine::Roots;
use crate::open::read_range;

/// The files and programs of this machine, within some roots.
#[derive(Clone)]
pub struct LocalHost {
    roots: Roots,
    launcher: Arc<dyn Launcher>,
    grants: Grants,
}

impl LocalHost {
    /// Grants what is below these roots. Programs run as this process does.
    pub fn new(roots: Roots) -> Self {
        Self { roots, launcher: Arc::new(Unconfined), grants: Grants::default() }
    }

    /// Has programs started by `launcher`, which may lock them in.
    pub fn launched_by(self, launcher: Arc<dyn Launcher>) -> Self {
        Self { launcher, ..self }
    }

    /// Runs `work` where blocking is allowed: a disk may take its time, a network mount minutes.
    async fn blocking<T: Send + 'static>(
        &self,
        path: &Path,
        work: impl FnOnce(&Roots, &Path) -> Result<T, HostError> + Send + 'static,
    ) -> Result<T, HostError> {
        let (roots, path) = (self.roots.clone(), path.to_owned());
        let named = path.clone();
        let done = tokio::task::spawn_blocking(move || work(&roots, &path)).await;
        done.unwrap_or_else(|error| Err(HostError::Io { path: named, source: std::io::Error::other(error) }))
    }
}

#[async_trait]
impl Host for LocalHost {
    fn roots(&self) -> &Roots {
        &self.roots
    }

    async fn read(&self, path: &Path, range: ByteRange) -> Result<FileRead, HostError> {
        self.blocking(path, move |roots, path| read(roots, path, range)).await
    }

    async fn list(&self, directory: &Path, limit: usize) -> Result<Listing, HostError> {
        self.blocking(directory, move |roots, path| list(roots, path, limit)).await
    }

    async fn stat(&self, path: &Path) -> Result<Stat, HostError> {
        self.blocking(path, stat).await
    }

    async fn write(&self, path: &Path, bytes: Vec<u8>, expect: Expect) -> Result<Stamp, HostError> {
        self.blocking(path, move |roots, path| change::write(roots, path, &bytes, expect)).await
    }

    async fn set_mode(&self, path: &Path, mode: u32) -> Result<(), HostError> {
        self.blocking(path, move |roots, path| change::set_mode(roots, path, mode)).await
    }

    async fn make_dir(&self, path: &Path) -> Result<(), HostError> {
        self.blocking(path, change::make_dir).await
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<(), HostError> {
        let to = to.to_owned();
        self.blocking(from, move |roots, from| change::rename(roots, from, &to)).await
    }

    async fn remove(&self, path: &Path) -> Result<(), HostError> {
        self.blocking(path, change::remove).await
    }

    async fn start(&self, task: Task) -> Result<Box<dyn Running>, HostError> {
        start(self.launcher.as_ref(), &self.roots, &self.grants, task)
    }

    fn granting(&self, grants: &Grants) -> Result<Arc<dyn Host>, HostError> {
        let mut roots = self.roots.clone();
        for path in grants.reads.iter().chain(&grants.writes) {
            roots = roots.granting(path)?;
        }
        Ok(Arc::new(Self { roots, launcher: self.launcher.clone(), grants: grants.clone() }))
    }
}

fn read(roots: &Roots, path: &Path, range: ByteRange) -> Result<FileRead, HostError> {
    if range.limit > MAX_READ {
        return Err(HostError::TooLarge { limit: range.limit, most: MAX_READ });
    }
    let resolved = roots.resolve(path, roots.main())?;
    let failed = |source| HostError::from_io(resolved.absolute(), source);
    let file = resolved.open_read()?;
    let metadata = file.metadata().map_err(failed)?;
    let bytes = read_range(&file, range.offset, range.limit).map_err(failed)?;
    Ok(FileRead { bytes, total_len: metadata.len(), modified: metadata.modified().ok() })
}

fn list(roots: &Roots, path: &Path, limit: usize) -> Result<Listing, HostError> {
    let resolved = roots.resolve(path, roots.main())?;
    let failed = |errno: rustix::io::Errno| HostError::from_io(resolved.absolute(), errno.into());
    let folder = resolved.open_dir()?;
    // The largest name is on top, so a folder with a million entries costs room for `limit`.
    let mut first: BinaryHeap<std::ffi::OsString> = BinaryHeap::new();
    let mut total = 0;
    for entry in Dir::read_from(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_bytes().to_vec();
        if name == b"." || name == b".." {
            continue;
        }
        total += 1;
        first.push(std::ffi::OsString::from_vec(name));
        if first.len() > limit {
            first.pop();
        }
    }
    let entries = first.into_sorted_vec().into_iter().filter_map(|name| {
        // One that vanished since is no longer an entry.
        let stat = statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let kind = kind(FileType::from_raw_mode(stat.st_mode));
        let len = if kind == EntryKind::File { stat.st_size.cast_unsigned() } else { 0 };
        Some(DirEntry { name, kind, len })
    });
    Ok(Listing { entries: entries.collect(), total })
}

fn stat(roots: &Roots, path: &Path) -> Result<Stat, HostError> {
    let resolved = roots.resolve(path, roots.main())?;
    let path: PathBuf = resolved.absolute().to_owned();
    // Links are already followed; one that appears now is reported, not followed.
    let metadata = path.symlink_metadata().map_err(|source| HostError::from_io(&path, source))?;
    let file_type = metadata.file_type();
    let kind = if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Dir
    } else if file_type.is_symlink() {
        EntryKind::Symlink
    } else {
        EntryKind::Other
    };
    let mode = Some(metadata.mode() & change::PERMISSIONS);
    Ok(Stat { kind, len: metadata.len(), modified: metadata.modified().ok(), mode })
}

fn kind(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Dir,
        FileType::Symlink => EntryKind::Symlink,
        _ => EntryKind::Other,
    }
}
