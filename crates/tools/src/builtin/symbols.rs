//! `symbols`: what a file defines, or what in the project has a name.

use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use super::path_argument;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput, language};

const MOST: usize = 100;
const DEEPEST: usize = 8;
const MAX_TEXT: usize = 64 * 1024;

pub(crate) struct Symbols;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    #[serde(default)]
    query: Option<String>,
}

#[async_trait]
impl Tool for Symbols {
    fn name(&self) -> &str {
        "symbols"
    }

    fn description(&self) -> &str {
        "What a file defines, in its order; with `query`, what in the whole project is called so (`path` says in which language)."
    }

    fn schema(&self) -> Value {
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

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn group(&self) -> Group {
        Group::Language
    }

    fn title(&self, input: &Value) -> String {
        format!("symbols {}", path_argument(input))
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
        let mut text = String::new();
        let count = match &input.query {
            Some(query) => {
                let answer = file.server.ask("workspace/symbol", json!({"query": query})).await?;
                let list = answer.as_array().cloned().unwrap_or_default();
                let locations: Vec<Value> = list.iter().map(|one| one["location"].clone()).collect();
                let (lines, count) = language::places(context, &Value::Array(locations), MOST).await;
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
