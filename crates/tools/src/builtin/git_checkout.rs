//! `git_checkout`: another branch, or files as they were.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::git::{self, Hooks};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct GitCheckout;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    rev: Option<String>,
    #[serde(default)]
    create: bool,
    #[serde(default)]
    paths: Vec<String>,
}

#[async_trait]
impl Tool for GitCheckout {
    fn name(&self) -> &str {
        "git_checkout"
    }

    fn description(&self) -> &str {
        "Switch to a branch or revision, or with `paths` put files back as they are in the index or in `rev`."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "rev": {"type": "string", "description": "branch, tag or commit"},
                "create": {"type": "boolean", "description": "make the branch first"},
                "paths": {"type": "array", "items": {"type": "string"}, "description": "changes in them are lost"}
            },
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn group(&self) -> Group {
        Group::Git
    }

    fn title(&self, input: &Value) -> String {
        format!("git_checkout {}", input.get("rev").and_then(Value::as_str).unwrap_or_default())
            .trim_end()
            .to_owned()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let argv = Input::parse(input.clone()).and_then(|input| input.argv());
        let argv = argv.unwrap_or_else(|_| git::argv(Hooks::Off, &["checkout"]));
        vec![Action::Program { argv, cwd: context.cwd.clone() }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input = Input::parse(input)?;
        let said = git::run(context, &context.cwd, input.argv()?).await?;
        let summary = input.rev.unwrap_or_else(|| git::plural(input.paths.len(), "file"));
        Ok(git::answer(&said, "done", summary))
    }
}

impl Input {
    fn parse(input: Value) -> Result<Self, ToolError> {
        serde_json::from_value(input).map_err(ToolError::bad_input)
    }

    fn argv(&self) -> Result<Vec<String>, ToolError> {
        let rev = self.rev.as_deref().map(git::revision).transpose()?;
        let mut arguments = vec!["checkout", "--no-progress"];
        match (rev, self.paths.is_empty(), self.create) {
            (Some(rev), true, true) => arguments.extend(["-b", rev]),
            // Without the last word a file of that name would be put back instead.
            (Some(rev), true, false) => arguments.extend([rev, "--"]),
            (rev, false, false) => {
                arguments.extend(rev);
                arguments.push("--");
                arguments.extend(self.paths.iter().map(String::as_str));
            }
            (None, true, _) => return Err(ToolError("say which `rev` or which `paths`".to_owned())),
            (_, false, true) => return Err(ToolError("`create` goes with `rev` alone".to_owned())),
        }
        Ok(git::argv(Hooks::Off, &arguments))
    }
}
