//! `task`: work for a sub-agent.

use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Errand, Group, Tool, ToolContext, ToolError, ToolOutput};

/// The child has a budget of its own; this is only the last resort.
const LONGEST: Duration = Duration::from_secs(6 * 60 * 60);

pub(crate) struct Task;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    title: String,
    prompt: String,
    #[serde(default)]
    role: Option<String>,
}

#[async_trait]
impl Tool for Task {
    fn name(&self) -> &str {
        "task"
    }

    fn description(&self) -> &str {
        "Have a sub-agent do a self-contained piece of work and report. It sees only `prompt`: say everything it \
         needs. Several in one message run side by side."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "title": {"type": "string", "minLength": 1, "description": "three to six words"},
                "prompt": {"type": "string", "minLength": 1},
                "role": {"type": "string", "description": "such as explorer, worker, reviewer"}
            },
            "required": ["title", "prompt"],
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
        format!("task: {}", input.get("title").and_then(Value::as_str).unwrap_or_default())
    }

    /// What the sub-agent does, it is asked about itself.
    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        LONGEST
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Input { title, prompt, role } = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let errand = Errand { call: context.call.clone(), role, title, prompt };
        let report = context.desk.delegate(errand).await?;
        Ok(ToolOutput::new(report, "reported"))
    }
}
