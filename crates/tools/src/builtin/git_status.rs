//! `git_status`: branch, and what is staged, changed, untracked.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde_json::{Value, json};

use crate::git::{self, Hooks};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct GitStatus;

#[async_trait]
impl Tool for GitStatus {
    fn name(&self) -> &str {
        "git_status"
    }

    fn description(&self) -> &str {
        "Branch, upstream, and which files are staged, changed, untracked or in conflict."
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"cwd": {"type": "string", "description": "folder in the repository"}}, "additionalProperties": false})
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn group(&self) -> Group {
        Group::Git
    }

    fn title(&self, _input: &Value) -> String {
        "git_status".to_owned()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        git::looks(input, context)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let cwd = git::folder(&input, context);
        let argv = git::argv(
            Hooks::Off,
            &["status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--renames"],
        );
        let (text, summary) = git::describe_status(&git::run(context, &cwd, argv).await?);
        Ok(ToolOutput::new(text, summary))
    }
}
