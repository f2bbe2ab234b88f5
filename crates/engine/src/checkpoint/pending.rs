//! Effects that have begun and are not over, on disk: what they changed is found out even if we die in between.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use project::create_private_dir;
use serde::{Deserialize, Serialize};

use super::Mark;
use super::journal::{Journal, PathText, State};

/// What was there when an effect began.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Begun {
    pub(super) mark: Mark,
    /// The files in scope; without it, everything.
    pub(super) files: Option<Vec<PathText>>,
    /// Those that were added to the session then. One that was added since was not looked at, so nothing in it is new.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<PathText>,
    pub(super) before: Vec<(PathText, State)>,
    pub(super) left_out: Vec<String>,
}

/// An effect that has begun. As long as this is held nobody else takes it for abandoned.
#[derive(Debug)]
pub struct Pending {
    begun: Begun,
    file: PathBuf,
    /// Holds the lock.
    _held: File,
}

impl Pending {
    /// The folders that a command could delete without that being taken back.
    pub fn left_out(&self) -> &[String] {
        &self.begun.left_out
    }

    pub(super) fn into_parts(self) -> (Begun, PathBuf) {
        (self.begun, self.file)
    }
}

/// An effect whose process is gone.
pub(super) struct Abandoned {
    /// None if it was never written to its end.
    pub(super) begun: Option<Begun>,
    pub(super) file: PathBuf,
    _held: File,
}

const PREFIX: &str = "pending";

impl Journal {
    pub(super) fn begin(&self, begun: Begun) -> io::Result<Pending> {
        create_private_dir(self.folder())?;
        let Mark { turn, call } = &begun.mark;
        let whose: String = [turn.as_str(), call.as_deref().unwrap_or_default()].join("-");
        let whose = whose.replace(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-'), "_");
        let draft = self.folder().join(format!("draft-{whose}.json"));
        let mut held = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        // Under its name only when it is locked and whole.
        held.lock()?;
        held.write_all(&serde_json::to_vec(&begun)?)?;
        let file = self.folder().join(format!("{PREFIX}-{whose}.json"));
        fs::rename(draft, &file)?;
        Ok(Pending { begun, file, _held: held })
    }

    /// Those that nobody holds any more.
    pub(super) fn abandoned(&self) -> io::Result<Vec<Abandoned>> {
        let entries = match fs::read_dir(self.folder()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            if !name.to_string_lossy().starts_with(PREFIX) {
                continue;
            }
            // One that is over by now is gone.
            let Ok(mut held) = File::open(entry.path()) else { continue };
            match held.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(error),
            }
            let mut text = Vec::new();
            held.read_to_end(&mut text)?;
            let begun = serde_json::from_slice(&text).ok();
            found.push(Abandoned { begun, file: entry.path(), _held: held });
        }
        Ok(found)
    }

    pub(super) fn forget(&self, file: &Path) -> io::Result<()> {
        match fs::remove_file(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}
