//! The whole of a long output, in a file that `read` pages.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use project::create_private_dir;

/// As much as is ever kept of one output.
pub(crate) const MAX_SPOOL: u64 = 64 * 1024 * 1024;

/// A file for one call, made when the first bytes come.
pub(crate) struct Spool {
    path: Option<PathBuf>,
    file: Option<File>,
    written: u64,
    /// Something did not get in: the limit, or a full disk.
    is_cut: bool,
}

impl Spool {
    /// `name` is the call's id; one that is no plain file name gets no spool.
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let usable =
            !name.is_empty() && !name.starts_with('.') && name.len() <= 200 && name.chars().all(plain);
        Self { path: usable.then(|| folder.join(name)), file: None, written: 0, is_cut: false }
    }

    /// Written here and now: it is the page cache that takes it, which is faster than handing it to another thread.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.is_cut {
            return;
        }
        let room = usize::try_from(MAX_SPOOL - self.written).unwrap_or(usize::MAX);
        let fitting = &bytes[..bytes.len().min(room)];
        let stored = self.open().and_then(|file| file.write_all(fitting));
        self.written += fitting.len() as u64;
        self.is_cut = stored.is_err() || fitting.len() < bytes.len();
    }

    fn open(&mut self) -> io::Result<&mut File> {
        if self.file.is_none() {
            let path = self.path.as_ref().ok_or(io::ErrorKind::InvalidFilename)?;
            if let Some(folder) = path.parent() {
                create_private_dir(folder)?;
            }
            let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
            self.file = Some(file);
        }
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Whether there is a file with something in it.
    pub(crate) fn exists(&self) -> bool {
        self.file.is_some() && self.written > 0
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }
}
