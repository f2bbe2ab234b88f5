//! What tools act on.

mod change;
mod error;
mod exact;
mod local;
mod run;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;

pub use error::HostError;
pub use local::LocalHost;
pub use run::{Exit, Launcher, Program, Running, Streams, Task, Unconfined};

use crate::confine::Roots;

/// The most one [`Host::read`] returns. Larger files are read a range at a time.
pub const MAX_READ: usize = 16 * 1024 * 1024;

/// A place with files: this machine, an editor with unsaved changes, an ACP client.
///
/// The agent loop cannot tell which, so the same tools serve them all. Relative paths start at the main root. A
/// host checks paths itself, every time, because only it can do so without a gap between check and use.
#[async_trait]
pub trait Host: Send + Sync {
    /// The folders that may be used here.
    fn roots(&self) -> &Roots;

    /// Reads part of a file. Reading past its end returns no bytes, not an error.
    async fn read(&self, path: &Path, range: ByteRange) -> Result<FileRead, HostError>;

    /// Lists a folder: the first `limit` entries by name.
    async fn list(&self, directory: &Path, limit: usize) -> Result<Listing, HostError>;

    /// What is at a path, with links followed.
    async fn stat(&self, path: &Path) -> Result<Stat, HostError>;

    /// Replaces a file's content in one step, or makes the file; missing folders on the way are made too. The mode of a
    /// file that is there stays.
    async fn write(&self, path: &Path, bytes: Vec<u8>, expect: Expect) -> Result<Stamp, HostError>;

    /// Gives a file permissions as [`Stat::mode`] tells them. A host that does not know of any leaves it as it is.
    async fn set_mode(&self, _path: &Path, _mode: u32) -> Result<(), HostError> {
        Ok(())
    }

    /// Makes a folder and those missing on the way. One that is there is left as it is.
    async fn make_dir(&self, path: &Path) -> Result<(), HostError>;

    /// Moves a file or folder, to a place where nothing is.
    async fn rename(&self, from: &Path, to: &Path) -> Result<(), HostError>;

    /// Takes away a file, a link, or a folder with all that is in it.
    async fn remove(&self, path: &Path) -> Result<(), HostError>;

    /// Starts a program. It ends, with all it started, when the answer is dropped.
    async fn start(&self, task: Task) -> Result<Box<dyn Running>, HostError>;

    /// Errors and warnings of a file, from a host that knows them by itself, as an editor does.
    async fn findings(&self, _path: &Path) -> Result<Option<Vec<Finding>>, HostError> {
        Ok(None)
    }

    /// The same host with more room, for the one call that was allowed it.
    fn granting(&self, grants: &Grants) -> Result<Arc<dyn Host>, HostError>;
}

/// What one call may use beyond the project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    pub reads: Vec<PathBuf>,
    pub writes: Vec<PathBuf>,
    pub network: bool,
}

impl Grants {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Which bytes of a file to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteRange {
    pub offset: u64,
    /// At most [`MAX_READ`].
    pub limit: usize,
}

impl ByteRange {
    /// From the start.
    pub fn first(limit: usize) -> Self {
        Self { offset: 0, limit }
    }
}

/// Part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    pub bytes: Vec<u8>,
    /// Of the whole file. Zero for files the system makes up as they are read.
    pub total_len: u64,
    /// To notice later that someone else changed it.
    pub modified: Option<SystemTime>,
}

impl FileRead {
    /// What the file looked like when it was read.
    pub fn stamp(&self) -> Stamp {
        Stamp { len: self.total_len, modified: self.modified }
    }
}

/// By what it is noticed that somebody else changed a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub len: u64,
    pub modified: Option<SystemTime>,
}

/// What must be at a path for a write to go ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Anything,
    /// Nothing is there yet.
    Absent,
    /// The file as it was seen; anything else is somebody's work.
    Unchanged(Stamp),
}

/// Something that a compiler or linter says about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// From 1.
    pub line: u32,
    /// 1 error, 2 warning, 3 information, 4 hint, as language servers count.
    pub severity: u8,
    pub message: String,
}

/// The entries of a folder, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub entries: Vec<DirEntry>,
    /// How many there are altogether, so that a cut list can say so.
    pub total: usize,
}

/// One entry of a folder. Links are not followed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    pub name: OsString,
    pub kind: EntryKind,
    /// In bytes; zero for anything but files.
    pub len: u64,
}

/// What kind of thing is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    File,
    Dir,
    Symlink,
    /// A pipe, socket or device.
    Other,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    pub kind: EntryKind,
    pub len: u64,
    pub modified: Option<SystemTime>,
    /// Who may read, write and run it: the last nine bits, from a host that knows.
    pub mode: Option<u32>,
}
