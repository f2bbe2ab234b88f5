//! The record of what was decided: one chain of hashes for each session.
//!
//! Every line names the hash of the line before it, and the head of the chain (how many lines, and the last hash) is
//! kept in another file. A changed line breaks its own hash, a missing one the chain, and a cut tail the head.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// One decision, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub n: u64,
    /// RFC 3339.
    pub at: String,
    pub tool: String,
    /// What was about to happen, secrets masked.
    pub what: Vec<String>,
    pub mode: String,
    pub level: String,
    pub decision: String,
    /// `guard`, `person` or `hook`.
    pub by: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
    /// The hash of the line before.
    pub before: String,
    #[serde(default)]
    pub hash: String,
}

#[derive(Debug, Serialize, Deserialize, PartialEq)]
struct Head {
    lines: u64,
    hash: String,
}

/// Why a log can not be used.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error("the audit log `{}` can not be used", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// What is wrong with a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Tampered {
    #[error("line {line} was changed")]
    Changed { line: u64 },
    #[error("line {line} is no record")]
    Unreadable { line: u64 },
    #[error("{count} {} missing before line {line}: {}", plural(*count), numbers(*first, *count))]
    Missing { line: u64, first: u64, count: u64 },
    #[error("the end was cut off: {have} lines are there, and there were {had}")]
    Cut { have: u64, had: u64 },
    #[error("the head of the chain is gone")]
    NoHead,
    #[error("the last line is not the one that was written last")]
    OtherEnd,
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "record is" } else { "records are" }
}

fn numbers(first: u64, count: u64) -> String {
    if count == 1 { format!("number {first}") } else { format!("numbers {first} to {}", first + count - 1) }
}

/// The log of one session.
pub struct Audit {
    log: PathBuf,
    head: PathBuf,
    lines: u64,
    last: String,
    file: Option<File>,
}

impl Audit {
    /// The log of `session` in `folder`. Nothing is made until something is recorded.
    pub fn open(folder: &Path, session: &str) -> Self {
        let (log, head) = paths(folder, session);
        // A log that was tampered with is gone on with: what is wrong stays visible.
        let (mut lines, mut last) = (0, String::new());
        if let Ok(file) = File::open(&log) {
            for line in BufReader::new(file).lines().map_while(Result::ok) {
                lines += 1;
                if let Ok(record) = serde_json::from_str::<Record>(&line) {
                    (lines, last) = (record.n, record.hash);
                }
            }
        }
        Self { log, head, lines, last, file: None }
    }

    /// Adds a record; number, hashes and time are filled in.
    pub fn append(&mut self, mut record: Record) -> Result<(), AuditError> {
        record.n = self.lines + 1;
        record.at = protocol::Timestamp::now().to_string();
        record.before.clone_from(&self.last);
        record.hash = hash(&record);
        let failed = |source| AuditError::Io { path: self.log.clone(), source };
        if self.file.is_none() {
            let folder = self.head.parent().unwrap_or(Path::new("."));
            project::create_private_dir(folder).map_err(failed)?;
            self.file = Some(
                OpenOptions::new().append(true).create(true).mode(0o600).open(&self.log).map_err(failed)?,
            );
        }
        let mut line = serde_json::to_string(&record).unwrap_or_default();
        line.push('\n');
        if let Some(file) = &mut self.file {
            file.write_all(line.as_bytes()).map_err(failed)?;
        }
        let head = Head { lines: record.n, hash: record.hash.clone() };
        write_head(&self.head, &head).map_err(|source| AuditError::Io { path: self.head.clone(), source })?;
        (self.lines, self.last) = (record.n, record.hash);
        Ok(())
    }
}

/// Small enough to be written in one go, in place: a rename for each decision would cost more than the decision.
fn write_head(path: &Path, head: &Head) -> io::Result<()> {
    let text = format!("{:<200}\n", serde_json::to_string(head).unwrap_or_default());
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// Reads a log and checks its chain. Every problem is named; an empty list means that all is as it was written.
pub fn verify(folder: &Path, session: &str) -> Result<(Vec<Record>, Vec<Tampered>), AuditError> {
    let (log, head) = paths(folder, session);
    let failed = |source| AuditError::Io { path: log.clone(), source };
    let (mut records, mut wrong) = (Vec::new(), Vec::new());
    let head: Option<Head> =
        std::fs::read_to_string(head).ok().and_then(|text| serde_json::from_str(text.trim()).ok());
    let file = match File::open(&log) {
        Ok(file) => Some(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound && head.is_some() => None,
        Err(error) => return Err(failed(error)),
    };
    let (mut number, mut last) = (0, String::new());
    for (at, line) in file.into_iter().flat_map(|file| BufReader::new(file).lines()).enumerate() {
        let line_number = at as u64 + 1;
        let Ok(record) = serde_json::from_str::<Record>(&line.map_err(failed)?) else {
            wrong.push(Tampered::Unreadable { line: line_number });
            number += 1;
            last.clear();
            continue;
        };
        if record.hash != hash(&record) {
            wrong.push(Tampered::Changed { line: line_number });
        } else if record.n > number + 1 {
            wrong.push(Tampered::Missing {
                line: line_number,
                first: number + 1,
                count: record.n - number - 1,
            });
        } else if record.before != last && !last.is_empty() || record.n <= number {
            // A line that stands where it was not written.
            wrong.push(Tampered::Changed { line: line_number });
        }
        (number, last) = (record.n.max(number), record.hash.clone());
        records.push(record);
    }
    match head {
        None => wrong.push(Tampered::NoHead),
        Some(head) if head.lines > number => wrong.push(Tampered::Cut { have: number, had: head.lines }),
        Some(head) if head.hash != last && wrong.is_empty() => wrong.push(Tampered::OtherEnd),
        Some(_) => {}
    }
    Ok((records, wrong))
}

/// The sessions that have a log.
pub fn sessions(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder.join("heads"))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .collect();
    names.sort();
    names
}

fn paths(folder: &Path, session: &str) -> (PathBuf, PathBuf) {
    // A session's name is ours, but it ends up in a path.
    let name: String =
        session.chars().map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' }).collect();
    (folder.join(format!("{name}.jsonl")), folder.join("heads").join(format!("{name}.json")))
}

fn hash(record: &Record) -> String {
    let bare = Record { hash: String::new(), ..record.clone() };
    blake3::hash(serde_json::to_string(&bare).unwrap_or_default().as_bytes()).to_hex().to_string()
}
