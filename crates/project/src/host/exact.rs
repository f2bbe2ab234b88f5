//! Bringing back what was at a path, at exactly that path.
//!
//! What is brought back was seen there without a link on the way. Where a path leads elsewhere by now, whatever is there is
//! not what was seen, so nothing is changed.

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, fchmod, mkdirat, statat, symlinkat, unlinkat};
use rustix::io::Errno;

use super::HostError;
use super::change::{Draft, Missing, open_parent};
use crate::confine::{ResolvedPath, Roots};

impl Roots {
    /// Puts a file there, in one step, in place of whatever file, link or empty folder there is.
    pub fn put_file(&self, path: &Path, bytes: &[u8], mode: u32) -> Result<(), HostError> {
        let resolved = self.exactly(path)?;
        let failed = |errno: Errno| HostError::from_io(path, errno.into());
        let (folder, name) = open_parent(&resolved, Missing::Make)?;
        if kind(&folder, name) == Some(FileType::Directory) {
            unlinkat(&folder, name, AtFlags::REMOVEDIR).map_err(failed)?;
        }
        let draft = Draft::new(folder.as_fd(), Mode::from_raw_mode(0o600)).map_err(failed)?;
        (&draft.file).write_all(bytes).map_err(|source| HostError::from_io(path, source))?;
        fchmod(&draft.file, Mode::from_raw_mode(mode)).map_err(failed)?;
        draft.put_in_place(name).map_err(failed)
    }

    /// Puts a link there that leads to `to`, wherever that is: nobody follows it here.
    pub fn put_link(&self, path: &Path, to: &Path) -> Result<(), HostError> {
        let resolved = self.exactly(path)?;
        let (folder, name) = open_parent(&resolved, Missing::Make)?;
        clear(&folder, name)
            .and_then(|()| symlinkat(to, &folder, name))
            .map_err(|errno| HostError::from_io(path, errno.into()))
    }

    /// Puts a folder there. One that is there stays as it is.
    pub fn put_dir(&self, path: &Path) -> Result<(), HostError> {
        let resolved = self.exactly(path)?;
        if resolved.relative().as_os_str().is_empty() {
            return Ok(());
        }
        let (folder, name) = open_parent(&resolved, Missing::Make)?;
        if kind(&folder, name) == Some(FileType::Directory) {
            return Ok(());
        }
        clear(&folder, name)
            .and_then(|()| mkdirat(&folder, name, Mode::from_raw_mode(0o777)))
            .map_err(|errno| HostError::from_io(path, errno.into()))
    }

    /// Takes away what is there. A folder stays when something is in it: that is somebody else's. So does a root.
    pub fn take_away(&self, path: &Path) -> Result<(), HostError> {
        let resolved = self.exactly(path)?;
        if resolved.relative().as_os_str().is_empty() {
            return Ok(());
        }
        let (folder, name) = match open_parent(&resolved, Missing::Refuse) {
            Err(HostError::NotFound { .. }) => return Ok(()),
            opened => opened?,
        };
        match clear(&folder, name) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
            other => other.map_err(|errno| HostError::from_io(path, errno.into())),
        }
    }

    /// The entry at an absolute path, if no link leads elsewhere on the way.
    fn exactly(&self, path: &Path) -> Result<ResolvedPath, HostError> {
        let resolved = self.resolve_entry(path, self.main())?;
        match resolved.absolute() == path {
            true => Ok(resolved),
            false => Err(HostError::Changed { path: path.to_owned() }),
        }
    }
}

fn kind(folder: &OwnedFd, name: &std::ffi::OsStr) -> Option<FileType> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

/// Takes an entry away, if there is one; a folder only when it is empty.
fn clear(folder: &OwnedFd, name: &std::ffi::OsStr) -> Result<(), Errno> {
    let flags = match kind(folder, name) {
        None => return Ok(()),
        Some(FileType::Directory) => AtFlags::REMOVEDIR,
        Some(_) => AtFlags::empty(),
    };
    match unlinkat(folder, name, flags) {
        Err(Errno::NOENT) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn things_are_put_in_place_of_what_is_there_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        fs::create_dir_all(here.join("root/empty")).unwrap();
        fs::create_dir_all(here.join("root/full/of")).unwrap();
        fs::create_dir(here.join("outside")).unwrap();
        symlink(here.join("outside"), here.join("root/link")).unwrap();
        let roots = Roots::new([here.join("root")]).unwrap();
        let at = |path: &str| here.join("root").join(path);

        roots.put_file(&at("new/deep/a"), b"a", 0o640).unwrap();
        assert_eq!(fs::metadata(at("new/deep/a")).unwrap().permissions().mode() & 0o777, 0o640);
        roots.put_file(&at("empty"), b"file", 0o600).unwrap();
        assert_eq!(fs::read(at("empty")).unwrap(), b"file");
        assert!(roots.put_file(&at("full"), b"file", 0o600).is_err());
        // In place of the link, not through it.
        assert!(matches!(roots.put_file(&at("link/a"), b"", 0o600), Err(HostError::Outside { .. })));
        assert!(roots.take_away(&at("link/a")).is_err());
        roots.put_file(&at("link"), b"file", 0o600).unwrap();
        roots.put_dir(&at("link")).unwrap();
        roots.put_link(&at("link"), &here.join("outside")).unwrap();
        roots.put_dir(&at("link")).unwrap();
        assert!(at("link").is_dir() && !at("link").is_symlink());
        assert_eq!(fs::read_dir(here.join("outside")).unwrap().count(), 0);

        roots.take_away(&at("full")).unwrap();
        roots.take_away(&at("never/was")).unwrap();
        roots.take_away(&here.join("root")).unwrap();
        assert!(at("full/of").is_dir());
        roots.take_away(&at("full/of")).unwrap();
        assert!(!at("full/of").exists());
        assert!(matches!(roots.put_dir(&here.join("outside/x")), Err(HostError::Outside { .. })));
        // A link to another place in the root leads elsewhere too.
        symlink(at("full"), at("inner")).unwrap();
        assert!(matches!(roots.put_dir(&at("inner/x")), Err(HostError::Changed { .. })));
    }
}
