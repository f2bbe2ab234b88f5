//! `symbols`: what a file defines, or what in the project has a name.

use async_trait::async_trait;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::language::{self, OpenFile, Question};
use crate::{ToolContext, ToolError, ToolOutput};

const DEEPEST: usize = 8;
const MAX_TEXT: usize = 64 * 1024;

pub(crate) struct Symbols;

#[derive(Deserialize)]
pub(crate) struct Input {
    #[serde(default)]
    query: Option<String>,
}

#[async_trait]
impl Question for Symbols {
    const NAME: &'static str = "symbols";
    const DESCRIPTION: &'static str = "What a file defines, in its order; with `query`, what in the whole project is called so (`path` says in which language).";
    const KIND: ToolKind = ToolKind::Search;
    type Input = Input;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "query": {"type": "string"}
            },
            "required": ["path"],
            "additionalProperties": false
        })
    }

    async fn ask(input: Input, file: OpenFile, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let mut text = String::new();
        let count = match &input.query {
            Some(query) => {
                let answer = file.server.ask("workspace/symbol", json!({"query": query})).await?;
                let list = answer.as_array().cloned().unwrap_or_default();
                let locations: Vec<Value> = list.iter().map(|one| one["location"].clone()).collect();
                let (lines, count) = language::places(context, &Value::Array(locations)).await;
                text.push_str(&lines);
                count
            }
            None => {
                let params = json!({"textDocument": {"uri": file.uri}});
                let answer = file.server.ask("textDocument/documentSymbol", params).await?;
                outline(answer.as_array().map(Vec::as_slice).unwrap_or_default(), 0, &mut text)
            }
        };
        if count == 0 {
            text.push_str("nothing\n");
        }
        Ok(ToolOutput::new(text, format!("{count} symbols")))
    }
}

/// One line a symbol, indented by what it is in.
fn outline(symbols: &[Value], depth: usize, out: &mut String) -> usize {
    let mut count = 0;
    for symbol in symbols {
        if depth > DEEPEST || out.len() > MAX_TEXT {
            break;
        }
        let range = symbol.get("selectionRange").unwrap_or(&symbol["location"]["range"]);
        let line = range["start"]["line"].as_u64().unwrap_or_default() + 1;
        let name = symbol["name"].as_str().unwrap_or_default();
        let detail = symbol["detail"].as_str().map(|detail| format!("  {detail}")).unwrap_or_default();
        out.push_str(&format!("{}{line}: {name}{}\n", "  ".repeat(depth), detail.replace('\n', " ")));
        let inner = symbol["children"].as_array().map(Vec::as_slice).unwrap_or_default();
        count += 1 + outline(inner, depth + 1, out);
    }
    count
}
