//! `!COMMAND`: the person runs something themselves, and the agent sees what came out.

use models::{Block, ToolCall};
use protocol::{Content, Mode, TurnId};
use serde_json::json;

/// The tool that runs it.
const SHELL: &str = "shell";

/// The command, when the prompt is one: the first block begins with an exclamation mark.
pub(crate) fn typed(prompt: &[Content]) -> Option<&str> {
    let Some(Content::Text { text }) = prompt.first() else { return None };
    text.trim().strip_prefix('!').map(str::trim).filter(|command| !command.is_empty())
}

/// Who types a command has allowed it. The walls around it stay.
pub(super) const MODE: Mode = Mode::Full;

/// As a call of the turn, the way the conversation remembers it.
pub(super) fn call(command: &str, turn: &TurnId) -> ToolCall {
    let id = format!("{turn}_c1");
    ToolCall { id, name: SHELL.to_owned(), arguments: json!({ "command": command }) }
}

pub(super) fn block(call: &ToolCall) -> Block {
    Block::ToolCall(call.clone())
}
