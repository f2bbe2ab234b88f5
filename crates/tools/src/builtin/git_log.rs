//! `git_log`: who did what, newest first.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::git::{self, Hooks};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct GitLog;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    range: Option<String>,
    #[serde(default)]
    limit: Option<u32>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    grep: Option<String>,
    #[serde(default)]
    search: Option<String>,
    #[serde(default)]
    author: Option<String>,
    #[serde(default, rename = "cwd")]
    _cwd: Option<String>,
}

#[async_trait]
impl Tool for GitLog {
    fn name(&self) -> &str {
        "git_log"
    }

    fn description(&self) -> &str {
        "List commits, newest first: hash, date, author, subject."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "range": {"type": "string", "description": "where to start, or `a..b`; HEAD if absent"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "20 if absent"},
                "paths": {"type": "array", "items": {"type": "string"}},
                "grep": {"type": "string", "description": "regex over messages"},
                "search": {"type": "string", "description": "text that the commit added or took away"},
                "author": {"type": "string"},
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

    fn title(&self, _input: &Value) -> String {
        "git_log".to_owned()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        git::looks(input, context)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let cwd = git::folder(&input, context);
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let limit = format!("-n{}", input.limit.unwrap_or(20).clamp(1, 200));
        let filters: Vec<String> = [
            input.grep.map(|regex| format!("--grep={regex}")),
            input.search.map(|text| format!("-S{text}")),
            input.author.map(|author| format!("--author={author}")),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut arguments = vec!["log", "--no-color", "--date=short", "--format=%h %ad %an: %s%d", &limit];
        arguments.extend(filters.iter().map(String::as_str));
        if let Some(range) = &input.range {
            arguments.push(git::revision(range)?);
        }
        arguments.push("--");
        arguments.extend(input.paths.iter().map(String::as_str));
        let log = git::run(context, &cwd, git::argv(Hooks::Off, &arguments)).await?;
        let commits = log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        Ok(git::answer(&log, "(no commits)", git::plural(commits, "commit")))
    }
}
