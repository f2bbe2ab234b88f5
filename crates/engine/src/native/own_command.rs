//! What the person has done themselves, without asking a model: `!COMMAND`, and a tool that was suggested.
//!
//! The agent sees what came out, as if it had made the call.

use models::{Block, ToolCall};
use protocol::{Content, Mode, TurnId};
use serde_json::{Value, json};

/// The tool that runs commands.
const SHELL: &str = "shell";
/// How front ends ask for a tool: its name and, as JSON, its input.
const RUN_TOOL: &str = "/run_tool";

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Own {
    /// Who types a command has allowed it. The walls around it stay.
    Command(String),
    /// Somebody else chose the tool and its input, so it is asked for like any other call.
    Tool { name: String, input: Value },
}

/// What the prompt is, when it is no question for a model: the first block begins with an exclamation mark, or names a
/// tool to run.
pub(crate) fn typed(prompt: &[Content]) -> Option<Own> {
    let Some(Content::Text { text }) = prompt.first() else { return None };
    let text = text.trim();
    if let Some(command) = text.strip_prefix('!') {
        let command = command.trim();
        return (!command.is_empty()).then(|| Own::Command(command.to_owned()));
    }
    let words = text.strip_prefix(RUN_TOOL)?.strip_prefix(char::is_whitespace)?.trim_start();
    let (name, input) = words.split_once(char::is_whitespace).unwrap_or((words, "{}"));
    let input = serde_json::from_str(input).ok().filter(Value::is_object)?;
    (!name.is_empty()).then(|| Own::Tool { name: name.to_owned(), input })
}

impl Own {
    /// The mode in which the gate looks at it.
    pub(super) fn mode(&self, of_turn: Mode) -> Mode {
        match self {
            Self::Command(_) => Mode::Full,
            Self::Tool { .. } => of_turn,
        }
    }

    /// As a call of the turn, the way the conversation remembers it.
    pub(super) fn into_call(self, turn: &TurnId) -> ToolCall {
        let id = format!("{turn}_c1");
        match self {
            Self::Command(command) => {
                ToolCall { id, name: SHELL.to_owned(), arguments: json!({ "command": command }) }
            }
            Self::Tool { name, input } => ToolCall { id, name, arguments: input },
        }
    }
}

pub(super) fn block(call: &ToolCall) -> Block {
    Block::ToolCall(call.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Own> {
        typed(&[Content::text(text)])
    }

    #[test]
    fn a_command_or_a_tool_is_told_from_a_question() {
        assert_eq!(of("! ls "), Some(Own::Command("ls".to_owned())));
        let read = Own::Tool { name: "read".to_owned(), input: json!({"path": "a b"}) };
        assert_eq!(of("/run_tool read {\"path\": \"a b\"}"), Some(read));
        assert_eq!(of("/run_tool verify"), Some(Own::Tool { name: "verify".to_owned(), input: json!({}) }));
        for question in
            ["!", "why?", "/run_tool", "/run_tool ", "/run_tools x", "/run_tool read [1]", "/run_tool read {"]
        {
            assert_eq!(of(question), None, "{question}");
        }
    }
}
