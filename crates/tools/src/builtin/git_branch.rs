//! `git_branch`: the branches; making, renaming and deleting one.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::git::{self, Hooks};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const FORMAT: &str = "--format=%(HEAD) %(refname:short) %(objectname:short) %(committerdate:short) %(upstream:track) %(subject)";

pub(crate) struct GitBranch;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    create: Option<String>,
    #[serde(default)]
    from: Option<String>,
    #[serde(default)]
    rename: Option<String>,
    #[serde(default)]
    delete: Option<String>,
}

#[async_trait]
impl Tool for GitBranch {
    fn name(&self) -> &str {
        "git_branch"
    }

    fn description(&self) -> &str {
        "List branches, or create, rename or delete one. Does not switch: that is `git_checkout`."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "create": {"type": "string"},
                "from": {"type": "string", "description": "where the new branch starts; HEAD if absent"},
                "rename": {"type": "string", "description": "the current branch gets this name"},
                "delete": {"type": "string", "description": "only if it is merged"}
            },
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn group(&self) -> Group {
        Group::Git
    }

    fn title(&self, _input: &Value) -> String {
        "git_branch".to_owned()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        match Input::parse(input.clone()).and_then(|input| input.arguments()) {
            Ok(Some(arguments)) => {
                let argv = git::argv(Hooks::Off, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
                vec![Action::Program { argv, cwd: context.cwd.clone() }]
            }
            // Lists, or will be refused.
            _ => git::looks(input, context),
        }
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let arguments = Input::parse(input)?.arguments()?;
        let Some(arguments) = arguments else {
            let argv = git::argv(Hooks::Off, &["branch", "--list", "--all", FORMAT, "--sort=-committerdate"]);
            let list = git::run(context, &context.cwd, argv).await?;
            let count = list.iter().filter(|byte| **byte == b'\n').count();
            return Ok(git::answer(&list, "(no branches yet)", format!("{count} branches")));
        };
        let argv = git::argv(Hooks::Off, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let said = git::run(context, &context.cwd, argv).await?;
        Ok(git::answer(&said, "done", "done"))
    }
}

impl Input {
    fn parse(input: Value) -> Result<Self, ToolError> {
        serde_json::from_value(input).map_err(ToolError::bad_input)
    }

    /// None when it only lists.
    fn arguments(&self) -> Result<Option<Vec<String>>, ToolError> {
        let words: Vec<&str> = match (&self.create, &self.rename, &self.delete) {
            (None, None, None) => return Ok(None),
            (Some(name), None, None) => {
                let from = self.from.as_deref().map(git::revision).transpose()?;
                ["branch", git::revision(name)?].into_iter().chain(from).collect()
            }
            (None, Some(name), None) => vec!["branch", "-m", git::revision(name)?],
            (None, None, Some(name)) => vec!["branch", "-d", git::revision(name)?],
            _ => return Err(ToolError("one of `create`, `rename` and `delete` at a time".to_owned())),
        };
        Ok(Some(words.into_iter().map(str::to_owned).collect()))
    }
}
