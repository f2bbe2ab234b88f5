//! Files and folders that only their owner can read, and that are replaced whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes one folder, 0700. The mode is given at creation, so it is never wider, and set again, so that a strange
/// umask does not make it narrower.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o700))
}

/// Makes a folder and those above it where they are missing.
pub(crate) fn create_dir_all(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().mode(0o700).recursive(true).create(path)
}

/// A new file, 0600, for reading and writing.
pub(crate) fn create_new(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().read(true).write(true).create_new(true), path)
}

/// Opens a file for reading, and nothing else: a pipe or a device in its place would never end.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let without_waiting = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(without_waiting).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    Ok(file)
}

/// A file for reading and writing that is made, 0600, when it is missing. What it holds stays.
pub(crate) fn open_or_create(path: &Path) -> io::Result<File> {
    let without_waiting = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    match OpenOptions::new().read(true).write(true).custom_flags(without_waiting).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private(OpenOptions::new().read(true).write(true).create(true).truncate(false), path)
        }
        Ok(file) if !file.metadata()?.is_file() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"))
        }
        opened => opened,
    }
}

fn private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.mode(0o600).open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Replaces a file in one step: whoever opens it sees the old content or the new, never a part.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = beside(path);
    let written = create_new(&temporary).and_then(|mut file| file.write_all(bytes));
    let renamed = written.and_then(|()| fs::rename(&temporary, path));
    if renamed.is_err() {
        // The first error is the one to tell; a left-over file is harmless.
        let _ = fs::remove_file(&temporary);
    }
    renamed
}

/// A name in the same folder that nobody else uses.
pub(crate) fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}-{count}.tmp", std::process::id()))
}

/// Makes names in a folder survive a power cut.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// The whole of a small file; an error when it is larger than `max`.
pub(crate) fn read_small(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    // Most are smaller than this, and are then read in one go.
    let mut bytes = Vec::with_capacity(4096);
    open_regular(path)?.take(max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {max} bytes")));
    }
    Ok(bytes)
}

/// Fills as much of `buffer` as the file has from `offset` on.
pub(crate) fn read_at_most(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Writes all of `bytes` at `offset`, in one call to the system unless that comes up short.
pub(crate) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}
