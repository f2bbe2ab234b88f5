//! `hover`: what a name is: its type and its documentation.

use async_trait::async_trait;
use protocol::ToolKind;
use serde_json::Value;

use crate::language::{NameInLine, OpenFile, Question};
use crate::{ToolContext, ToolError, ToolOutput};

pub(crate) struct Hover;

#[async_trait]
impl Question for Hover {
    const NAME: &'static str = "hover";
    const DESCRIPTION: &'static str = "Type and documentation of the name in a line.";
    const KIND: ToolKind = ToolKind::Search;
    type Input = NameInLine;

    fn schema() -> Value {
        NameInLine::schema()
    }

    async fn ask(name: NameInLine, file: OpenFile, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let answer = file.server.ask("textDocument/hover", name.params(&file)?).await?;
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
