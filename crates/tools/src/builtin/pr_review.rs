//! `pr_review`: looking at a pull request and answering it, through `gh`.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::github;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct PrReview;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    number: Option<u64>,
    action: Step,
    #[serde(default)]
    body: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Step {
    View,
    Diff,
    Checks,
    Comment,
    Approve,
    RequestChanges,
}

#[async_trait]
impl Tool for PrReview {
    fn name(&self) -> &str {
        "pr_review"
    }

    fn description(&self) -> &str {
        "Look at a pull request (view, diff, checks) or answer it (comment, approve, request_changes). Needs `gh`, logged in."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "number": {"type": "integer", "minimum": 1, "description": "that of the current branch if absent"},
                "action": {"enum": ["view", "diff", "checks", "comment", "approve", "request_changes"]},
                "body": {"type": "string", "description": "for comment, approve, request_changes"}
            },
            "required": ["action"],
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
        format!("pr_review {}", input.get("action").and_then(Value::as_str).unwrap_or_default())
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        github::action(Input::argv(input), context)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let argv = Input::argv(&input)?;
        let said = github::run(context, argv).await?;
        // What others wrote there is not for the model to obey.
        Ok(ToolOutput { is_foreign: true, ..ToolOutput::new(said, "done") })
    }
}

impl Input {
    fn argv(input: &Value) -> Result<Vec<String>, ToolError> {
        let Self { number, action, body } = Self::deserialize(input).map_err(ToolError::bad_input)?;
        let answers = !matches!(action, Step::View | Step::Diff | Step::Checks);
        if !answers && body.is_some() {
            return Err(ToolError("`body` goes with comment, approve and request_changes".to_owned()));
        }
        if body.is_none() && matches!(action, Step::Comment | Step::RequestChanges) {
            return Err(ToolError("`body` says what there is to say".to_owned()));
        }
        let mut argv = vec!["gh".to_owned(), "pr".to_owned()];
        argv.push(if answers { "review" } else { action.word() }.to_owned());
        argv.extend(number.map(|number| number.to_string()));
        argv.extend(answers.then(|| format!("--{}", action.word())));
        argv.extend(body.map(|body| format!("--body={body}")));
        argv.extend((action == Step::View).then(|| "--comments".to_owned()));
        Ok(argv)
    }
}

impl Step {
    fn word(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Diff => "diff",
            Self::Checks => "checks",
            Self::Comment => "comment",
            Self::Approve => "approve",
            Self::RequestChanges => "request-changes",
        }
    }
}
