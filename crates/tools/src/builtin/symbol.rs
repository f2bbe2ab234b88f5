//! `symbol`: where a name is defined, and who uses it.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Group, Tool, ToolContext, ToolError, ToolOutput, code};

pub(crate) struct Symbol;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    name: String,
    #[serde(default)]
    limit: Option<usize>,
}

#[async_trait]
impl Tool for Symbol {
    fn name(&self) -> &str {
        "symbol"
    }

    fn description(&self) -> &str {
        "Where a function, method, class or type is defined, and the lines that use its name."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1, "description": "`apply` or `Cart.apply`"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100}
            },
            "required": ["name"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn group(&self) -> Group {
        Group::Search
    }

    fn title(&self, input: &Value) -> String {
        format!("symbol {}", input.get("name").and_then(Value::as_str).unwrap_or_default())
    }

    fn actions(&self, _input: &Value, context: &ToolContext) -> Vec<Action> {
        vec![Action::Read { paths: vec![context.host.roots().main().to_owned()] }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let limit = input.limit.unwrap_or(20).clamp(1, 100);
        code::ask(context, move |searcher| {
            let report = searcher.symbol(&input.name, limit);
            let mut text = String::new();
            let places = [("defined", &report.definitions), ("used (by name)", &report.callers)];
            for (title, places) in places {
                if !places.is_empty() {
                    text.push_str(&format!("{title}:\n"));
                }
                for place in places {
                    let inside =
                        place.symbol.as_deref().map(|name| format!("  [{name}]")).unwrap_or_default();
                    text.push_str(&format!(
                        "  {}:{}: {}{inside}\n",
                        place.file,
                        place.line,
                        place.text.trim()
                    ));
                }
            }
            if text.is_empty() {
                text.push_str("no such name is known; try code_search or grep\n");
            }
            let summary = format!("{} definitions, {} uses", report.definitions.len(), report.callers.len());
            Ok(ToolOutput::new(text, summary))
        })
        .await
    }
}
