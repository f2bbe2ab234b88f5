//! `pr_create`: a pull request on GitHub, through `gh`.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::github;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct PrCreate;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    title: String,
    body: String,
    #[serde(default)]
    base: Option<String>,
    #[serde(default)]
    head: Option<String>,
    #[serde(default)]
    draft: bool,
}

#[async_trait]
impl Tool for PrCreate {
    fn name(&self) -> &str {
        "pr_create"
    }

    fn description(&self) -> &str {
        "Open a pull request on GitHub for the current branch, which must be pushed. Needs `gh`, logged in."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "title": {"type": "string", "minLength": 1},
                "body": {"type": "string", "description": "Markdown"},
                "base": {"type": "string", "description": "branch to merge into"},
                "head": {"type": "string", "description": "branch with the work; the current one if absent"},
                "draft": {"type": "boolean"}
            },
            "required": ["title", "body"],
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
        format!("pr_create {}", input.get("title").and_then(Value::as_str).unwrap_or_default())
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        github::action(Input::argv(input), context)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let argv = Input::argv(&input)?;
        let said = github::run(context, argv).await?;
        let address =
            said.lines().rev().find(|line| line.starts_with("https://")).unwrap_or("done").to_owned();
        Ok(ToolOutput::new(said, address))
    }
}

impl Input {
    fn argv(input: &Value) -> Result<Vec<String>, ToolError> {
        let Self { title, body, base, head, draft } =
            Self::deserialize(input).map_err(ToolError::bad_input)?;
        // One word with `=`, so that nothing of it is taken for an option.
        let mut argv = vec!["gh".to_owned(), "pr".to_owned(), "create".to_owned()];
        argv.extend([format!("--title={title}"), format!("--body={body}")]);
        argv.extend(base.map(|base| format!("--base={base}")));
        argv.extend(head.map(|head| format!("--head={head}")));
        argv.extend(draft.then(|| "--draft".to_owned()));
        Ok(argv)
    }
}
