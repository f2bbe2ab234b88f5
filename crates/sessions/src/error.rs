//! What can go wrong with a session on disk, named by what can be done about it.

use std::io;
use std::path::Path;

use protocol::SessionId;

use crate::lock::Holder;
use crate::record::MAX_RECORD;

/// A session could not be opened, found or changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no session `{0}`")]
    NotFound(SessionId),
    #[error("session `{0}` exists already")]
    Exists(SessionId),
    #[error("session `{session}` is in use{}", held_by(.holder.as_ref()))]
    Locked { session: SessionId, holder: Option<Holder> },
    /// It can be read, but nothing can be written beside it.
    #[error("session `{session}` can be read but not written")]
    ReadOnly { session: SessionId, source: io::Error },
    /// The folder is there, but what it holds is no session.
    #[error("session `{session}` is not readable: {why}")]
    Unusable { session: SessionId, why: String },
    #[error("session `{session}` has no event {seq}; its last is {last}")]
    NoSuchEvent { session: SessionId, seq: u64, last: u64 },
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error("could not {doing} `{path}`")]
    Io { doing: &'static str, path: String, source: io::Error },
}

/// Events were not recorded. Nothing that was recorded before is harmed, and the next append may work.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    #[error("no space left to record session `{session}`")]
    NoSpace { session: SessionId, source: io::Error },
    #[error("event `{kind}` of {bytes} bytes is larger than a record may be ({} MiB)", MAX_RECORD >> 20)]
    TooLarge { kind: String, bytes: usize },
    #[error("could not record session `{session}`")]
    Io { session: SessionId, source: io::Error },
}

impl StoreError {
    /// What to do about it, for a `hint:` line.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Locked { session, .. } => {
                Some(format!("wait for it, or go on in a copy: covey run --session {session} --fork"))
            }
            Self::ReadOnly { session, .. } => {
                Some(format!("make its folder writable; `covey session export {session}` works without"))
            }
            Self::Unusable { session, .. } => {
                Some(format!("see what is left: covey session verify {session}"))
            }
            Self::NotFound(_) => Some("list sessions: covey session list".to_owned()),
            Self::Append(error) => error.hint().map(str::to_owned),
            Self::Exists(_) | Self::NoSuchEvent { .. } | Self::Io { .. } => None,
        }
    }

    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::Io { doing, path, source }
    }
}

impl AppendError {
    /// What to do about it, for a `hint:` line.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NoSpace { .. } => Some("free some space; the session goes on from its last event"),
            Self::TooLarge { .. } => Some("keep large content in a blob and record its reference"),
            Self::Io { .. } => None,
        }
    }

    pub(crate) fn new(session: &SessionId, source: io::Error) -> Self {
        let session = session.clone();
        match source.kind() {
            // A limit on a file's size is a quota of its own kind.
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::NoSpace { session, source }
            }
            _ => Self::Io { session, source },
        }
    }
}

fn held_by(holder: Option<&Holder>) -> String {
    holder.map(|holder| format!(" by {holder}")).unwrap_or_default()
}

/// Whether an error means that nothing may be written here.
pub(crate) fn is_read_only(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}
