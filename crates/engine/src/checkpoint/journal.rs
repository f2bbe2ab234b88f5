//! The checkpoints of a session, on disk.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use project::{create_private_dir, write_private_atomic};
use serde::{Deserialize, Serialize};

/// One effect of an agent: what the files it touched were before and after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub id: u32,
    pub turn: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    pub files: Vec<Changed>,
    /// What could not be kept, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// Below the project's root, or absolute in a folder that was added.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    pub before: State,
    pub after: State,
}

/// A path on its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PathText(#[serde(with = "path_text")] pub(super) PathBuf);

/// What was at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    Absent,
    Folder,
    Link {
        #[serde(with = "path_text")]
        to: PathBuf,
    },
    File {
        content: Content,
        mode: u32,
        len: u64,
        /// Nanoseconds since 1970.
        modified: i64,
        /// The same of the last change of any kind, which nobody can set; absent in what older versions wrote.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changed: Option<i64>,
    },
}

/// Where a file's content is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Among what the session keeps.
    Kept(String),
    /// Git has it.
    Git(String),
    /// Nowhere: it was not kept, or nobody needs it yet.
    Nowhere,
}

/// What was taken back, newest last; taking it back again is redo.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Undone {
    pub(super) batches: Vec<Batch>,
    /// Records that were undone and then overtaken by something new.
    #[serde(default)]
    pub(super) dead: Vec<u32>,
    /// Files that were brought back look newer than they did; nobody else changed them.
    #[serde(default)]
    pub(super) restamped: Vec<Changed>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Batch {
    pub(super) ids: Vec<u32>,
    /// `before` is what undo made of it, `after` what was there until then.
    pub(super) files: Vec<Changed>,
}

/// The files in which they are kept.
#[derive(Debug)]
pub(super) struct Journal {
    folder: PathBuf,
}

impl Journal {
    pub(super) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// All records, oldest first. A torn last line is passed over: its effect never began.
    pub(super) fn records(&self) -> io::Result<Vec<Record>> {
        let mut text = String::new();
        match File::open(self.folder.join("journal.jsonl")) {
            Ok(mut file) => file.read_to_string(&mut text)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    pub(super) fn append(&self, record: &Record) -> io::Result<()> {
        create_private_dir(&self.folder)?;
        let path = self.folder.join("journal.jsonl");
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let mut line = serde_json::to_string(record)?;
        line.push('\n');
        file.write_all(line.as_bytes())
    }

    pub(super) fn undone(&self) -> Undone {
        let text = fs::read(self.folder.join("undone.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    pub(super) fn set_undone(&self, undone: &Undone) -> io::Result<()> {
        create_private_dir(&self.folder)?;
        write_private_atomic(&self.folder.join("undone.json"), &serde_json::to_vec(undone)?)
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Held while something is added.
    pub(super) fn lock(&self) -> io::Result<File> {
        create_private_dir(&self.folder)?;
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(self.folder.join("lock"))?;
        file.lock()?;
        Ok(file)
    }
}

/// Paths as text: what is not UTF-8 is written as `%xx`, and so is `%` itself.
mod path_text {
    use super::*;
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::new();
        for chunk in path.as_os_str().as_bytes().utf8_chunks() {
            text.push_str(&chunk.valid().replace('%', "%25"));
            chunk.invalid().iter().for_each(|byte| text.push_str(&format!("%{byte:02x}")));
        }
        serializer.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((byte, after)) = rest.split_first() {
            let escaped = (*byte == b'%')
                .then(|| after.get(..2))
                .flatten()
                .and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
            match escaped {
                Some(escaped) => {
                    bytes.push(escaped);
                    rest = &after[2..];
                }
                None => {
                    bytes.push(*byte);
                    rest = after;
                }
            }
        }
        Ok(OsString::from_vec(bytes).into())
    }
}
