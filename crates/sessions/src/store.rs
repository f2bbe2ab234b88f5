//! All sessions of a person: one folder each.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::{EventBody, SessionId, SessionStart, SessionView, Timestamp, TitleChanged};

use crate::error::{StoreError, is_read_only};
use crate::files;
use crate::lock::{Holder, Lock};
use crate::reader::Reader;
use crate::verify::{self, Report};
use crate::writer::Writer;
use crate::writer::open::Opened;

mod find;
mod fork;
mod list;

pub use find::Found;
pub use list::{ListOptions, Listing, Unreadable};

/// A folder of sessions. Clones are cheap and mean the same folder.
#[derive(Debug, Clone)]
pub struct Store {
    root: Arc<Path>,
    owner: Arc<str>,
    /// For sessions that are not kept: the folder goes when the last clone does.
    _temporary: Option<Arc<tempfile::TempDir>>,
}

impl Store {
    /// The store in this folder, which need not exist yet.
    pub fn new(sessions_dir: impl AsRef<Path>) -> Self {
        Self { root: sessions_dir.as_ref().into(), owner: "covey".into(), _temporary: None }
    }

    /// A store in a private temporary folder that is removed when the last clone of it is dropped. Drop the writers
    /// first.
    pub fn ephemeral() -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt;
        sweep_ephemeral();
        let prefix = format!("{EPHEMERAL}{}-", std::process::id());
        let private = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(&prefix).permissions(private).tempdir()?;
        let store = Self::new(folder.path());
        Ok(Self { _temporary: Some(Arc::new(folder)), ..store })
    }

    /// What others are told about who holds a session: the command, such as `covey run`.
    pub fn owned_by(self, what: &str) -> Self {
        Self { owner: what.into(), ..self }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A session's folder.
    pub fn dir(&self, session: &SessionId) -> PathBuf {
        self.root.join(session.as_str())
    }

    pub fn exists(&self, session: &SessionId) -> bool {
        self.dir(session).is_dir()
    }

    /// Starts a session. It appears in one step, with its first record: a crash leaves it there or not, never half.
    pub fn create(&self, start: SessionStart, now: Timestamp) -> Result<Opened, StoreError> {
        let session = start.session.clone();
        self.appear(&session, |dir| Writer::create(dir, start, self.holder(now), now))
    }

    /// Makes a folder under another name, fills it, and gives it its name.
    fn appear(
        &self,
        session: &SessionId,
        fill: impl FnOnce(&Path) -> Result<Opened, StoreError>,
    ) -> Result<Opened, StoreError> {
        let target = self.dir(session);
        if target.exists() {
            return Err(StoreError::Exists(session.clone()));
        }
        files::create_dir_all(&self.root).map_err(|source| self.cannot_create(session, source))?;
        let hidden = self.root.join(format!(".new-{session}-{}", std::process::id()));
        files::create_dir(&hidden).map_err(|source| self.cannot_create(session, source))?;
        let opened = fill(&hidden).and_then(|mut opened| {
            fs::rename(&hidden, &target).map_err(|source| match source.kind() {
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {
                    StoreError::Exists(session.clone())
                }
                _ => StoreError::io("create", &target)(source),
            })?;
            opened.writer.moved_to(&target);
            Ok(opened)
        });
        if opened.is_err() {
            // The first error is the one to tell; `sweep` finds what is left.
            let _ = fs::remove_dir_all(&hidden);
        }
        opened
    }

    fn cannot_create(&self, session: &SessionId, source: io::Error) -> StoreError {
        match is_read_only(&source) {
            true => StoreError::ReadOnly { session: session.clone(), source },
            false => StoreError::io("create", &self.dir(session))(source),
        }
    }

    /// Takes up a session to write to it. The lock is held until the writer is dropped.
    pub fn open_writer(&self, session: &SessionId, now: Timestamp) -> Result<Opened, StoreError> {
        Writer::open(&self.dir(session), session, self.holder(now), now)
    }

    /// Opens a session for reading; never needs the lock.
    pub fn reader(&self, session: &SessionId) -> Result<Reader, StoreError> {
        Reader::open(&self.dir(session), session)
    }

    /// What a session's events add up to.
    pub fn open_view(&self, session: &SessionId) -> Result<SessionView, StoreError> {
        self.reader(session)?.view()
    }

    /// Who writes a session now, as far as its lock file tells.
    pub fn holder_of(&self, session: &SessionId) -> Option<Holder> {
        Holder::read(&self.dir(session)).filter(Holder::seems_alive)
    }

    /// Gives a session a title, as an event in its log.
    pub fn rename(&self, session: &SessionId, title: &str, now: Timestamp) -> Result<(), StoreError> {
        self.note(session, EventBody::Title(TitleChanged { title: title.to_owned() }), now)
    }

    /// Writes one thing down in a session that nobody else writes to.
    pub fn note(&self, session: &SessionId, body: EventBody, now: Timestamp) -> Result<(), StoreError> {
        let Opened { mut writer, mut view, .. } = self.open_writer(session, now)?;
        for event in writer.append(vec![(None, body)], now)? {
            view.apply(&event);
        }
        writer.checkpoint(&view)?;
        Ok(())
    }

    /// Removes a session, unless somebody writes to it. It vanishes in one step: a crash leaves no half of it.
    pub fn delete(&self, session: &SessionId, now: Timestamp) -> Result<(), StoreError> {
        let dir = self.dir(session);
        if !dir.is_dir() {
            return Err(StoreError::NotFound(session.clone()));
        }
        let lock = Lock::take(&dir, session, self.holder(now))?;
        let aside = self.root.join(format!(".trash-{session}-{}", std::process::id()));
        fs::rename(&dir, &aside).map_err(|source| match is_read_only(&source) {
            true => StoreError::ReadOnly { session: session.clone(), source },
            false => StoreError::io("delete", &dir)(source),
        })?;
        drop(lock);
        fs::remove_dir_all(&aside).map_err(StoreError::io("delete", &aside))
    }

    /// Removes what crashes left half made or half deleted more than an hour ago. Returns how many.
    pub fn sweep(&self) -> Result<usize, StoreError> {
        let Ok(entries) = fs::read_dir(&self.root) else { return Ok(0) };
        let mut removed = 0;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let left =
                name.to_str().is_some_and(|name| name.starts_with(".trash-") || name.starts_with(".new-"));
            let age =
                entry.metadata().and_then(|found| found.modified()).ok().and_then(|at| at.elapsed().ok());
            if left && age.is_some_and(|age| age.as_secs() > 3600) {
                let path = entry.path();
                fs::remove_dir_all(&path).map_err(StoreError::io("delete", &path))?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Reads all of a session and says what is wrong with it.
    pub fn verify(&self, session: &SessionId) -> Result<Report, StoreError> {
        verify::verify(&self.dir(session), session)
    }

    fn holder(&self, now: Timestamp) -> Holder {
        Holder::this_process(&self.owner, now)
    }
}

/// Begins the name of a folder for sessions that are not kept; the process that made it comes next.
const EPHEMERAL: &str = "covey-ephemeral-";

/// Removes what processes that were killed could not: nothing of such a session was to be kept.
fn sweep_ephemeral() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name
            .to_str()
            .and_then(|name| name.strip_prefix(EPHEMERAL)?.split('-').next()?.parse::<i32>().ok());
        let gone = owner
            .and_then(rustix::process::Pid::from_raw)
            .is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH));
        if gone && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // Somebody else's is not ours to remove, and then it stays.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
