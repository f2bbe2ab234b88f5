//! The client as an agent sees it: questions to the person, files that may be open in an editor, terminals to watch.

use std::path::Path;

use protocol::PermissionOption;
use serde_json::{Value, json};

use crate::convert;
use crate::news::{News, SessionNews, ToolNews};
use crate::peer::{CallError, Peer};

/// One session, from the agent's side of the connection.
#[derive(Clone)]
pub struct Editor {
    peer: Peer,
    session: String,
}

/// What a terminal printed so far, and how its program ended if it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalOutput {
    pub output: String,
    /// The beginning is gone.
    pub truncated: bool,
    pub exit: Option<TerminalExit>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalExit {
    pub code: Option<i32>,
    pub signal: Option<String>,
}

/// A program for a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalProgram<'a> {
    pub command: &'a str,
    pub args: &'a [String],
    pub env: &'a [(String, String)],
    pub cwd: &'a Path,
    /// How much of its output is kept, in bytes.
    pub keep: u64,
}

impl Editor {
    pub fn new(peer: Peer, session: impl Into<String>) -> Self {
        Self { peer, session: session.into() }
    }

    pub async fn tell(&self, news: News) -> Result<(), CallError> {
        let params = SessionNews { session: self.session.clone(), news }.to_params();
        self.peer.notify("session/update", params).await
    }

    /// The option that was chosen; none when the turn was cancelled or the question was turned away.
    pub async fn ask(
        &self,
        tool: &ToolNews,
        options: &[PermissionOption],
    ) -> Result<Option<String>, CallError> {
        let options: Vec<Value> = options.iter().map(convert::option_value).collect();
        let params = json!({"sessionId": self.session, "toolCall": tool.to_value(), "options": options});
        let answer = self.peer.call("session/request_permission", params).await?;
        let outcome = &answer["outcome"];
        let selected = outcome["outcome"] == "selected";
        Ok(outcome["optionId"].as_str().filter(|_| selected).map(str::to_owned))
    }

    /// A whole file as the editor has it, saved or not.
    pub async fn read(&self, path: &Path) -> Result<String, CallError> {
        let params = json!({"sessionId": self.session, "path": path});
        let answer = self.peer.call("fs/read_text_file", params).await?;
        answer["content"].as_str().map(str::to_owned).ok_or_else(|| CallError::Unexpected {
            method: "fs/read_text_file".to_owned(),
            why: "it has no content".to_owned(),
        })
    }

    pub async fn write(&self, path: &Path, text: &str) -> Result<(), CallError> {
        let params = json!({"sessionId": self.session, "path": path, "content": text});
        self.peer.call("fs/write_text_file", params).await.map(drop)
    }

    pub async fn create_terminal(&self, program: &TerminalProgram<'_>) -> Result<String, CallError> {
        let env: Vec<Value> =
            program.env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        let params = json!({
            "sessionId": self.session, "command": program.command, "args": program.args, "env": env,
            "cwd": program.cwd, "outputByteLimit": program.keep,
        });
        let answer = self.peer.call("terminal/create", params).await?;
        answer["terminalId"].as_str().map(str::to_owned).ok_or_else(|| CallError::Unexpected {
            method: "terminal/create".to_owned(),
            why: "it names no terminal".to_owned(),
        })
    }

    pub async fn terminal_output(&self, terminal: &str) -> Result<TerminalOutput, CallError> {
        let answer = self.peer.call("terminal/output", self.of(terminal)).await?;
        let exit = answer.get("exitStatus").filter(|exit| exit.is_object()).map(exit);
        Ok(TerminalOutput {
            output: answer["output"].as_str().unwrap_or_default().to_owned(),
            truncated: answer["truncated"].as_bool().unwrap_or(false),
            exit,
        })
    }

    pub async fn terminal_exit(&self, terminal: &str) -> Result<TerminalExit, CallError> {
        let answer = self.peer.call("terminal/wait_for_exit", self.of(terminal)).await?;
        Ok(exit(&answer))
    }

    pub async fn kill_terminal(&self, terminal: &str) -> Result<(), CallError> {
        self.peer.call("terminal/kill", self.of(terminal)).await.map(drop)
    }

    /// Ends its program if that still runs. What it printed stays where it is shown.
    pub async fn release_terminal(&self, terminal: &str) -> Result<(), CallError> {
        self.peer.call("terminal/release", self.of(terminal)).await.map(drop)
    }

    fn of(&self, terminal: &str) -> Value {
        json!({"sessionId": self.session, "terminalId": terminal})
    }
}

fn exit(value: &Value) -> TerminalExit {
    TerminalExit {
        code: value["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok()),
        signal: value["signal"].as_str().map(str::to_owned),
    }
}
