//! What outlives the process: prompts of before, and what is being written.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::composer::Draft;

/// Of a long history only the end is read.
const MAX_HISTORY: u64 = 1 << 20;
/// A history longer than this is cut back to what is read.
const TOO_LONG: u64 = 4 << 20;
const MAX_DRAFT: u64 = 64 << 20;

/// A folder for it; without one nothing is kept.
pub(crate) struct Keep {
    dir: Option<PathBuf>,
    /// Drafts belong to the folder that the person works in.
    draft: String,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    text: String,
}

impl Keep {
    pub(crate) fn new(dir: Option<PathBuf>, cwd: &str) -> Self {
        Self { dir, draft: format!("draft-{:016x}.json", fingerprint(cwd)) }
    }

    pub(crate) fn history(&self) -> Vec<String> {
        let read = || -> Option<String> {
            let mut file = fs::File::open(self.dir.as_ref()?.join("history.jsonl")).ok()?;
            let length = file.metadata().ok()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(MAX_HISTORY))).ok()?;
            let mut bytes = Vec::new();
            file.take(MAX_HISTORY).read_to_end(&mut bytes).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        // A line that was cut, or written by somebody else, is passed over.
        let entries = read().unwrap_or_default();
        entries
            .lines()
            .filter_map(|line| serde_json::from_str::<Entry>(line).ok())
            .map(|entry| entry.text)
            .collect()
    }

    pub(crate) fn add_prompt(&self, text: &str) -> io::Result<()> {
        let Some(dir) = &self.dir else { return Ok(()) };
        private_dir(dir)?;
        let path = dir.join("history.jsonl");
        if fs::metadata(&path).is_ok_and(|file| file.len() > TOO_LONG) {
            let kept: Vec<String> = self.history();
            let lines = kept.into_iter().map(line).collect::<String>();
            write_whole(&path, lines.as_bytes())?;
        }
        let mut file = fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        file.write_all(line(text.to_owned()).as_bytes())
    }

    pub(crate) fn draft(&self) -> Option<Draft> {
        let path = self.dir.as_ref()?.join(&self.draft);
        if fs::metadata(&path).ok()?.len() > MAX_DRAFT {
            return None;
        }
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    pub(crate) fn keep_draft(&self, draft: &Draft) -> io::Result<()> {
        let Some(dir) = &self.dir else { return Ok(()) };
        let path = dir.join(&self.draft);
        if draft.text.is_empty() {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        private_dir(dir)?;
        write_whole(&path, &serde_json::to_vec(draft)?)
    }
}

fn line(text: String) -> String {
    // Strings always serialise.
    serde_json::to_string(&Entry { text }).unwrap_or_default() + "\n"
}

fn private_dir(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

/// All of it or nothing, whenever the process ends.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file =
        fs::OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&beside)?;
    file.write_all(bytes)?;
    drop(file);
    fs::rename(beside, path)
}

/// FNV-1a: the same in every version and on every machine.
fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_and_drafts_come_back_and_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = std::env::temp_dir().join(format!("covey-keep-{}", std::process::id()));
        let keep = Keep::new(Some(dir.clone()), "/a/project");
        keep.add_prompt("two\nlines").unwrap();
        keep.add_prompt("second").unwrap();
        fs::OpenOptions::new()
            .append(true)
            .open(dir.join("history.jsonl"))
            .unwrap()
            .write_all(b"{torn")
            .unwrap();
        assert_eq!(keep.history(), ["two\nlines", "second"]);
        let draft = Draft { text: "half a".to_owned(), chips: vec![] };
        keep.keep_draft(&draft).unwrap();
        assert_eq!(keep.draft(), Some(draft));
        assert_eq!(Keep::new(Some(dir.clone()), "/another").draft(), None);
        let mode = fs::metadata(dir.join(&keep.draft)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        keep.keep_draft(&Draft::default()).unwrap();
        assert_eq!(keep.draft(), None);
        fs::remove_dir_all(dir).unwrap();
    }
}
