//! Bytes too large for the log, kept beside it under the hash of what they are.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use protocol::{BlobId, BlobRef};

use crate::files;

/// A session's `blobs/`. Clones share it, so tools on other threads can put things in.
#[derive(Debug, Clone)]
pub struct Blobs {
    dir: Arc<Path>,
    /// Written but not yet on the disk itself.
    unsynced: Arc<Mutex<Vec<PathBuf>>>,
}

#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    #[error("blob `{0}` is missing")]
    Missing(BlobId),
    #[error("blob `{0}` is damaged: its content does not fit its name")]
    Damaged(BlobId),
    #[error("blob `{blob}` is larger than {max} bytes")]
    TooLarge { blob: BlobId, max: u64 },
    #[error("could not access blob `{blob}`")]
    Io { blob: BlobId, source: io::Error },
}

impl Blobs {
    pub(crate) fn new(session_dir: &Path) -> Self {
        Self { dir: session_dir.join("blobs").into(), unsynced: Arc::default() }
    }

    /// Keeps the bytes; the same bytes are kept once.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobRef, BlobError> {
        let name = blake3::hash(bytes).to_hex();
        let blob = BlobRef { hash: BlobId::new(name.as_str()), bytes: bytes.len() as u64 };
        let path = self.dir.join(name.as_str());
        // A file of another length is what a power cut left; it is written again.
        if fs::metadata(&path).is_ok_and(|found| found.len() == blob.bytes) {
            return Ok(blob);
        }
        self.write(&path, bytes).map_err(|source| BlobError::Io { blob: blob.hash.clone(), source })?;
        self.unsynced.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        Ok(blob)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        match files::create_dir(&self.dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        files::replace(path, bytes)
    }

    /// The bytes, if they are at most `max` and still what they were.
    pub fn get(&self, blob: &BlobRef, max: u64) -> Result<Vec<u8>, BlobError> {
        let name = &blob.hash;
        let path = self.path(name)?;
        let bytes = files::read_small(&path, max).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => BlobError::Missing(name.clone()),
            io::ErrorKind::FileTooLarge => BlobError::TooLarge { blob: name.clone(), max },
            _ => BlobError::Io { blob: name.clone(), source },
        })?;
        let fits =
            bytes.len() as u64 == blob.bytes && blake3::hash(&bytes).to_hex().as_str() == name.as_str();
        if fits { Ok(bytes) } else { Err(BlobError::Damaged(name.clone())) }
    }

    /// Checks a blob without holding it in memory.
    pub(crate) fn check(&self, blob: &BlobRef) -> Result<(), BlobError> {
        let name = &blob.hash;
        let io = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => BlobError::Missing(name.clone()),
            _ => BlobError::Io { blob: name.clone(), source },
        };
        let mut hasher = blake3::Hasher::new();
        let mut file = File::open(self.path(name)?).map_err(io)?;
        let bytes = io::copy(&mut file, &mut hasher).map_err(io)?;
        let fits = bytes == blob.bytes && hasher.finalize().to_hex().as_str() == name.as_str();
        if fits { Ok(()) } else { Err(BlobError::Damaged(name.clone())) }
    }

    /// Blobs that are kept but not among `referenced`.
    pub fn unreferenced(&self, referenced: &HashSet<BlobId>) -> io::Result<Vec<BlobId>> {
        let mut found = Vec::new();
        for name in self.names()? {
            let id = BlobId::new(name);
            if !referenced.contains(&id) {
                found.push(id);
            }
        }
        Ok(found)
    }

    /// Gives another session the same blobs, by link where the disk can.
    pub(crate) fn share_with(&self, other: &Blobs) -> io::Result<()> {
        let names = self.names()?;
        if !names.is_empty() {
            files::create_dir(&other.dir)?;
        }
        for name in names {
            let (from, to) = (self.dir.join(&name), other.dir.join(&name));
            if fs::hard_link(&from, &to).is_err() {
                let mut file = files::create_new(&to)?;
                io::copy(&mut File::open(&from)?, &mut file)?;
                file.flush()?;
            }
        }
        Ok(())
    }

    /// Makes everything that was put in survive a power cut.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let paths = std::mem::take(&mut *self.unsynced.lock().unwrap_or_else(PoisonError::into_inner));
        if paths.is_empty() {
            return Ok(());
        }
        for path in paths {
            match File::open(&path) {
                Ok(file) => file.sync_data()?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        files::sync_dir(&self.dir)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry?.file_name().into_string().ok().filter(|name| is_hash(name)));
        }
        Ok(names)
    }

    /// A hash from an event becomes a path only if it is one: a log may come from elsewhere.
    fn path(&self, blob: &BlobId) -> Result<PathBuf, BlobError> {
        if is_hash(blob.as_str()) {
            Ok(self.dir.join(blob.as_str()))
        } else {
            Err(BlobError::Missing(blob.clone()))
        }
    }
}

fn is_hash(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}
