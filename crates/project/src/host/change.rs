//! Changing files at exactly the path that was resolved.
//!
//! Everything happens relative to an open folder that was reached without following a link, so a link that is put in
//! the way between the check and the change is refused, not followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, fchmod, mkdirat, openat, renameat, renameat_with,
    statat, unlinkat,
};
use rustix::io::Errno;

use super::{Expect, HostError, Stamp};
use crate::confine::{ResolvedPath, Roots};
use crate::open::open_without_links;

/// Reading, writing and running, for owner, group and others.
pub(super) const PERMISSIONS: u32 = 0o777;
/// How deep a folder that is taken away may be; deeper ones are no accident.
const MAX_DEPTH: usize = 512;

pub(super) fn write(roots: &Roots, path: &Path, bytes: &[u8], expect: Expect) -> Result<Stamp, HostError> {
    let resolved = roots.resolve(path, roots.main())?;
    let failed = |errno: Errno| HostError::from_io(resolved.absolute(), errno.into());
    let (folder, name) = open_parent(&resolved, Missing::Make)?;
    let there = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Some(stat),
        Err(Errno::NOENT) => None,
        Err(errno) => return Err(failed(errno)),
    };
    if let Some(stat) = &there {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => {
                return Err(HostError::IsDirectory { path: resolved.absolute().to_owned() });
            }
            FileType::Symlink => return Err(HostError::Changed { path: resolved.absolute().to_owned() }),
            _ => {
                let what = "a pipe, socket or device";
                return Err(HostError::Special { path: resolved.absolute().to_owned(), what });
            }
        }
    }
    let path = || resolved.absolute().to_owned();
    match (expect, &there) {
        (Expect::Anything, _) | (Expect::Absent, None) => {}
        (Expect::Absent, Some(_)) => return Err(HostError::Exists { path: path() }),
        (Expect::Unchanged(_), None) => return Err(HostError::Stale { path: path() }),
        (Expect::Unchanged(seen), Some(_)) => {
            if stamp(resolved.absolute())? != seen {
                return Err(HostError::Stale { path: path() });
            }
        }
    }
    let mode = there.map_or(Mode::from_raw_mode(0o666), |stat| Mode::from_raw_mode(stat.st_mode));
    let draft = Draft::new(folder.as_fd(), mode).map_err(failed)?;
    if there.is_some() {
        // What the umask took away, a file that is there keeps.
        fchmod(&draft.file, mode).map_err(failed)?;
    }
    let write = |mut file: &File| file.write_all(bytes).and_then(|()| file.sync_data());
    write(&draft.file).map_err(|source| HostError::from_io(resolved.absolute(), source))?;
    let stamp = stamp_of(&draft.file, resolved.absolute())?;
    draft.put_in_place(name).map_err(failed)?;
    Ok(stamp)
}

/// Sets the permissions of a file, and nothing that makes it run as somebody else.
pub(super) fn set_mode(roots: &Roots, path: &Path, mode: u32) -> Result<(), HostError> {
    let resolved = roots.resolve(path, roots.main())?;
    let failed = |errno: Errno| HostError::from_io(resolved.absolute(), errno.into());
    let (folder, name) = open_parent(&resolved, Missing::Refuse)?;
    // A pipe that is put in the way must not make us wait.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(&folder, name, flags, Mode::empty()).map_err(failed)?;
    fchmod(&file, Mode::from_raw_mode(mode & PERMISSIONS)).map_err(failed)
}

pub(super) fn make_dir(roots: &Roots, path: &Path) -> Result<(), HostError> {
    let resolved = roots.resolve(path, roots.main())?;
    open_folder(&resolved, resolved.absolute(), Missing::Make).map(drop)
}

pub(super) fn rename(roots: &Roots, from: &Path, to: &Path) -> Result<(), HostError> {
    let from = roots.resolve_entry(from, roots.main())?;
    let to = roots.resolve_entry(to, roots.main())?;
    let (from_folder, from_name) = open_parent(&from, Missing::Refuse)?;
    // Found out before anything is made for it.
    statat(&from_folder, from_name, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|errno| HostError::from_io(from.absolute(), errno.into()))?;
    let (to_folder, to_name) = open_parent(&to, Missing::Make)?;
    let failed = |errno: Errno| HostError::from_io(to.absolute(), errno.into());
    match renameat_with(&from_folder, from_name, &to_folder, to_name, RenameFlags::NOREPLACE) {
        // Not every file system can do both in one step.
        Err(Errno::INVAL | Errno::NOSYS) => {
            if statat(&to_folder, to_name, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                return Err(HostError::Exists { path: to.absolute().to_owned() });
            }
            renameat(&from_folder, from_name, &to_folder, to_name).map_err(failed)
        }
        other => other.map_err(failed),
    }
}

