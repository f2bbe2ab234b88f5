//! Past sessions from other agents' own files. Nothing is changed there, and what could not be taken over is counted.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod past;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use protocol::{AgentId, Content, Timestamp, ToolKind, TurnId, Usage};
use serde_json::Value;

use crate::memory::Memory;

pub use past::{PastSession, past_sessions};

#[cfg(test)]
mod tests;

/// A session as another agent kept it.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    pub agent: AgentId,
    /// What the agent calls it, so that it can take it up again.
    pub session: String,
    /// Where it worked; not every file says.
    pub cwd: Option<PathBuf>,
    pub turns: Vec<ImportedTurn>,
    /// What is not among them, by kind.
    pub losses: BTreeMap<String, u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTurn {
    pub started: Timestamp,
    pub ended: Timestamp,
    pub prompt: Vec<Content>,
    pub steps: Vec<Step>,
}

/// What happened in a turn, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Thought(String),
    Said(String),
    Call { call: String, name: String, kind: ToolKind, input: Value },
    Result { call: String, failed: bool, text: String },
    Usage(Usage),
}

/// It is no session that is known here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ImportError(String);

/// Reads a session file of Claude Code, Codex, Gemini CLI or OpenCode, whichever it is.
pub fn import(text: &str) -> Result<Imported, ImportError> {
    if let Ok(whole @ Value::Object(_)) = serde_json::from_str::<Value>(text) {
        if whole.get("info").is_some() && whole.get("messages").is_some() {
            return opencode::read(&whole).finish();
        }
        if whole.get("messages").is_some() {
            return gemini::read(&[whole]).finish();
        }
    }
    let mut torn = 0;
    let lines: Vec<Value> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .filter_map(|line| serde_json::from_str(line).inspect_err(|_| torn += 1).ok())
        .collect();
    let has = |name: &str| lines.iter().take(20).any(|line| line.get(name).is_some());
    let mut gathered = match lines.first() {
        Some(first) if first["type"] == "session_meta" => codex::read(&lines),
        Some(first) if first.get("projectHash").is_some() => gemini::read(&lines),
        Some(_) if has("sessionId") && has("type") => claude::read(&lines),
        _ => {
            return Err(ImportError(
                "this is no session of Claude Code, Codex, Gemini CLI or OpenCode (as `opencode export` writes it)".to_owned(),
            ));
        }
    };
    gathered.lost_many("lines that are no JSON", torn);
    gathered.finish()
}

/// Has an agent take up its own session when one of ours goes on. `folder` is our session's.
pub fn remember(folder: &Path, agent: &AgentId, session: &str, turn: &TurnId) {
    Memory { session: session.to_owned(), turn: turn.clone(), forks: false }.write(folder, agent);
}

/// A session in the making.
struct Gathered {
    session: Imported,
}

impl Gathered {
    fn of(agent: &str) -> Self {
        let session = Imported {
            agent: AgentId::new(agent),
            session: String::new(),
            cwd: None,
            turns: vec![],
            losses: BTreeMap::new(),
        };
        Self { session }
    }

    fn prompt(&mut self, at: Option<Timestamp>, prompt: Vec<Content>) {
        let at = at.or(self.session.turns.last().map(|turn| turn.ended)).unwrap_or(Timestamp::from_millis(0));
        self.session.turns.push(ImportedTurn { started: at, ended: at, prompt, steps: vec![] });
    }

    fn step(&mut self, at: Option<Timestamp>, step: Step) {
        match self.session.turns.last_mut() {
            Some(turn) => {
                turn.ended = turn.ended.max(at.unwrap_or(turn.ended));
                turn.steps.push(step);
            }
            None => self.lost("messages before the first prompt"),
        }
    }

    fn said(&mut self, at: Option<Timestamp>, text: &str) {
        if !text.trim().is_empty() {
            self.step(at, Step::Said(text.to_owned()));
        }
    }

    fn thought(&mut self, at: Option<Timestamp>, text: &str) {
        if !text.trim().is_empty() {
            self.step(at, Step::Thought(text.to_owned()));
        }
    }

    fn call(&mut self, at: Option<Timestamp>, call: &str, name: &str, input: Value) {
        let step = Step::Call { call: call.to_owned(), name: name.to_owned(), kind: kind(name), input };
        self.step(at, step);
    }

    fn result(&mut self, at: Option<Timestamp>, call: &str, failed: bool, text: String) {
        self.step(at, Step::Result { call: call.to_owned(), failed, text });
    }

    fn lost(&mut self, what: &str) {
        self.lost_many(what, 1);
    }

    fn lost_many(&mut self, what: &str, count: u32) {
        if count > 0 {
            *self.session.losses.entry(what.to_owned()).or_default() += count;
        }
    }

    fn finish(self) -> Result<Imported, ImportError> {
        if self.session.turns.is_empty() {
            return Err(ImportError(format!("this session of `{}` has no prompt in it", self.session.agent)));
        }
        Ok(self.session)
    }
}

/// What a tool does, by the names that the four of them use.
fn kind(name: &str) -> ToolKind {
    let name = name.to_lowercase();
    match name.as_str() {
        "bash" | "shell" | "exec_command" | "local_shell" | "run_shell_command" | "write_stdin" => {
            ToolKind::Execute
        }
        "read" | "read_file" | "read_many_files" | "view_image" => ToolKind::Read,
        "write" | "edit" | "multiedit" | "notebookedit" | "apply_patch" | "write_file" | "replace"
        | "patch" => ToolKind::Edit,
        "grep" | "glob" | "list" | "ls" | "list_directory" | "search_file_content" | "codesearch" => {
            ToolKind::Search
        }
        "webfetch" | "websearch" | "web_fetch" | "web_search" | "google_web_search" => ToolKind::Fetch,
        _ => ToolKind::Other,
    }
}

fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(millis) => millis.as_i64().map(Timestamp::from_millis),
        _ => None,
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn count(value: &Value, name: &str) -> u64 {
    value.get(name).and_then(Value::as_u64).unwrap_or_default()
}
