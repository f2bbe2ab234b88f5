//! Writing files that are nobody else's business and are never half written.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// How many links may lead to another before it is taken for a loop, as in the kernel.
const MAX_LINKS: usize = 40;

/// Creates a folder and its missing parents for the owner alone (0700). Those that exist stay as they are.
pub fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Replaces a file's content in one step, readable by the owner alone (0600).
///
/// After a crash the file holds either the old content or the new, never a part. A symbolic link stays, and
/// what it points to is replaced: people keep their settings in a repository of dotfiles.
pub fn write_private_atomic(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_atomic(&final_target(path)?, bytes, Permissions::from_mode(0o600))
}

/// As [`write_private_atomic`], with other permissions and for a path that is not a link.
pub(crate) fn write_atomic(target: &Path, bytes: &[u8], permissions: Permissions) -> io::Result<()> {
    // `Path::parent` of a bare file name is empty, which is not a folder one can open.
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".covey-").permissions(permissions).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(target).map_err(|error| error.error)?;
    // The rename itself is only safe once its folder is.
    File::open(folder)?.sync_all()
}

/// Where a write to `path` would land: the end of its chain of links, whether or not that exists.
pub(crate) fn final_target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            // It is there but no link, or not there yet.
            Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::NotFound) => {
                return Ok(path);
            }
            Err(error) => return Err(error),
        }
    }
    Err(rustix::io::Errno::LOOP.into())
}
