//! Reading a config file that may be anything.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::ConfigError;

/// No settings are this long; what is, is not settings.
const MAX_BYTES: u64 = 1024 * 1024;

/// The text of a config file, or nothing if there is none. Links are followed: people keep dotfiles elsewhere.
pub(super) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    let unreadable =
        |reason: &str| ConfigError::Unreadable { file: path.to_owned(), reason: reason.to_owned() };
    let file = match open_regular(path) {
        Ok(Some(file)) => file,
        Ok(None) => return Err(unreadable("it is not a file")),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(&why(&error))),
    };
    let mut bytes = Vec::new();
    // Files can grow while they are read, so the length is not taken at its word.
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&why(&error)))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(unreadable("it is larger than 1 MiB"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(unreadable("it is not UTF-8 text")),
    }
}

/// Opens a regular file without ever waiting; nothing if it is something else.
fn open_regular(path: &Path) -> io::Result<Option<File>> {
    // Looked at before it is opened, because opening a pipe or device can have effects, and after, because it
    // may have been swapped.
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let never_wait = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(never_wait).open(path)?;
    Ok(if file.metadata()?.is_file() { Some(file) } else { None })
}

/// The system's words, without the error number std adds.
fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        kind => kind.to_string(),
    }
}
