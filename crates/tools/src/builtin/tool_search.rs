//! `tool_search`: tools that the model was not told of at once.

use std::sync::Arc;

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde_json::{Value, json};

use crate::{DISPATCHER, Group, Tool, ToolContext, ToolError, ToolOutput};

/// A call of this is answered by whoever holds the toolbox, with [`describe_found`].
pub(crate) struct ToolSearch;

#[async_trait]
impl Tool for ToolSearch {
    fn name(&self) -> &str {
        "tool_search"
    }

    fn description(&self) -> &str {
        "Find more tools by what they do, such as `git blame` or `rename symbol`. Answers their schemas; \
         call them with `call_tool`."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20}
            },
            "required": ["query"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn is_core(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        format!("tool_search {}", input.get("query").and_then(Value::as_str).unwrap_or_default())
    }

    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    async fn call(&self, _input: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        Err(ToolError("tools can not be searched here".to_owned()))
    }
}

/// What `tool_search` answers: all that is needed to call the tools that were found.
pub fn describe_found(found: &[Arc<dyn Tool>]) -> String {
    if found.is_empty() {
        return "no tool fits; try other words, or do it with `shell`\n".to_owned();
    }
    let mut text = format!("Call one with `{DISPATCHER}`, its name and its arguments.\n");
    for tool in found {
        text.push_str(&format!("\n{}: {}\n{}\n", tool.name(), tool.description(), tool.schema()));
    }
    text
}
