//! What files held, by content.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use project::create_private_dir;

/// The largest file that is kept.
const MAX_FILE: u64 = 32 << 20;
/// All that is kept for one session.
const QUOTA: u64 = 512 << 20;

/// A folder of contents, each named by its hash.
#[derive(Debug)]
pub(super) struct Objects {
    folder: PathBuf,
    /// Bytes kept so far, as far as this process knows.
    used: u64,
    quota: u64,
}

/// Why a content was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotKept {
    TooLarge,
    QuotaReached,
    Unreadable,
}

impl NotKept {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::TooLarge => "too large to keep",
            Self::QuotaReached => "the session's checkpoints are full",
            Self::Unreadable => "could not be read",
        }
    }
}

impl Objects {
    pub(super) fn at(folder: PathBuf) -> Self {
        let used = fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.metadata().ok())
            .map(|metadata| metadata.len())
            .sum();
        Self { folder, used, quota: QUOTA }
    }

    /// Keeps a file's content; answers the name it has from now on.
    pub(super) fn keep_file(&mut self, path: &Path) -> Result<String, NotKept> {
        let read = || -> io::Result<Option<Vec<u8>>> {
            let file = File::open(path)?;
            if file.metadata()?.len() > MAX_FILE {
                return Ok(None);
            }
            let mut bytes = Vec::new();
            // It may grow while it is read.
            file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
            Ok(Some(bytes).filter(|bytes| bytes.len() as u64 <= MAX_FILE))
        };
        match read() {
            Ok(Some(bytes)) => self.keep(&bytes),
            Ok(None) => Err(NotKept::TooLarge),
            Err(_) => Err(NotKept::Unreadable),
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<String, NotKept> {
        let name = blake3::hash(bytes).to_hex().to_string();
        let path = self.folder.join(&name);
        if path.exists() {
            return Ok(name);
        }
        if self.used + bytes.len() as u64 > self.quota {
            return Err(NotKept::QuotaReached);
        }
        self.write(&path, bytes).map_err(|_| NotKept::Unreadable)?;
        self.used += bytes.len() as u64;
        Ok(name)
    }

    /// Never half there. Not forced onto the disk: what a power cut takes is noticed by its hash, and syncing every file
    /// of a project would hold up each command.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        create_private_dir(&self.folder)?;
        let draft = tempfile::NamedTempFile::new_in(&self.folder)?;
        fs::write(draft.path(), bytes)?;
        draft.persist(path).map_err(|error| error.error)?;
        Ok(())
    }

    /// The content; an error when it is gone or not what it was.
    pub(super) fn get(&self, name: &str) -> io::Result<Vec<u8>> {
        let bytes = fs::read(self.folder.join(name))?;
        if blake3::hash(&bytes).to_hex().as_str() != name {
            return Err(io::Error::other("the kept content is damaged"));
        }
        Ok(bytes)
    }
}
