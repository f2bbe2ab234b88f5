//! `git_commit`: what is staged, or what is named.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::git::{self, Hooks};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct GitCommit;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    message: String,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    all: bool,
    #[serde(default)]
    amend: bool,
    #[serde(default)]
    hooks: bool,
}

#[async_trait]
impl Tool for GitCommit {
    fn name(&self) -> &str {
        "git_commit"
    }

    fn description(&self) -> &str {
        "Commit what is staged; with `paths` exactly those files as they are now, with `all` every tracked change."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "message": {"type": "string", "minLength": 1},
                "paths": {"type": "array", "items": {"type": "string"}, "description": "new files too"},
                "all": {"type": "boolean"},
                "amend": {"type": "boolean", "description": "replace the last commit"},
                "hooks": {"type": "boolean", "description": "run the repository's hooks"}
            },
            "required": ["message"],
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
        format!(
            "git_commit {}",
            input
                .get("message")
                .and_then(Value::as_str)
                .and_then(|text| text.lines().next())
                .unwrap_or_default()
        )
    }

    /// Should the arguments make no sense, the commit will be refused; what it would be is still named.
    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        match Input::parse(input.clone()).and_then(|input| input.steps()) {
            Ok(steps) => {
                let action = |argv| Action::Program { argv, cwd: context.cwd.clone() };
                steps.into_iter().map(action).collect()
            }
            Err(_) => {
                vec![Action::Program { argv: git::argv(Hooks::On, &["commit"]), cwd: context.cwd.clone() }]
            }
        }
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let steps = Input::parse(input)?.steps()?;
        for argv in steps {
            git::run(context, &context.cwd, argv).await?;
        }
        let argv = git::argv(Hooks::Off, &["log", "-1", "--no-color", "--stat=120", "--format=%h %s"]);
        let made = git::run(context, &context.cwd, argv).await?;
        let hash = String::from_utf8_lossy(&made).split(' ').next().unwrap_or_default().to_owned();
        Ok(git::answer(&made, "done", hash))
    }
}

impl Input {
    fn parse(input: Value) -> Result<Self, ToolError> {
        serde_json::from_value(input).map_err(ToolError::bad_input)
    }

    /// The command lines, in order. What else is staged stays staged when paths are named.
    fn steps(&self) -> Result<Vec<Vec<String>>, ToolError> {
        if self.message.trim().is_empty() {
            return Err(ToolError("a commit needs a message".to_owned()));
        }
        if self.all && !self.paths.is_empty() {
            return Err(ToolError("either `paths` or `all`".to_owned()));
        }
        let hooks = if self.hooks { Hooks::On } else { Hooks::Off };
        let paths = self.paths.iter().map(String::as_str);
        let mut steps = Vec::new();
        if !self.paths.is_empty() {
            // A file that git does not know yet can not be committed by its name alone.
            steps.push(git::argv(hooks, &["add", "--"].into_iter().chain(paths.clone()).collect::<Vec<_>>()));
        }
        let mut arguments = vec!["commit", "--quiet", "--cleanup=whitespace", "-m", &self.message];
        if !self.hooks {
            arguments.push("--no-verify");
        }
        if self.all {
            arguments.push("--all");
        }
        if self.amend {
            arguments.push("--amend");
        }
        if !self.paths.is_empty() {
            arguments.extend(["--only", "--"]);
            arguments.extend(paths);
        }
        steps.push(git::argv(hooks, &arguments));
        Ok(steps)
    }
}
