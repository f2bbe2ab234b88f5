//! The pipeline that every tool call goes through: announce, ask, run, bound, report.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agents::{Answer, Question, Reporter, Services};
use futures::{FutureExt, StreamExt};
use models::ToolResult;
use protocol::{
    CallId, FileRead, OptionKind, PermissionOption, ToolCallUpdate, ToolContent, ToolKind, ToolStatus, Update,
};
use serde_json::Value;
use tools::{Need, Tool, ToolContext, ToolError, ToolOutput, Toolbox};

/// Calls of one answer that run at the same time.
const AT_ONCE: usize = 8;
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// No result is longer than this, whatever a tool does.
const MAX_RESULT: usize = 64 * 1024;

/// What calls need to run.
pub(super) struct Pipeline {
    pub(super) tools: Toolbox,
    pub(super) context: ToolContext,
    pub(super) services: Arc<dyn Services>,
    pub(super) reporter: Reporter,
}

impl Pipeline {
    /// Runs the calls of one answer. Each gets a result, in the order of the calls.
    pub(super) async fn run(&self, calls: &[models::ToolCall]) -> Vec<ToolResult> {
        for call in calls {
            self.announce(call).await;
        }
        // All of today's tools only look, so they may run side by side.
        let runs: Vec<_> = calls.iter().map(|call| self.one(call)).collect();
        futures::stream::iter(runs).buffered(AT_ONCE).collect().await
    }

    async fn announce(&self, call: &models::ToolCall) {
        let tool = self.tools.get(&call.name);
        self.reporter
            .send(Update::ToolCall(protocol::ToolCall {
                call: CallId::new(&call.id),
                name: call.name.clone(),
                title: tool.map_or_else(|| call.name.clone(), |tool| tool.title(&call.arguments)),
                kind: tool.map_or(ToolKind::Other, |tool| tool.kind()),
                status: ToolStatus::InProgress,
                input: call.arguments.clone(),
                locations: tool.map(|tool| tool.locations(&call.arguments)).unwrap_or_default(),
            }))
            .await;
    }

    async fn one(&self, call: &models::ToolCall) -> ToolResult {
        let id = CallId::new(&call.id);
        let started = Instant::now();
        let outcome = self.attempt(call, &id).await;
        let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (status, text, summary) = match outcome {
            Ok(output) => {
                for read in output.read {
                    let read = FileRead { call: Some(id.clone()), ..read };
                    self.reporter.send(Update::FileRead(read)).await;
                }
                (ToolStatus::Completed, bound(output.text), output.summary)
            }
            Err(ToolError(text)) => (ToolStatus::Failed, bound(text), "failed".to_owned()),
        };
        let update = ToolCallUpdate {
            status: Some(status),
            summary: Some(summary),
            content: Some(vec![ToolContent::text(&text)]),
            duration_ms: Some(duration_ms),
            ..ToolCallUpdate::of(id)
        };
        self.reporter.send(Update::ToolCallUpdate(update)).await;
        match status {
            ToolStatus::Failed => ToolResult::error(&call.id, text),
            _ => ToolResult::text(&call.id, text),
        }
    }

    async fn attempt(&self, call: &models::ToolCall, id: &CallId) -> Result<ToolOutput, ToolError> {
        let Some(tool) = self.tools.get(&call.name) else {
            let known: Vec<&str> = self.tools.iter().map(|tool| tool.name()).collect();
            return Err(ToolError(format!(
                "there is no tool `{}`; there are: {}",
                call.name,
                known.join(", ")
            )));
        };
        if let Value::String(text) = &call.arguments {
            let error = serde_json::from_str::<Value>(text).err();
            let why = error.map_or_else(|| "not an object".to_owned(), |error| error.to_string());
            return Err(ToolError(format!(
                "the arguments are not JSON ({why}); send them again as one object"
            )));
        }
        let context = self.permit(tool, call, id).await?;
        let arguments = call.arguments.clone();
        // A panic in a tool ends that call alone.
        let run = AssertUnwindSafe(tool.call(arguments, &context)).catch_unwind();
        match tokio::time::timeout(TIME_LIMIT, run).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(ToolError(format!("`{}` crashed; this is a bug in Covey", call.name))),
            Err(_) => Err(ToolError(format!("took longer than {} s and was stopped", TIME_LIMIT.as_secs()))),
        }
    }

    /// Where the call may run: as it is, or a step further with the person's word.
    async fn permit(
        &self,
        tool: &Arc<dyn Tool>,
        call: &models::ToolCall,
        id: &CallId,
    ) -> Result<ToolContext, ToolError> {
        let Need::Permission { reasons, path } = tool.need(&call.arguments, &self.context) else {
            return Ok(self.context.clone());
        };
        let option = |id: &str, name: &str, kind| PermissionOption { id: id.into(), name: name.into(), kind };
        let question = Question {
            call: Some(id.clone()),
            title: tool.title(&call.arguments),
            reasons,
            options: vec![
                option("allow", "Allow once", OptionKind::AllowOnce),
                option("deny", "No", OptionKind::RejectOnce),
            ],
        };
        match self.services.ask(question).await {
            Answer::Allowed { .. } => {
                let host = self.context.host.granting(&path).map_err(|error| ToolError(error.to_string()))?;
                Ok(ToolContext { host, cwd: self.context.cwd.clone() })
            }
            Answer::Denied { reason } => Err(ToolError(format!("denied: {reason}"))),
            Answer::Cancelled => Err(ToolError("cancelled by the person before it ran".to_owned())),
        }
    }
}

/// Keeps the head of a text that is too long, cut at a character.
fn bound(mut text: String) -> String {
    if text.len() > MAX_RESULT {
        let cut = text.floor_char_boundary(MAX_RESULT);
        text.truncate(cut);
        text.push_str("\n… cut here, the output is too long\n");
    }
    text
}
