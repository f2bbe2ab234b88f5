//! The words of [`project::Host`] and those that travel to an editor.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use project::{
    DirEntry, EntryKind, Exit, Expect, FileRead, Finding, Grants, HostError, Listing, Program, Stamp, Stat,
    Streams, Task,
};
use protocol::{HostAnswer, HostDiagnostic, HostExpect, HostFailure, HostKind, HostStamp, HostTask};

/// The most that is believed of what an editor found in one file.
const MAX_FINDINGS: usize = 1000;

pub(super) fn unexpected() -> HostError {
    HostError::NoAnswer("the editor answered something else than was asked".to_owned())
}

/// An editor's paths are text.
pub(super) fn text(path: &Path) -> Result<String, HostError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| HostError::Unusable { reason: format!("`{}` is not UTF-8", path.display()) })
}

pub(super) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub(super) fn decode(text: &str) -> Result<Vec<u8>, HostError> {
    STANDARD.decode(text).map_err(|_| unexpected())
}

/// What is no failure.
pub(super) fn expected(path: &Path, answer: HostAnswer) -> Result<HostAnswer, HostError> {
    let HostAnswer::Failed { why, message } = answer else { return Ok(answer) };
    let named = path.to_owned();
    Err(match why {
        HostFailure::NotFound => HostError::NotFound { path: named, similar: vec![] },
        HostFailure::Outside => HostError::Outside { target: named.clone(), path: named },
        HostFailure::Denied => HostError::Denied { path: named },
        HostFailure::IsDirectory => HostError::IsDirectory { path: named },
        HostFailure::NotADirectory => HostError::NotADirectory { path: named },
        HostFailure::Exists => HostError::Exists { path: named },
        HostFailure::Stale => HostError::Stale { path: named },
        HostFailure::Failed => HostError::Unusable { reason: message },
    })
}

pub(super) fn stamp(stamp: HostStamp) -> Stamp {
    let modified = stamp.modified_ms.and_then(|ms| UNIX_EPOCH.checked_add(Duration::from_millis(ms)));
    Stamp { len: stamp.len, modified }
}

pub(super) fn expect(expect: Expect) -> HostExpect {
    match expect {
        Expect::Anything => HostExpect::Anything,
        Expect::Absent => HostExpect::Absent,
        Expect::Unchanged(stamp) => {
            let since = stamp.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let modified_ms = since.and_then(|since| u64::try_from(since.as_millis()).ok());
            HostExpect::Unchanged(HostStamp { len: stamp.len, modified_ms })
        }
    }
}

pub(super) fn read_answer(answer: HostAnswer, limit: usize) -> Result<FileRead, HostError> {
    let HostAnswer::Read { bytes, stamp: seen } = answer else { return Err(unexpected()) };
    let mut bytes = decode(&bytes)?;
    // More than was asked for would be counted twice by whoever reads on.
    bytes.truncate(limit);
    let Stamp { len, modified } = stamp(seen);
    Ok(FileRead { bytes, total_len: len, modified })
}

pub(super) fn listing(answer: HostAnswer, limit: usize) -> Result<Listing, HostError> {
    let HostAnswer::List { entries, total } = answer else { return Err(unexpected()) };
    let is_name = |name: &str| !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\0']);
    let mut entries: Vec<DirEntry> = entries
        .into_iter()
        .filter(|entry| is_name(&entry.name))
        .map(|entry| DirEntry { name: OsString::from(entry.name), kind: kind(entry.kind), len: entry.len })
        .collect();
    entries.sort();
    entries.truncate(limit);
    let total = usize::try_from(total).unwrap_or(usize::MAX).max(entries.len());
    Ok(Listing { entries, total })
}

pub(super) fn stat(answer: &HostAnswer) -> Result<Stat, HostError> {
    let HostAnswer::Stat { kind: found, stamp: seen } = answer else { return Err(unexpected()) };
    let Stamp { len, modified } = stamp(*seen);
    Ok(Stat { kind: kind(*found), len, modified, mode: None })
}

fn kind(kind: HostKind) -> EntryKind {
    match kind {
        HostKind::File => EntryKind::File,
        HostKind::Dir => EntryKind::Dir,
        HostKind::Symlink => EntryKind::Symlink,
        HostKind::Other => EntryKind::Other,
    }
}

pub(super) fn task(task: Task, cwd: String, grants: &Grants) -> Result<HostTask, HostError> {
    let (shell, argv) = match task.program {
        Program::Shell(line) => (Some(line), vec![]),
        Program::Argv(words) => (None, words),
    };
    let texts = |paths: &[PathBuf]| paths.iter().map(|path| text(path)).collect::<Result<Vec<_>, _>>();
    Ok(HostTask {
        shell,
        argv,
        cwd,
        env: task.env,
        interactive: task.streams != Streams::Out,
        terminal: matches!(task.streams, Streams::Terminal(_)),
        reads: texts(&grants.reads)?,
        writes: texts(&grants.writes)?,
        network: grants.network,
    })
}

pub(super) fn exit(code: Option<i32>, signal: Option<i32>) -> Exit {
    match (code, signal) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Unknown,
    }
}

pub(super) fn findings(found: Vec<HostDiagnostic>) -> Vec<Finding> {
    let one = |found: HostDiagnostic| Finding {
        line: found.line.max(1),
        severity: found.severity.clamp(1, 4),
        message: match found.source {
            Some(source) => format!("{} ({source})", found.message),
            None => found.message,
        },
    };
    found.into_iter().take(MAX_FINDINGS).map(one).collect()
}
