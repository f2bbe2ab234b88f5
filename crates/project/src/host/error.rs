//! Why a host could not do as asked.

use std::io;
use std::path::{Path, PathBuf};

use crate::confine::ConfineError;
use crate::nearest::nearest;

/// How many names a hint lists.
const SIMILAR: usize = 3;

/// How many entries of a folder are looked at for a hint.
const LOOKED_AT: usize = 2_000;

/// Why a host could not do as asked. The text goes to the model, so it says what to do differently.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Nothing is there; `similar` are names in the same folder that come close.
    #[error("`{}` does not exist", path.display())]
    NotFound { path: PathBuf, similar: Vec<String> },
    /// It leads out of the roots.
    #[error("`{}` leads outside the project, to `{}`", path.display(), target.display())]
    Outside { path: PathBuf, target: PathBuf },
    /// The system does not let us.
    #[error("no permission to use `{}`", path.display())]
    Denied { path: PathBuf },
    /// A file was asked for.
    #[error("`{}` is a folder", path.display())]
    IsDirectory { path: PathBuf },
    /// A folder was asked for, or a file is used as one.
    #[error("`{}` is not a folder", path.display())]
    NotADirectory { path: PathBuf },
    /// More was asked for than one read returns.
    #[error("a read of {limit} bytes is more than the {most} allowed at once")]
    TooLarge { limit: usize, most: usize },
    /// Reading it could wait forever or have effects.
    #[error("`{}` is {what}, not a file", path.display())]
    Special { path: PathBuf, what: &'static str },
    /// It was swapped for a symbolic link while it was being opened: try again, or suspect foul play.
    #[error("`{}` turned into a symbolic link while it was opened", path.display())]
    Changed { path: PathBuf },
    /// Somebody else wrote it since it was read: read it again.
    #[error("`{}` changed since it was read", path.display())]
    Stale { path: PathBuf },
    /// Something is where nothing should be.
    #[error("`{}` is already there", path.display())]
    Exists { path: PathBuf },
    /// A program did not start; the text says why.
    #[error("{0}")]
    NotStarted(String),
    /// The host is somewhere else and does not answer; whether it did what was asked may not be known.
    #[error("{0}")]
    NoAnswer(String),
    /// No file can be at such a path: a NUL byte, an empty name, a loop of links.
    #[error("{reason}")]
    Unusable { reason: String },
    /// Anything else that went wrong on disk.
    #[error("cannot use `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl HostError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { similar, .. } if !similar.is_empty() => {
                let names: Vec<_> = similar.iter().map(|name| format!("`{name}`")).collect();
                Some(format!("did you mean {}?", names.join(" or ")))
            }
            Self::IsDirectory { .. } => Some("list it instead".into()),
            Self::Stale { .. } => Some("read it again, then make the change".into()),
            Self::NoAnswer(_) => Some("look before doing it again: it may have been done".into()),
            Self::TooLarge { .. } => Some("read a part of the file at a time".into()),
            _ => None,
        }
    }

    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { similar: similar_to(&path), path },
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            io::ErrorKind::PermissionDenied => Self::Denied { path },
            io::ErrorKind::IsADirectory => Self::IsDirectory { path },
            io::ErrorKind::NotADirectory => Self::NotADirectory { path },
            _ => Self::Io { path, source },
        }
    }
}

impl From<ConfineError> for HostError {
    fn from(error: ConfineError) -> Self {
        match error {
            ConfineError::Outside { path, target } => Self::Outside { path, target },
            ConfineError::NotADirectory { path } => Self::NotADirectory { path },
            ConfineError::Io { path, source } => Self::from_io(&path, source),
            error @ (ConfineError::NotAPath { .. } | ConfineError::Loop { .. }) => {
                Self::Unusable { reason: error.to_string() }
            }
        }
    }
}

/// Names in the missing file's folder that look like a slip of the same name.
fn similar_to(path: &Path) -> Vec<String> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let Some(Ok(entries)) = path.parent().map(std::fs::read_dir) else { return Vec::new() };
    let names = entries.take(LOOKED_AT).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    nearest(name, names, SIMILAR)
}
