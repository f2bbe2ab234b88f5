//! `git_blame`: who wrote which line, and when.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::git::{self, Hooks};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

/// If the model does not say where to end.
const DEFAULT_LINES: u32 = 200;

pub(crate) struct GitBlame;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    #[serde(default)]
    start: Option<u32>,
    #[serde(default)]
    end: Option<u32>,
    #[serde(default)]
    rev: Option<String>,
}

#[async_trait]
impl Tool for GitBlame {
    fn name(&self) -> &str {
        "git_blame"
    }

    fn description(&self) -> &str {
        "Who last changed each line of a file: commit, author, date, line."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "start": {"type": "integer", "minimum": 1, "description": "first line"},
                "end": {"type": "integer", "minimum": 1, "description": "last line"},
                "rev": {"type": "string"}
            },
            "required": ["path"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn group(&self) -> Group {
        Group::Git
    }

    fn title(&self, input: &Value) -> String {
        format!("git_blame {}", super::path_argument(input))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        vec![Action::Read { paths: vec![context.path(super::path_argument(input))] }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let first = input.start.unwrap_or(1).max(1);
        let lines = match input.end {
            Some(end) if end < first => return Err(ToolError(format!("line {end} is before line {first}"))),
            Some(end) => format!("-L{first},{end}"),
            None => format!("-L{first},+{DEFAULT_LINES}"),
        };
        let mut arguments = vec!["blame", "--no-textconv", "--date=short", "-w", &lines];
        if let Some(rev) = &input.rev {
            arguments.push(git::revision(rev)?);
        }
        arguments.extend(["--", &input.path]);
        let blame = git::run(context, &context.cwd, git::argv(Hooks::Off, &arguments)).await?;
        let count = blame.iter().filter(|byte| **byte == b'\n').count();
        Ok(git::answer(&blame, "(empty)", git::plural(count, "line")))
    }
}
