//! Finding the project a folder belongs to.

use std::io;
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// A checkout on disk, found from some folder inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
}

/// Why there is no [`Project`].
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The folder to start from is not there, or not for us.
    #[error("cannot use `{}` as a project folder", path.display())]
    Unreachable { path: PathBuf, source: io::Error },
    /// The path to start from names a file.
    #[error("`{}` is a file, not a project folder", path.display())]
    NotADirectory { path: PathBuf },
}

impl Project {
    /// The nearest folder at or above `start` that holds `.covey/` or `.git`, else `start` itself.
    ///
    /// The nearest marker of either kind wins, so a stray `.covey` in `/tmp` or in the home folder does not
    /// turn everything below it into one project. The search ends at the home folder when `start` is inside.
    pub fn discover(start: impl AsRef<Path>) -> Result<Self, ProjectError> {
        let ceiling = std::env::var_os("HOME").map(PathBuf::from);
        Self::discover_below(start.as_ref(), ceiling.as_deref())
    }

    fn discover_below(start: &Path, ceiling: Option<&Path>) -> Result<Self, ProjectError> {
        let unreachable = |source| ProjectError::Unreachable { path: start.to_owned(), source };
        let real = start.canonicalize().map_err(unreachable)?;
        if !real.is_dir() {
            return Err(ProjectError::NotADirectory { path: real });
        }
        // Both are compared as real paths: a home folder is often a link.
        let ceiling = ceiling.and_then(|path| path.canonicalize().ok()).filter(|path| real.starts_with(path));
        for folder in real.ancestors() {
            // In a linked worktree `.git` is a file.
            if folder.join(".covey").is_dir() || folder.join(".git").exists() {
                return Ok(Self { root: folder.to_owned() });
            }
            if Some(folder) == ceiling.as_deref() {
                break;
            }
        }
        Ok(Self { root: real })
    }

    /// The folder everything is relative to: absolute and free of symbolic links.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Settings shared with the team.
    pub fn config_file(&self) -> PathBuf {
        self.root.join(".covey/config.toml")
    }

    /// Settings for this checkout that are not committed.
    pub fn local_config_file(&self) -> PathBuf {
        self.root.join(".covey/config.local.toml")
    }
}
