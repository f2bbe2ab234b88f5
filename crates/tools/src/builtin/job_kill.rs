//! `job_kill`: the end of a background job.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::run::{JobId, Jobs, say_exit};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct JobKill;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    job: JobId,
}

#[async_trait]
impl Tool for JobKill {
    fn name(&self) -> &str {
        "job_kill"
    }

    fn description(&self) -> &str {
        "End a background job and everything that it started."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"job": {"type": "integer", "minimum": 1}},
            "required": ["job"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn group(&self) -> Group {
        Group::Run
    }

    fn title(&self, input: &Value) -> String {
        format!("job_kill {}", super::job_argument(input))
    }

    /// Only what this session itself started can be named.
    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let job = context.state.extra::<Jobs>().get(input.job)?;
        if let Some(exit) = job.exit() {
            let text = format!("job {} had already ended: {}\n", job.id, say_exit(exit));
            return Ok(ToolOutput::new(text, "had already ended"));
        }
        let exit = job.kill().await;
        let text = format!("job {} is no more: {}\n", job.id, say_exit(exit));
        Ok(ToolOutput::new(text, say_exit(exit)))
    }
}
