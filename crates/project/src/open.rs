//! Opening a resolved path without being led astray in the meantime.
//!
//! Between resolving a path and opening it someone can put a symbolic link in its place. A resolved path has no
//! links, so it is opened with links forbidden in *every* component: then what opens is at that very path.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use crate::confine::ResolvedPath;
use crate::host::HostError;

#[cfg(test)]
mod tests;

impl ResolvedPath {
    /// Opens a regular file for reading, at exactly this path.
    ///
    /// Never blocks: pipes, sockets and devices are refused before and, should one take the file's place just
    /// then, after opening.
    pub fn open_read(&self) -> Result<File, HostError> {
        let path = self.absolute();
        let seen = path.symlink_metadata().map_err(|source| HostError::from_io(path, source))?;
        refuse_special(path, &seen)?;
        // Without O_NONBLOCK, opening a pipe waits for its other end. Regular files do not care.
        let file = self.open(OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let opened = file.metadata().map_err(|source| HostError::from_io(path, source))?;
        if opened.is_dir() {
            return Err(HostError::IsDirectory { path: path.to_owned() });
        }
        refuse_special(path, &opened)?;
        Ok(file)
    }

    /// Opens a folder, at exactly this path.
    pub fn open_dir(&self) -> Result<OwnedFd, HostError> {
        Ok(self.open(OFlags::RDONLY | OFlags::DIRECTORY)?.into())
    }

    fn open(&self, flags: OFlags) -> Result<File, HostError> {
        let path = self.absolute();
        match open_without_links(path, flags | OFlags::CLOEXEC) {
            Ok(file) => Ok(file.into()),
            Err(Errno::LOOP) => Err(HostError::Changed { path: path.to_owned() }),
            Err(errno) => Err(HostError::from_io(path, errno.into())),
        }
    }
}

fn refuse_special(path: &Path, metadata: &Metadata) -> Result<(), HostError> {
    let kind = metadata.file_type();
    let what = if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        return Ok(());
    };
    Err(HostError::Special { path: path.to_owned(), what })
}

#[cfg(target_os = "linux")]
pub(crate) fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let links_forbidden = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(CWD, path, flags, Mode::empty(), links_forbidden) {
        // Older than Linux 5.6, or forbidden by a container's filter, which cannot be told from other denials.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => walk_without_links(path, flags),
        other => other,
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    walk_without_links(path, flags)
}

/// Opens one component after the other, each relative to the folder before it.
fn walk_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    // Passing through a folder needs no right to list it, where the system can say so.
    #[cfg(target_os = "linux")]
    const PASS: OFlags = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    const PASS: OFlags = OFlags::RDONLY;
    let through = PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let mut folder = openat(CWD, "/", through, Mode::empty())?;
    let Some(mut name) = names.next() else {
        return openat(CWD, "/", flags, Mode::empty());
    };
    for next in names {
        folder =
            openat(&folder, name, through, Mode::empty()).map_err(|errno| link_or(errno, &folder, name))?;
        name = next;
    }
    openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty())
        .map_err(|errno| link_or(errno, &folder, name))
}

/// Asked for a folder and finding a link, the system says "not a folder"; we tell the two apart.
fn link_or(errno: Errno, folder: &OwnedFd, name: &std::ffi::OsStr) -> Errno {
    use rustix::fs::{AtFlags, FileType, statat};
    let is_link = errno == Errno::NOTDIR
        && statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink);
    if is_link { Errno::LOOP } else { errno }
}

/// Reads at most `limit` bytes of `file` from `offset` on.
pub(crate) fn read_range(file: &File, offset: u64, limit: usize) -> io::Result<Vec<u8>> {
    use std::io::Read;
    use std::os::unix::fs::FileExt;
    let mut bytes = Vec::new();
    if offset == 0 {
        // Files in /proc only answer plain reads from the start.
        file.take(limit as u64).read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    let mut chunk = vec![0; limit.min(64 * 1024)];
    while bytes.len() < limit {
        let room = chunk.len().min(limit - bytes.len());
        let read = file.read_at(&mut chunk[..room], offset + bytes.len() as u64)?;
        if read == 0 {
            break;
        }
        bytes.extend_from_slice(&chunk[..read]);
    }
    Ok(bytes)
}
