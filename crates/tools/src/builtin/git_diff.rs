//! `git_diff`: what changed.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::git::{self, Hooks};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct GitDiff;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    staged: bool,
    #[serde(default)]
    range: Option<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    stat: bool,
    #[serde(default)]
    context_lines: Option<u32>,
    #[serde(default, rename = "cwd")]
    _cwd: Option<String>,
}

#[async_trait]
impl Tool for GitDiff {
    fn name(&self) -> &str {
        "git_diff"
    }

    fn description(&self) -> &str {
        "Show changes as a unified diff: of the working tree, of what is staged, or between revisions."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "staged": {"type": "boolean", "description": "what is staged instead of the working tree"},
                "range": {"type": "string", "description": "a revision, or `a..b`, `a...b`"},
                "paths": {"type": "array", "items": {"type": "string"}},
                "stat": {"type": "boolean", "description": "only names and counts"},
                "context_lines": {"type": "integer", "minimum": 0, "maximum": 100},
                "cwd": {"type": "string", "description": "folder in the repository"}
            },
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
        format!("git_diff {}", input.get("range").and_then(Value::as_str).unwrap_or_default())
            .trim_end()
            .to_owned()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        git::looks(input, context)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let cwd = git::folder(&input, context);
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let lines = format!("-U{}", input.context_lines.unwrap_or(3));
        // Neither the repository's own programs for showing files, nor colours.
        let mut arguments = vec!["diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M"];
        arguments.push(if input.stat { "--stat=120" } else { &lines });
        if input.staged {
            arguments.push("--cached");
        }
        if let Some(range) = &input.range {
            arguments.push(git::revision(range)?);
        }
        arguments.push("--");
        arguments.extend(input.paths.iter().map(String::as_str));
        let diff = git::run(context, &cwd, git::argv(Hooks::Off, &arguments)).await?;
        let files = diff.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"diff --git ")).count();
        let summary = if input.stat { "counts".to_owned() } else { git::plural(files, "file") };
        Ok(git::answer(&diff, "(no changes)", summary))
    }
}
