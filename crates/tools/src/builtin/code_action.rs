//! `code_action`: what the server offers to do about a line.

use std::time::Duration;

use async_trait::async_trait;
use guard::{Action, Change};
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use super::path_argument;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput, language};

const WAIT: Duration = Duration::from_secs(5);
const MOST: usize = 30;

pub(crate) struct CodeAction;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    line: u32,
    #[serde(default)]
    apply: Option<String>,
}

#[async_trait]
impl Tool for CodeAction {
    fn name(&self) -> &str {
        "code_action"
    }

    fn description(&self) -> &str {
        "What the language server offers to fix or refactor in a line; with `apply`, the title of one, it is done."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "line": {"type": "integer", "minimum": 1},
                "apply": {"type": "string"}
            },
            "required": ["path", "line"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn group(&self) -> Group {
        Group::Language
    }

    fn title(&self, input: &Value) -> String {
        format!("code_action {}", path_argument(input))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let mut actions = language::actions(context, input.get("path").and_then(Value::as_str));
        if input.get("apply").is_some() {
            let paths = vec![context.host.roots().main().to_owned()];
            actions.push(Action::Write { change: Change::Edit, paths });
        }
        actions
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        language::PATIENCE
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let file = language::open(context, &input.path).await?;
        let start = language::position(&file.text, input.line, None)?;
        let end = json!({"line": input.line, "character": 0});
        let found = file.server.diagnostics(&file.uri, WAIT).await.unwrap_or_default();
        let about: Vec<Value> = found
            .iter()
            .filter(|one| one.line + 1 == u64::from(input.line))
            .map(|one| json!({"range": {"start": start, "end": end}, "message": one.message, "severity": one.severity}))
            .collect();
        let params = json!({"textDocument": {"uri": file.uri}, "range": {"start": start, "end": end},
            "context": {"diagnostics": about}});
        let answer = file.server.ask("textDocument/codeAction", params).await?;
        let offered: Vec<Value> = answer.as_array().cloned().unwrap_or_default();
        let title = |action: &Value| action["title"].as_str().unwrap_or_default().to_owned();
        let Some(wanted) = &input.apply else {
            let titles: Vec<String> = offered.iter().take(MOST).map(title).collect();
            let text = if titles.is_empty() {
                "nothing is offered there\n".to_owned()
            } else {
                titles.join("\n") + "\n"
            };
            return Ok(ToolOutput::new(text, format!("{} offered", offered.len())));
        };
        let Some(action) = offered.iter().find(|action| title(action) == *wanted) else {
            let titles: Vec<String> = offered.iter().take(MOST).map(title).collect();
            return Err(ToolError(format!(
                "`{wanted}` is not offered there; offered are: {}",
                titles.join("; ")
            )));
        };
        let action = match action.get("edit") {
            Some(_) => action.clone(),
            None => file.server.ask("codeAction/resolve", action.clone()).await?,
        };
        let files = language::paths_of(&action["edit"])?;
        if files.is_empty() {
            return Err(ToolError(
                "it would run something in the server instead of changing files".to_owned(),
            ));
        }
        let wrote = language::apply(context, files).await?;
        let names: Vec<&str> = wrote.iter().map(|file| file.path.as_str()).collect();
        let text = format!("changed {}\n", names.join(", "));
        let summary = format!("{} files", wrote.len());
        Ok(ToolOutput { wrote, ..ToolOutput::new(text, summary) })
    }
}
