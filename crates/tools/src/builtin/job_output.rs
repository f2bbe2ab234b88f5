//! `job_output`: what a background job printed.

use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::run::{JobId, Jobs};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct JobOutput;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    job: JobId,
    #[serde(default)]
    all: bool,
}

#[async_trait]
impl Tool for JobOutput {
    fn name(&self) -> &str {
        "job_output"
    }

    fn description(&self) -> &str {
        "What a background job printed since the last look, and whether it still runs."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "job": {"type": "integer", "minimum": 1},
                "all": {"type": "boolean", "description": "from the beginning"}
            },
            "required": ["job"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn group(&self) -> Group {
        Group::Run
    }

    fn title(&self, input: &Value) -> String {
        format!("job_output {}", super::job_argument(input))
    }

    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        Duration::from_secs(10)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let job = context.state.extra::<Jobs>().get(input.job)?;
        // The state first: what is printed after it was taken is there the next time.
        let status = job.status();
        let fresh = job.fresh_output();
        let mut text = if input.all { job.whole_output() } else { fresh };
        if text.is_empty() {
            text.push_str(if input.all { "(no output)" } else { "(nothing new)" });
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{status}]\n"));
        Ok(ToolOutput::new(text, status))
    }
}
