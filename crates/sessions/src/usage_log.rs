//! What was spent, call by call, over all sessions: `usage.jsonl`.
//!
//! The events of a session tell the same; this is the short version that can be added up without opening a thousand
//! logs. It outlives the sessions, because money that was spent stays spent.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use protocol::{AgentId, ModelRef, SessionId, Timestamp, Usage};
use serde::{Deserialize, Serialize};

use crate::files;

/// A line longer than this is not ours.
const MAX_LINE: usize = 16 << 10;

/// The file where calls to models are counted. Any number of processes may add to it.
#[derive(Debug, Clone)]
pub struct UsageLog {
    path: PathBuf,
}

/// One call to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsageEntry {
    pub ts: Timestamp,
    pub session: SessionId,
    pub agent: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// The folder that the session works in.
    pub cwd: String,
    #[serde(flatten)]
    pub usage: Usage,
}

impl UsageLog {
    pub fn at(path: impl AsRef<Path>) -> Self {
        Self { path: path.as_ref().to_owned() }
    }

    /// Adds lines in one write, so that those of two processes do not mix.
    pub fn append(&self, entries: &[UsageEntry]) -> io::Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut lines, entry)?;
            lines.push(b'\n');
        }
        if let Some(folder) = self.path.parent() {
            files::create_dir_all(folder)?;
        }
        let mut file = File::options().append(true).create(true).mode(0o600).open(&self.path)?;
        file.write_all(&lines)
    }

    /// Hands every entry to `take`, oldest first. Lines that can not be read are counted, not fatal: a crash may have
    /// torn one.
    pub fn read(&self, mut take: impl FnMut(UsageEntry)) -> io::Result<u64> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        let mut reader = BufReader::new(file);
        let (mut line, mut unreadable) = (Vec::new(), 0);
        loop {
            line.clear();
            let read = io::Read::take(&mut reader, MAX_LINE as u64).read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(unreadable);
            }
            match serde_json::from_slice::<UsageEntry>(&line) {
                Ok(entry) => take(entry),
                Err(_) => unreadable += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(input: u64) -> UsageEntry {
        UsageEntry {
            ts: Timestamp::from_millis(0),
            session: "20260125-143052-a1b2c3d4".parse().unwrap(),
            agent: "native".into(),
            model: Some("local/small".into()),
            cwd: "/src/shop".to_owned(),
            usage: Usage { input, ..Usage::default() },
        }
    }

    #[test]
    fn what_is_added_is_read_back_and_damage_costs_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data/usage.jsonl");
        let log = UsageLog::at(&path);
        assert_eq!(log.read(|_| panic!("nothing was spent")).unwrap(), 0);
        log.append(&[entry(1), entry(2)]).unwrap();
        File::options().append(true).open(&path).unwrap().write_all(b"{\"torn\": \n\xff\xfe\n").unwrap();
        log.append(&[entry(3)]).unwrap();
        let mut found = Vec::new();
        assert_eq!(log.read(|entry| found.push(entry.usage.input)).unwrap(), 2);
        assert_eq!(found, [1, 2, 3]);
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn processes_that_add_at_once_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let log = UsageLog::at(folder.path().join("usage.jsonl"));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..100).for_each(|n| log.append(&[entry(n)]).unwrap()));
            }
        });
        let mut count = 0;
        assert_eq!(log.read(|_| count += 1).unwrap(), 0);
        assert_eq!(count, 800);
    }

    #[test]
    fn a_file_that_is_one_endless_line_is_read_in_bounded_memory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("usage.jsonl");
        std::fs::write(&path, vec![b'x'; 10 << 20]).unwrap();
        assert!(UsageLog::at(&path).read(|_| panic!("no entry")).unwrap() > 100);
    }
}
