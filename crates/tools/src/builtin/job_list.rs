//! `job_list`: the background jobs of this session.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde_json::{Value, json};

use crate::run::{Jobs, shorten};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct JobList;

#[async_trait]
impl Tool for JobList {
    fn name(&self) -> &str {
        "job_list"
    }

    fn description(&self) -> &str {
        "List the background jobs of this session: number, state, command."
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn group(&self) -> Group {
        Group::Run
    }

    fn title(&self, _input: &Value) -> String {
        "job_list".to_owned()
    }

    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    async fn call(&self, _input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let jobs = context.state.extra::<Jobs>().all();
        let running = jobs.iter().filter(|job| job.exit().is_none()).count();
        let mut text: String = jobs
            .iter()
            .map(|job| format!("{}  {}  {}\n", job.id, job.status(), shorten(&job.command)))
            .collect();
        if text.is_empty() {
            text.push_str("(no jobs)\n");
        }
        Ok(ToolOutput::new(text, format!("{running} running")))
    }
}
