//! Folders of a session's own that its children see in other places.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Made when the first child starts, gone with the session.
#[derive(Debug)]
pub(super) struct Staging {
    folder: TempDir,
    root: PathBuf,
}

/// What a child finds in `/dev`.
pub(super) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

impl Staging {
    pub(super) fn new() -> io::Result<Self> {
        let folder =
            tempfile::Builder::new().prefix("covey-").permissions(Permissions::from_mode(0o700)).tempdir()?;
        let root = folder.path().canonicalize()?;
        let staging = Self { folder, root };
        for name in ["tmp", "dev", "dev/pts", "dev/shm", "run", "empty"] {
            fs::create_dir(staging.root.join(name))?;
        }
        for device in DEVICES {
            fs::write(staging.root.join("dev").join(device), "")?;
        }
        let links = [
            ("fd", "/proc/self/fd"),
            ("stdin", "/proc/self/fd/0"),
            ("stdout", "/proc/self/fd/1"),
            ("stderr", "/proc/self/fd/2"),
            ("ptmx", "pts/ptmx"),
        ];
        for (name, target) in links {
            std::os::unix::fs::symlink(target, staging.root.join("dev").join(name))?;
        }
        fs::write(staging.nothing(), "")?;
        fs::set_permissions(staging.nothing(), Permissions::from_mode(0o000))?;
        fs::set_permissions(staging.empty(), Permissions::from_mode(0o000))?;
        Ok(staging)
    }

    /// For temporary files: the same for all children of a session, so that one finds what another left.
    pub(super) fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    pub(super) fn dev(&self) -> PathBuf {
        self.root.join("dev")
    }

    pub(super) fn run(&self) -> PathBuf {
        self.root.join("run")
    }

    /// A folder that nobody can list, to be seen instead of a hidden one.
    pub(super) fn empty(&self) -> PathBuf {
        self.root.join("empty")
    }

    /// A file that nobody can read.
    pub(super) fn nothing(&self) -> PathBuf {
        self.root.join("nothing")
    }

    /// Makes a place below `inside` for something that is to be mounted at `path`, which a child will find below
    /// `outside`.
    pub(super) fn place(inside: &Path, outside: &Path, path: &Path) -> io::Result<()> {
        let Ok(rest) = path.strip_prefix(outside) else { return Ok(()) };
        let place = inside.join(rest);
        if path.is_dir() {
            return fs::create_dir_all(place);
        }
        fs::create_dir_all(place.parent().unwrap_or(inside))?;
        if place.symlink_metadata().is_err() { fs::write(place, "") } else { Ok(()) }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // So that it can be removed by others than root; the folder itself goes with its handle.
        fs::set_permissions(self.folder.path().join("empty"), Permissions::from_mode(0o700)).ok();
    }
}
