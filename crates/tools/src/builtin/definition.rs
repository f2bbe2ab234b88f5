//! `definition`: where what stands in a line is defined.

use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use super::path_argument;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput, language};

pub(crate) struct Definition;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    line: u32,
    #[serde(default)]
    symbol: Option<String>,
}

#[async_trait]
impl Tool for Definition {
    fn name(&self) -> &str {
        "definition"
    }

    fn description(&self) -> &str {
        "Where the name in a line is defined, as the compiler sees it."
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
        format!("definition {}", path_argument(input))
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
        let answer = file.server.ask("textDocument/definition", params).await?;
        let (text, count) = language::places(context, &answer, 100).await;
        let text = if count == 0 { "no definition is known\n".to_owned() } else { text };
        Ok(ToolOutput::new(text, format!("{count} places")))
    }
}
