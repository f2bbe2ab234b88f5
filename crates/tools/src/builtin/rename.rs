//! `rename`: another name for a thing, everywhere.

use async_trait::async_trait;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::language::{self, OpenFile, Question};
use crate::{ToolContext, ToolError, ToolOutput};

pub(crate) struct Rename;

#[derive(Deserialize)]
pub(crate) struct Input {
    line: u32,
    symbol: String,
    new_name: String,
}

#[async_trait]
impl Question for Rename {
    const NAME: &'static str = "rename";
    const DESCRIPTION: &'static str = "Rename the thing named in a line, everywhere it is used.";
    const KIND: ToolKind = ToolKind::Edit;
    type Input = Input;

    fn schema() -> Value {
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

    fn title(input: &Value) -> String {
        let new = input.get("new_name").and_then(Value::as_str).unwrap_or_default();
        format!("rename {} to {new}", input.get("symbol").and_then(Value::as_str).unwrap_or_default())
    }

    fn changes_files(_input: &Value) -> bool {
        true
    }

    async fn ask(input: Input, file: OpenFile, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let position = language::position(&file.text, input.line, Some(&input.symbol))?;
        let params =
            json!({"textDocument": {"uri": file.uri}, "position": position, "newName": input.new_name});
        let edit = file.server.ask("textDocument/rename", params).await?;
        let files = language::paths_of(&edit)?;
        if files.is_empty() {
            return Err(ToolError("the server found nothing to rename there".to_owned()));
        }
        Ok(language::changed("renamed in", language::apply(context, files).await?))
    }
}
