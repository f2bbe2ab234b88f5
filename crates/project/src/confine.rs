//! Keeping paths inside the folders they were granted for.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

#[cfg(test)]
mod tests;

/// How many links one path may lead through, as in the kernel.
const MAX_LINKS: usize = 40;

/// The folders someone may work in. There is always at least one, and the first is the main one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    roots: Vec<PathBuf>,
}

/// A path that was inside its [`Roots`] when it was resolved.
///
/// It may change on disk at any moment, so open it with [`open_read`](Self::open_read), which refuses to go
/// anywhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    absolute: PathBuf,
    /// How many leading components of `absolute` are the root's.
    root_length: usize,
}

/// Why a path may not be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// It leads out: ask the person for more room, or tell the model.
    #[error("`{}` leads outside the project, to `{}`", path.display(), target.display())]
    Outside { path: PathBuf, target: PathBuf },
    /// No file can have this name: it is empty or holds a NUL byte.
    #[error("`{}` is not a path", path.escape_debug())]
    NotAPath { path: String },
    /// Its symbolic links lead in a circle.
    #[error("the symbolic links of `{}` form a loop", path.display())]
    Loop { path: PathBuf },
    /// A granted folder is not a folder.
    #[error("`{}` is not a folder", path.display())]
    NotADirectory { path: PathBuf },
    /// The system would not say where it leads.
    #[error("cannot resolve `{}`", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Roots {
    /// Grants these folders. They must exist; links to them are resolved once, here.
    pub fn new(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Self, ConfineError> {
        let mut roots: Vec<PathBuf> = Vec::new();
        for path in paths {
            let path = path.as_ref();
            let real =
                path.canonicalize().map_err(|source| ConfineError::Io { path: path.to_owned(), source })?;
            if !real.is_dir() {
                return Err(ConfineError::NotADirectory { path: real });
            }
            if !roots.contains(&real) {
                roots.push(real);
            }
        }
        if roots.is_empty() {
            return Err(ConfineError::NotAPath { path: String::new() });
        }
        Ok(Self { roots })
    }

    /// These, and one file or folder more: where `path` really leads now. What it leads to later is not granted.
    pub fn granting(&self, path: &Path) -> Result<Self, ConfineError> {
        let target = follow(path, &self.main().join(path))?;
        let mut roots = self.roots.clone();
        roots.push(target);
        Ok(Self { roots })
    }

    /// The folder that relative paths usually start from.
    pub fn main(&self) -> &Path {
        &self.roots[0]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.roots.iter().map(PathBuf::as_path)
    }

    /// Finds out where `path`, relative to `base` unless absolute, really leads, and refuses if that is outside.
    ///
    /// Links and `..` are followed on the real tree, as the system would when opening it. From the first part
    /// that does not exist the rest is taken literally, so a file about to be created resolves too.
    pub fn resolve(
        &self,
        path: impl AsRef<Path>,
        base: impl AsRef<Path>,
    ) -> Result<ResolvedPath, ConfineError> {
        let path = path.as_ref();
        if path.as_os_str().is_empty() || path.as_os_str().as_bytes().contains(&0) {
            return Err(ConfineError::NotAPath { path: path.to_string_lossy().into_owned() });
        }
        let absolute = self.main().join(base.as_ref()).join(path);
        let target = follow(path, &absolute)?;
        // Of nested roots the innermost is the one whoever granted it had in mind.
        let depth = |root: &Path| root.components().count();
        let root = self.iter().filter(|root| target.starts_with(root)).map(depth).max();
        match root {
            Some(root_length) => Ok(ResolvedPath { absolute: target, root_length }),
            None => Err(ConfineError::Outside { path: path.to_owned(), target }),
        }
    }
}

impl Roots {
    /// As [`resolve`](Self::resolve), for the entry itself: a link in the last place is not followed, because it is the
    /// link that is moved or taken away.
    pub fn resolve_entry(
        &self,
        path: impl AsRef<Path>,
        base: impl AsRef<Path>,
    ) -> Result<ResolvedPath, ConfineError> {
        let (path, base) = (path.as_ref(), base.as_ref());
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return self.resolve(path, base);
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        match self.resolve(parent, base) {
            Ok(mut folder) => {
                folder.absolute.push(name);
                Ok(folder)
            }
            // The entry itself may have been granted, without the folder it lies in.
            Err(ConfineError::Outside { .. }) => self.resolve(path, base),
            Err(error) => Err(error),
        }
    }
}

impl ResolvedPath {
    /// The whole path, free of symbolic links and `..`.
    pub fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// The path below its root; empty for the root itself.
    pub fn relative(&self) -> &Path {
        let mut components = self.absolute.components();
        components.by_ref().take(self.root_length).for_each(drop);
        components.as_path()
    }

    /// The granted folder it is in.
    pub fn root(&self) -> PathBuf {
        self.absolute.components().take(self.root_length).collect()
    }

    /// Whether it is git's own data: what is written there can run as a hook or a configured program.
    ///
    /// Case does not matter, because on some file systems it does not; `.gitignore` and `x.git` are not it.
    pub fn touches_git(&self) -> bool {
        self.absolute.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
    }
}

/// A step still to be taken on the way to a path's target.
enum Step {
    Up,
    Down(OsString),
}

/// Walks `absolute` on the real tree. `path` is what was asked for, to be named in errors.
fn follow(path: &Path, absolute: &Path) -> Result<PathBuf, ConfineError> {
    let mut here = PathBuf::from("/");
    let mut ahead: VecDeque<Step> = steps(absolute).collect();
    let mut links = 0;
    while let Some(step) = ahead.pop_front() {
        let name = match step {
            Step::Up => {
                here.pop();
                continue;
            }
            Step::Down(name) => name,
        };
        here.push(name);
        let Some(target) =
            link_target(&here).map_err(|source| ConfineError::Io { path: path.to_owned(), source })?
        else {
            continue;
        };
        links += 1;
        if links > MAX_LINKS {
            return Err(ConfineError::Loop { path: path.to_owned() });
        }
        here.pop();
        if target.is_absolute() {
            here = PathBuf::from("/");
        }
        for step in steps(&target).collect::<Vec<_>>().into_iter().rev() {
            ahead.push_front(step);
        }
    }
    Ok(here)
}

fn steps(path: &Path) -> impl Iterator<Item = Step> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
        Component::ParentDir => Some(Step::Up),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

/// Where a link leads; nothing if it is no link, does not exist, or lies below a file.
fn link_target(path: &Path) -> io::Result<Option<PathBuf>> {
    match std::fs::read_link(path) {
        Ok(target) => Ok(Some(target)),
        Err(error) => match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
            _ => Err(error),
        },
    }
}
