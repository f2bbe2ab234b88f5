//! `job_input`: typing into a background job that has a terminal.

use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::shell::MAX_TYPED;
use crate::run::{JobId, Jobs, shorten};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

/// How long an answer may take to begin, and how long nothing comes when it is over.
const FIRST: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(150);

pub(crate) struct JobInput;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    job: JobId,
    text: String,
}

#[async_trait]
impl Tool for JobInput {
    fn name(&self) -> &str {
        "job_input"
    }

    fn description(&self) -> &str {
        "Type into a background job that was started with `pty`, and see what it prints then."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "job": {"type": "integer", "minimum": 1},
                "text": {"type": "string", "minLength": 1, "maxLength": MAX_TYPED, "description": "as typed: a line needs \\n, Ctrl-C is \\u0003, Ctrl-D \\u0004"}
            },
            "required": ["job", "text"],
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
        let text = input.get("text").and_then(Value::as_str).unwrap_or_default();
        let shown: String = text.trim_end().chars().map(crate::text::shown).collect();
        format!("type into job {}: {}", super::job_argument(input), shorten(&shown))
    }

    /// All that was typed so far, for what it is read by: a line that was begun before, or a folder that was entered,
    /// changes what the next one means.
    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let id = JobId::try_from(super::job_argument(input)).unwrap_or_default();
        // One that is not there is told by the call, which then does nothing.
        let Ok(job) = context.state.extra::<Jobs>().get(id) else { return vec![Action::Inward] };
        let text = input.get("text").and_then(Value::as_str).unwrap_or_default();
        vec![Action::Shell { command: job.read_by(text), cwd: job.cwd.clone() }]
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        Duration::from_secs(30)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        if input.text.len() > MAX_TYPED {
            return Err(ToolError(format!("that is more than {MAX_TYPED} bytes: type it in parts")));
        }
        let job = context.state.extra::<Jobs>().get(input.job)?;
        let news = job.news();
        tokio::pin!(news);
        news.as_mut().enable();
        job.type_in(&input.text).await?;
        // Whatever it answers comes in pieces; this is about when it pauses.
        let latest = Instant::now() + FIRST;
        let mut until = latest;
        while job.exit().is_none() && timeout_at(until, news.as_mut()).await.is_ok() {
            news.set(job.news());
            news.as_mut().enable();
            until = latest.min(Instant::now() + PAUSE);
        }
        let status = job.status();
        let mut text = job.fresh_output();
        if text.is_empty() {
            text.push_str("(nothing new yet)");
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{status}]\n"));
        Ok(ToolOutput::new(text, status))
    }
}