pub(super) fn remove(roots: &Roots, path: &Path) -> Result<(), HostError> {
    let resolved = roots.resolve_entry(path, roots.main())?;
    if resolved.relative().as_os_str().is_empty() {
        return Err(HostError::Unusable { reason: "the project itself is not deleted".to_owned() });
    }
    let (folder, name) = open_parent(&resolved, Missing::Refuse)?;
    remove_entry(folder.as_fd(), name, 0)
        .map_err(|errno| HostError::from_io(resolved.absolute(), errno.into()))
}

fn remove_entry(folder: BorrowedFd<'_>, name: &OsStr, depth: usize) -> Result<(), Errno> {
    match unlinkat(folder, name, AtFlags::empty()) {
        // Linux says "is a folder", others "not permitted".
        Err(Errno::ISDIR | Errno::PERM) if depth < MAX_DEPTH => {}
        other => return other,
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inner = openat(folder, name, flags, Mode::empty())?;
    let names: Vec<_> = Dir::read_from(&inner)?
        .filter_map(|entry| entry.ok())
        .map(|entry| entry.file_name().to_owned())
        .filter(|name| !matches!(name.to_bytes(), b"." | b".."))
        .collect();
    for entry in names {
        use std::os::unix::ffi::OsStrExt;
        remove_entry(inner.as_fd(), OsStr::from_bytes(entry.to_bytes()), depth + 1)?;
    }
    unlinkat(folder, name, AtFlags::REMOVEDIR)
}

/// What to do about folders that are not there.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Missing {
    Make,
    Refuse,
}

/// The folder that a path lies in, opened, and the path's last name.
pub(super) fn open_parent(resolved: &ResolvedPath, missing: Missing) -> Result<(OwnedFd, &OsStr), HostError> {
    let path = resolved.absolute();
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(HostError::IsDirectory { path: path.to_owned() });
    };
    Ok((open_folder(resolved, parent, missing)?, name))
}

/// Opens a folder at or above a resolved path, name by name from its root on.
fn open_folder(resolved: &ResolvedPath, folder: &Path, missing: Missing) -> Result<OwnedFd, HostError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let root = resolved.root();
    let failed = |errno: Errno| match errno {
        Errno::LOOP => HostError::Changed { path: folder.to_owned() },
        errno => HostError::from_io(folder, errno.into()),
    };
    let Ok(below) = folder.strip_prefix(&root) else {
        // A file that was granted by itself is its own root, and lies in a folder that was not.
        return open_without_links(folder, flags).map_err(failed);
    };
    let mut here = openat(rustix::fs::CWD, &root, flags, Mode::empty()).map_err(failed)?;
    for name in below {
        here = match openat(&here, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if missing == Missing::Make => {
                match mkdirat(&here, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(failed(errno)),
                }
                openat(&here, name, flags, Mode::empty()).map_err(failed)?
            }
            other => other.map_err(failed)?,
        };
    }
    Ok(here)
}

/// A file in the making beside the one it will replace. Gone when dropped before that.
pub(super) struct Draft<'a> {
    folder: BorrowedFd<'a>,
    name: String,
    pub(super) file: File,
    placed: bool,
}

impl<'a> Draft<'a> {
    pub(super) fn new(folder: BorrowedFd<'a>, mode: Mode) -> Result<Self, Errno> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".covey-{}-{number}", std::process::id());
            match openat(folder, &name, flags, mode) {
                Ok(file) => return Ok(Self { folder, name, file: file.into(), placed: false }),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    pub(super) fn put_in_place(mut self, name: &OsStr) -> Result<(), Errno> {
        renameat(self.folder, &self.name, self.folder, name)?;
        self.placed = true;
        Ok(())
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.placed {
            // There is nothing left to do about one that can not be taken away.
            unlinkat(self.folder, &self.name, AtFlags::empty()).ok();
        }
    }
}

fn stamp(path: &Path) -> Result<Stamp, HostError> {
    let metadata = path.symlink_metadata().map_err(|source| HostError::from_io(path, source))?;
    Ok(Stamp { len: metadata.len(), modified: metadata.modified().ok() })
}

fn stamp_of(file: &File, path: &Path) -> Result<Stamp, HostError> {
    let metadata = file.metadata().map_err(|source| HostError::from_io(path, source))?;
    Ok(Stamp { len: metadata.len(), modified: metadata.modified().ok() })
}
