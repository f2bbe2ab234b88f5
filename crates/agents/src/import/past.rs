//! Where other agents keep their past sessions.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use protocol::{Timestamp, prompt_text};

use super::{ImportError, import};

/// Nobody wants to see more of them than this.
const MOST: usize = 100;
/// Somewhere in here a file says where its session worked.
const HEAD: u64 = 256 * 1024;

/// A session that an agent has a file of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastSession {
    pub file: PathBuf,
    /// When something last happened in it.
    pub changed: Timestamp,
}

impl PastSession {
    /// What it began with; none if the file is none of a session.
    pub fn first_prompt(&self) -> Option<String> {
        let text = std::fs::read(&self.file).ok()?;
        let imported = import(&String::from_utf8_lossy(&text)).ok()?;
        imported.turns.first().map(|turn| prompt_text(&turn.prompt))
    }
}

/// The sessions that an agent had in a folder, the newest first.
pub fn past_sessions(
    agent: &str,
    home: &Path,
    variable: &dyn Fn(&str) -> Option<PathBuf>,
    cwd: &Path,
) -> Result<Vec<PastSession>, ImportError> {
    // Folders, how deep files are in there, how their names begin and end.
    let (folder, depth, begin) = match agent {
        "claude" => {
            (variable("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude")).join("projects"), 2, "")
        }
        "codex" => {
            (variable("CODEX_HOME").unwrap_or_else(|| home.join(".codex")).join("sessions"), 4, "rollout-")
        }
        "gemini" => {
            let home = variable("GEMINI_CLI_HOME").unwrap_or_else(|| home.to_owned());
            (home.join(".gemini/tmp"), 3, "session-")
        }
        "opencode" => {
            return Err(ImportError(
                "`opencode` keeps its sessions in a database: opencode export SESSION > FILE".to_owned(),
            ));
        }
        other => return Err(ImportError(format!("sessions of `{other}` can not be taken over"))),
    };
    let mut found = Vec::new();
    walk(&folder, depth, begin, &mut found);
    found.sort_by_key(|past: &PastSession| std::cmp::Reverse(past.changed));
    Ok(found.into_iter().filter(|past| worked_in(&past.file, cwd)).take(MOST).collect())
}

fn walk(folder: &Path, depth: u32, begin: &str, found: &mut Vec<PastSession>) {
    // One that is not there holds none.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() && depth > 1 {
            walk(&path, depth - 1, begin, found);
        }
        let fits = path.extension().is_some_and(|end| end == "jsonl" || end == "json");
        if metadata.is_file() && depth == 1 && fits && name.to_string_lossy().starts_with(begin) {
            let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let millis = since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
            found.push(PastSession { file: path, changed: Timestamp::from_millis(millis) });
        }
    }
}

/// Whether a session was of this folder, as its file says or one beside it.
fn worked_in(file: &Path, cwd: &Path) -> bool {
    let beside = file.parent().and_then(Path::parent).map(|folder| folder.join(".project_root"));
    if let Some(root) = beside.and_then(|root| std::fs::read_to_string(root).ok()) {
        return cwd.starts_with(root.trim());
    }
    let Ok(opened) = std::fs::File::open(file) else { return false };
    let named = |line: std::io::Result<String>| {
        let value: serde_json::Value = serde_json::from_str(&line.ok()?).ok()?;
        let place = value.get("cwd").or_else(|| value.pointer("/payload/cwd"))?;
        place.as_str().map(|place| cwd == Path::new(place))
    };
    BufReader::new(opened.take(HEAD)).lines().find_map(named).unwrap_or(false)
}
