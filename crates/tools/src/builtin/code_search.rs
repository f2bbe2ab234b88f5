//! `code_search`: code by what it does, not by its letters.

use async_trait::async_trait;
use guard::Action;
use index::SearchOptions;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::report::one_line;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput, code};

/// Lines of each piece that the model is shown.
const SHOWN_LINES: usize = 12;

pub(crate) struct CodeSearch;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    query: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
}

#[async_trait]
impl Tool for CodeSearch {
    fn name(&self) -> &str {
        "code_search"
    }

    fn description(&self) -> &str {
        "Find code by meaning: a question, an error, names. For exact text use grep."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1},
                "path": {"type": "string", "description": "only below: `src/`, `*.rs`"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 30}
            },
            "required": ["query"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn group(&self) -> Group {
        Group::Search
    }

    fn is_core(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        format!("code_search {}", input.get("query").and_then(Value::as_str).unwrap_or_default())
    }

    fn actions(&self, _input: &Value, context: &ToolContext) -> Vec<Action> {
        vec![Action::Read { paths: vec![context.host.roots().main().to_owned()] }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let options = SearchOptions {
            limit: input.limit.unwrap_or(8).clamp(1, 30),
            paths: input.path.into_iter().collect(),
            ..SearchOptions::default()
        };
        code::ask(context, move |searcher| {
            let found = searcher.search(&input.query, &options)?;
            let mut text = String::new();
            for hit in &found.hits {
                let symbol = hit.symbol.as_deref().map(|name| format!("  {name}")).unwrap_or_default();
                let (file, start, end) = (one_line(&hit.file), hit.start_line, hit.end_line);
                text.push_str(&format!("{file}:{start}-{end}{symbol}\n"));
                let whole = searcher.text(&hit.file).unwrap_or_default();
                let first = hit.start_line.max(1) as usize;
                let length = (hit.end_line.saturating_sub(hit.start_line) as usize + 1).min(SHOWN_LINES);
                for (at, line) in whole.lines().enumerate().skip(first - 1).take(length) {
                    let line: String = line.chars().take(200).collect();
                    text.push_str(&format!("  {}\t{line}\n", at + 1));
                }
            }
            if found.hits.is_empty() {
                text.push_str("nothing fits; try other words, or grep\n");
            }
            let count = found.hits.len();
            Ok(ToolOutput::new(
                text,
                if count == 1 { "1 result".to_owned() } else { format!("{count} results") },
            ))
        })
        .await
    }
}
