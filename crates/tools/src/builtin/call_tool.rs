//! `call_tool`: calls a tool that was found with `tool_search`.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde_json::{Value, json};

use crate::{DISPATCHER, Group, Tool, ToolContext, ToolError, ToolOutput};

/// The pipeline takes the call out of it and treats it as any other, so that it is checked, judged and shown as what it
/// is. Nothing of this is reached then.
pub(crate) struct CallTool;

#[async_trait]
impl Tool for CallTool {
    fn name(&self) -> &str {
        DISPATCHER
    }

    fn description(&self) -> &str {
        "Call a tool found with `tool_search`."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "arguments": {"type": "object", "description": "as its schema says"}
            },
            "required": ["name", "arguments"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn is_core(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        input
            .get("name")
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty())
            .unwrap_or(DISPATCHER)
            .to_owned()
    }

    /// Should it ever come here unopened, nobody knows what it is.
    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Foreign { read_only: false }]
    }

    async fn call(&self, _input: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        Err(ToolError("other tools can not be called here".to_owned()))
    }
}
