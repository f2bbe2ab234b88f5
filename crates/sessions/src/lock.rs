//! One writer per session: a lock of the operating system, held for the writer's life.
//!
//! The system frees the lock when the process ends, however it ends, so there is no staleness to guess at. What the
//! file says is only for people: who holds it, and where that process can be reached.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use protocol::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::{StoreError, is_read_only};
use crate::files;

/// Who writes a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub pid: u32,
    pub host: String,
    /// The command, such as `covey run`.
    pub what: String,
    pub since: Timestamp,
    /// Where a second `covey` can attach.
    pub socket: Option<String>,
}

impl Holder {
    pub(crate) fn this_process(what: &str, since: Timestamp) -> Self {
        Self { pid: std::process::id(), host: host(), what: what.to_owned(), since, socket: None }
    }

    /// Whether that process seems to be there. Only for display: the lock itself is what counts.
    pub fn seems_alive(&self) -> bool {
        let pid = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        match pid {
            // A process of another user is alive too.
            Some(pid) if self.host == host() => {
                rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
            }
            Some(_) => true,
            None => false,
        }
    }

    /// What a session's lock file says, whether or not it is held.
    pub(crate) fn read(dir: &Path) -> Option<Self> {
        serde_json::from_slice(&files::read_small(&dir.join("lock"), 64 << 10).ok()?).ok()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (process {} on {}, since {})", self.what, self.pid, self.host, self.since)
    }
}

fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The held lock. Dropping it frees the session.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    pub(crate) holder: Holder,
}

impl Lock {
    /// Takes the lock or says who has it. Never waits.
    pub(crate) fn take(dir: &Path, session: &SessionId, holder: Holder) -> Result<Self, StoreError> {
        let path = dir.join("lock");
        let cannot = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => StoreError::NotFound(session.clone()),
            _ if is_read_only(&source) => StoreError::ReadOnly { session: session.clone(), source },
            _ => StoreError::io("lock", &path)(source),
        };
        let file = files::open_or_create(&path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Locked { session: session.clone(), holder: Holder::read(dir) });
            }
            Err(TryLockError::Error(source)) => return Err(cannot(source)),
        }
        // The folder may have been deleted between opening and locking: then this locks a file nobody can see.
        let seen = std::fs::metadata(&path).map_err(cannot)?;
        let held = file.metadata().map_err(cannot)?;
        if (seen.dev(), seen.ino()) != (held.dev(), held.ino()) {
            return Err(StoreError::NotFound(session.clone()));
        }
        let lock = Self { file, holder };
        lock.tell().map_err(cannot)?;
        Ok(lock)
    }

    /// Says where this process can be reached.
    pub(crate) fn announce(&mut self, socket: Option<PathBuf>) -> io::Result<()> {
        self.holder.socket = socket.map(|path| path.display().to_string());
        self.tell()
    }

    fn tell(&self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.holder).map_err(io::Error::other)?;
        files::write_at(&self.file, &text, 0)?;
        self.file.set_len(text.len() as u64)
    }
}
