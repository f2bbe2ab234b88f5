//! `think`: room for a thought.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct Think;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    thought: String,
}

#[async_trait]
impl Tool for Think {
    fn name(&self) -> &str {
        "think"
    }

    fn description(&self) -> &str {
        "Think something through in writing. Nothing happens; nobody is bothered."
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"thought": {"type": "string", "minLength": 1}}, "required": ["thought"], "additionalProperties": false})
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Think
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn title(&self, _input: &Value) -> String {
        "think".to_owned()
    }

    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    async fn call(&self, input: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let words = input.thought.split_whitespace().count();
        Ok(ToolOutput::new("go on\n", format!("{words} words")))
    }
}
