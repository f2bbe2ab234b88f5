//! `load_skill`: the full text of a skill.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct LoadSkill;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    name: String,
}

#[async_trait]
impl Tool for LoadSkill {
    fn name(&self) -> &str {
        "load_skill"
    }

    fn description(&self) -> &str {
        "Load the full instructions of a skill from the list of skills."
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"name": {"type": "string", "minLength": 1}}, "required": ["name"], "additionalProperties": false})
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn title(&self, input: &Value) -> String {
        format!("load_skill {}", input.get("name").and_then(Value::as_str).unwrap_or_default())
    }

    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let text = context.desk.skill(&input.name).await?;
        Ok(ToolOutput::new(text, "loaded"))
    }
}
