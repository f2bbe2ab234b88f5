//! `auth.json`: for the owner alone, never half written, changed by one process at a time.

use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::{OnDamage, SecretStore, StoreLock};
use crate::account::ReadError;
use crate::{AuthError, Book, Notice};

/// How long to wait for another process: it holds the lock for one small write.
const PATIENCE: Duration = Duration::from_secs(10);

/// More than thousands of accounts need; more is no file of ours.
const LARGEST: u64 = 1 << 20;

/// What temporary files begin with, so that one left by a crash is found.
const TEMPORARY: &str = ".auth.json.tmp-";

/// The store that is a file.
#[derive(Debug, Clone)]
pub struct FileStore {
    path: PathBuf,
    patience: Duration,
}

impl FileStore {
    /// `path` names the file; its folder is made when something is written. Locks are files beside it.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), patience: PATIENCE }
    }

    /// How long to wait for another process before [`AuthError::StoreBusy`].
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file itself: a link stays, and what it points to is replaced.
    fn target(&self) -> PathBuf {
        std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    fn failed(&self, source: io::Error) -> AuthError {
        AuthError::StoreFailed { path: self.path.clone(), source }
    }

    fn damaged(&self, what: &str) -> AuthError {
        AuthError::StoreDamaged { path: self.path.clone(), what: what.to_owned() }
    }

    fn load(&self) -> Result<(Book, Vec<Notice>), AuthError> {
        // Not blocking, because the open of a pipe would wait for a writer.
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
        let file = match OpenOptions::new().read(true).custom_flags(flags).open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Book::default(), Vec::new())),
            Err(error) => return Err(self.failed(error)),
        };
        let data = file.metadata().map_err(|error| self.failed(error))?;
        if !data.is_file() {
            return Err(self.damaged(if data.is_dir() { "it is a folder" } else { "it is no file" }));
        }
        let mut notices = Vec::new();
        let mode = data.mode() & 0o777;
        if mode & 0o077 != 0 {
            // By its handle, so that no other file can be put in its place meanwhile.
            if file.set_permissions(Permissions::from_mode(0o600)).is_err() {
                return Err(AuthError::StoreExposed { path: self.path.clone() });
            }
            notices.push(Notice::WasReadable { path: self.path.clone(), mode });
        }
        if let Some(notice) = open_folder(folder_of(&self.path)) {
            notices.push(notice);
        }
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| self.failed(error))?;
        if bytes.len() as u64 > LARGEST {
            return Err(self.damaged("it is larger than 1 MB"));
        }
        let text = String::from_utf8(bytes).map_err(|_| self.damaged("it is not UTF-8"))?;
        let book = Book::from_store(&text).map_err(|error| match error {
            ReadError::Damaged { what } => AuthError::StoreDamaged { path: self.path.clone(), what },
            ReadError::Newer { version } => AuthError::StoreNewer { path: self.path.clone(), version },
        })?;
        Ok((book, notices))
    }

    fn save(&self, book: &Book) -> io::Result<()> {
        let text = book.to_store();
        // What could not be read again must not take the place of what can.
        if text.len() as u64 > LARGEST {
            return Err(io::Error::new(ErrorKind::FileTooLarge, "there are too many accounts"));
        }
        let target = self.target();
        let folder = folder_of(&target);
        sweep(folder);
        let mut file = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&target).map_err(|error| error.error)?;
        // The rename itself is only safe once its folder is.
        File::open(folder)?.sync_all()
    }

    /// Moves the damaged file to a name that is free.
    fn set_aside(&self) -> io::Result<Notice> {
        let now = Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
        for number in 0..100 {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".damaged-{now}"));
            if number > 0 {
                name.push(format!("-{number}"));
            }
            let to = PathBuf::from(name);
            if to.symlink_metadata().is_err() {
                std::fs::rename(&self.path, &to)?;
                return Ok(Notice::SetAside { from: self.path.clone(), to });
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    fn lock_file(&self, name: &str) -> io::Result<File> {
        let folder = folder_of(&self.path);
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let stem = self.path.file_stem().unwrap_or_default();
        let mut file = stem.to_os_string();
        file.push(name);
        file.push(".lock");
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
            .open(folder.join(file))
    }

    /// Locks a file beside ours, because a lock on ours would stay with the old one when it is replaced.
    fn try_lock_file(&self, name: &str) -> Result<Option<StoreLock>, AuthError> {
        let file = self.lock_file(name).map_err(|error| self.failed(error))?;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(StoreLock::new(file))),
                Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                // A file system without locks. One person seldom does two things at once there; go on.
                Err(Errno::NOLCK | Errno::OPNOTSUPP | Errno::INVAL) => {
                    return Ok(Some(StoreLock::new(file)));
                }
                Err(errno) => return Err(self.failed(errno.into())),
            }
        }
    }

    pub(super) fn write_lock(&self) -> Result<StoreLock, AuthError> {
        let deadline = Instant::now() + self.patience;
        loop {
            if let Some(lock) = self.try_lock_file("")? {
                return Ok(lock);
            }
            if Instant::now() >= deadline {
                return Err(AuthError::StoreBusy { path: self.path.clone() });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl SecretStore for FileStore {
    fn read(&self) -> Result<(Book, Vec<Notice>), AuthError> {
        self.load()
    }

    fn change(
        &self,
        on_damage: OnDamage,
        change: &mut dyn FnMut(&mut Book) -> bool,
    ) -> Result<Vec<Notice>, AuthError> {
        let _lock = self.write_lock()?;
        let (mut book, mut notices, damaged) = match self.load() {
            Ok((book, notices)) => (book, notices, false),
            Err(AuthError::StoreDamaged { .. }) if on_damage == OnDamage::SetAside => {
                (Book::default(), Vec::new(), true)
            }
            Err(error) => return Err(error),
        };
        if change(&mut book) {
            if damaged {
                notices.push(self.set_aside().map_err(|error| self.failed(error))?);
            }
            self.save(&book).map_err(|error| self.failed(error))?;
        }
        Ok(notices)
    }

    fn try_lock(&self, name: &str) -> Result<Option<StoreLock>, AuthError> {
        // Names are anything, also addresses; file names are not.
        let name = blake3::hash(name.as_bytes()).to_hex();
        self.try_lock_file(&format!("-{}", &name[..16]))
    }
}

/// `Path::parent` of a bare file name is empty, which is not a folder one can open.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Says when others may write into the folder. With the sticky bit they may not touch what is ours.
fn open_folder(folder: &Path) -> Option<Notice> {
    let mode = folder.metadata().ok()?.mode();
    (mode & 0o022 != 0 && mode & 0o1000 == 0)
        .then(|| Notice::OpenFolder { path: folder.to_owned(), mode: mode & 0o777 })
}

/// Removes what a process that was killed while it wrote has left. Only called under the lock, so nobody else writes.
fn sweep(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(TEMPORARY));
        if ours && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            // One that stays is private, and the next write tries again.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
