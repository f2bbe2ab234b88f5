//! `git_show`: one commit, or a file as it was.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::git::{self, Hooks};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct GitShow;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    rev: Option<String>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    stat: bool,
    #[serde(default, rename = "cwd")]
    _cwd: Option<String>,
}

#[async_trait]
impl Tool for GitShow {
    fn name(&self) -> &str {
        "git_show"
    }

    fn description(&self) -> &str {
        "Show a commit with its changes, or with `path` a file as it was in that revision."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "rev": {"type": "string", "description": "HEAD if absent"},
                "path": {"type": "string", "description": "from the root of the repository"},
                "stat": {"type": "boolean", "description": "only names and counts"},
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
        format!("git_show {}", input.get("rev").and_then(Value::as_str).unwrap_or("HEAD"))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        git::looks(input, context)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let cwd = git::folder(&input, context);
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let rev = git::revision(input.rev.as_deref().unwrap_or("HEAD"))?;
        let mut arguments = vec!["show", "--no-color", "--no-ext-diff", "--no-textconv"];
        let file = input.path.as_ref().map(|path| format!("{rev}:{path}"));
        match &file {
            Some(file) => arguments.push(file),
            None => {
                arguments.extend([
                    "--format=fuller",
                    "-M",
                    if input.stat { "--stat=120" } else { "--patch" },
                ]);
                arguments.extend([rev, "--"]);
            }
        }
        let shown = git::run(context, &cwd, git::argv(Hooks::Off, &arguments)).await?;
        Ok(git::answer(&shown, "(empty)", file.unwrap_or_else(|| rev.to_owned())))
    }
}
