//! `hover`: what a name is: its type and its documentation.

use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use super::path_argument;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput, language};

pub(crate) struct Hover;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    line: u32,
    #[serde(default)]
    symbol: Option<String>,
}

#[async_trait]
impl Tool for Hover {
    fn name(&self) -> &str {
        "hover"
    }

    fn description(&self) -> &str {
        "Type and documentation of the name in a line."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "line": {"type": "integer", "minimum": 1},
                "symbol": {"type": "string", "description": "the name in that line"}
            },
            "required": ["path", "line"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn group(&self) -> Group {
        Group::Language
    }

    fn title(&self, input: &Value) -> String {
        format!("hover {}", path_argument(input))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        language::actions(context, input.get("path").and_then(Value::as_str))
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        language::PATIENCE
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let file = language::open(context, &input.path).await?;
        let position = language::position(&file.text, input.line, input.symbol.as_deref())?;
        let params = json!({"textDocument": {"uri": file.uri}, "position": position});
        let answer = file.server.ask("textDocument/hover", params).await?;
        let text = said(&answer["contents"]);
        let text = if text.trim().is_empty() { "nothing is known about it".to_owned() } else { text };
        let summary =
            text.lines().find(|line| !line.starts_with("```") && !line.trim().is_empty()).unwrap_or_default();
        let summary = summary.chars().take(60).collect::<String>();
        Ok(ToolOutput::new(text, summary))
    }
}

/// The three ways in which servers say it.
fn said(contents: &Value) -> String {
    match contents {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(said).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => fields.get("value").and_then(Value::as_str).unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}
