//! What can go wrong with an index, named by what the caller can do next.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no index, or no answer from it.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Something on disk, ours or the project's.
    #[error("could not {what} `{}`", path.display())]
    Io { what: &'static str, path: PathBuf, source: io::Error },
    /// Another process writes this index and the caller did not want to wait.
    #[error("another covey is indexing `{}`", root.display())]
    Busy { root: PathBuf },
    /// The person stopped it; what was done so far is kept.
    #[error("stopped")]
    Cancelled,
    /// The embedder failed; lexical search still answers.
    #[error("the embedder `{id}` failed: {what}")]
    Embedder { id: String, what: String },
    /// A folder of weights that can not be used.
    #[error("`{}` is not a model that can be used: {what}", path.display())]
    Model { path: PathBuf, what: String },
    /// The project's git history was asked for and did not answer.
    #[error("git did not answer: {what}")]
    Git { what: String },
}

impl IndexError {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }

    /// What the person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Some("free some room and run it again; it goes on where it was".into())
            }
            Self::Busy { .. } => Some("wait for it, or search what there is".into()),
            Self::Embedder { .. } => {
                Some("search with `--mode lexical`, or look at [index] in the settings".into())
            }
            Self::Model { .. } => Some("name a folder with model.safetensors and vocab.txt".into()),
            _ => None,
        }
    }
}
