//! `rename`: another name for a thing, everywhere.

use std::time::Duration;

use async_trait::async_trait;
use guard::{Action, Change};
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Group, Tool, ToolContext, ToolError, ToolOutput, language};

pub(crate) struct Rename;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    line: u32,
    symbol: String,
    new_name: String,
}

#[async_trait]
impl Tool for Rename {
    fn name(&self) -> &str {
        "rename"
    }

    fn description(&self) -> &str {
        "Rename the thing named in a line, everywhere it is used."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "line": {"type": "integer", "minimum": 1},
                "symbol": {"type": "string", "description": "its name now, in that line"},
                "new_name": {"type": "string", "minLength": 1}
            },
            "required": ["path", "line", "symbol", "new_name"],
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
        let new = input.get("new_name").and_then(Value::as_str).unwrap_or_default();
        format!("rename {} to {new}", input.get("symbol").and_then(Value::as_str).unwrap_or_default())
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let mut actions = language::actions(context, input.get("path").and_then(Value::as_str));
        // Which files it touches is known only when the server has answered.
        actions.push(Action::Write {
            change: Change::Edit,
            paths: vec![context.host.roots().main().to_owned()],
        });
        actions
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        language::PATIENCE
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let file = language::open(context, &input.path).await?;
        let position = language::position(&file.text, input.line, Some(&input.symbol))?;
        let params =
            json!({"textDocument": {"uri": file.uri}, "position": position, "newName": input.new_name});
        let edit = file.server.ask("textDocument/rename", params).await?;
        let files = language::paths_of(&edit)?;
        if files.is_empty() {
            return Err(ToolError("the server found nothing to rename there".to_owned()));
        }
        let wrote = language::apply(context, files).await?;
        let names: Vec<&str> = wrote.iter().map(|file| file.path.as_str()).collect();
        let text = format!("renamed in {}\n", names.join(", "));
        let summary = format!("{} files", wrote.len());
        Ok(ToolOutput { wrote, ..ToolOutput::new(text, summary) })
    }
}
