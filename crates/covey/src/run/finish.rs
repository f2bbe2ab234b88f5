//! What a run came to: the result line for scripts, the last line for people, the exit code.

use protocol::{
    AgentId, CheckpointAction, Event, EventBody, MessageId, ModelRef, SessionId, Stop, StopCause, TurnEnd,
    Usage,
};
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::terminal::{count, duration, print};

/// Adds up what the events of a run say.
pub(super) struct Outcome {
    session: SessionId,
    /// The messages since the last tool call: the answer.
    answer: Vec<(MessageId, String)>,
    /// A tool was called since, so the next message begins a new answer.
    stale: bool,
    end: Option<TurnEnd>,
    usage: Usage,
    files_changed: Vec<String>,
    agent: Option<AgentId>,
    model: Option<ModelRef>,
    error: Option<(String, Option<String>)>,
    pub(super) cancelled: bool,
}

impl Outcome {
    pub(super) fn new(session: SessionId) -> Self {
        Self {
            session,
            answer: Vec::new(),
            stale: false,
            end: None,
            usage: Usage::default(),
            files_changed: Vec::new(),
            agent: None,
            model: None,
            error: None,
            cancelled: false,
        }
    }

    pub(super) fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::Checkpoint(checkpoint) if checkpoint.did == CheckpointAction::Taken => {
                for path in &checkpoint.paths {
                    // Other agents tell what they wrote by whole paths, and before this.
                    self.files_changed
                        .retain(|told| !told.ends_with(&format!("/{path}")) || !told.starts_with('/'));
                    if !self.files_changed.contains(path) {
                        self.files_changed.push(path.clone());
                    }
                }
            }
            EventBody::FileWrite(write) => {
                // Named as it was asked for; a checkpoint names it from the project's root.
                let same = |path: &String| write.path.ends_with(path.as_str()) || path.ends_with(&write.path);
                let known = self.files_changed.iter().any(same);
                if !known {
                    self.files_changed.push(write.path.clone());
                }
            }
            // What sub-agents say is their parent's business; what they use up and change is ours.
            EventBody::Usage(report) if event.is_of_child() => self.usage += report.usage,
            _ if event.is_of_child() => {}
            EventBody::TurnStart(start) if start.parent.is_none() => {
                self.agent = Some(start.agent.clone());
                self.model = start.model.clone();
            }
            EventBody::AgentMessage(chunk) => {
                if std::mem::take(&mut self.stale) {
                    self.answer.clear();
                }
                match self.answer.iter_mut().rev().find(|(message, _)| *message == chunk.message) {
                    Some((_, text)) => text.push_str(&chunk.text),
                    None => self.answer.push((chunk.message.clone(), chunk.text.clone())),
                }
            }
            EventBody::Retract(retract) => self.answer.retain(|(message, _)| *message != retract.message),
            EventBody::ToolCall(_) => self.stale = true,
            EventBody::Usage(report) => {
                self.usage += report.usage;
                if report.model.is_some() {
                    self.model = report.model.clone();
                }
            }
            EventBody::Error(error) => self.error = Some((error.message.clone(), error.hint.clone())),
            EventBody::TurnEnd(end) => self.end = Some(end.clone()),
            _ => {}
        }
    }

    /// The session can not go on.
    pub(super) fn failed(&mut self, error: &client::ClientError) {
        self.error = Some((error.message.clone(), error.hint.clone()));
    }

    /// What to tell of a run that did not come to its end.
    pub(super) fn broke_off(&self) -> Option<(&str, Option<&str>)> {
        let (message, hint) = self.error.as_ref().filter(|_| self.end.is_none())?;
        Some((message, hint.as_deref()))
    }

    fn stop(&self) -> Stop {
        // A stream that ended without the turn's end is a failure of ours.
        self.end.as_ref().map_or(Stop::Error, |end| end.stop)
    }

    pub(super) fn exit(&self) -> Exit {
        match self.stop() {
            Stop::Done => Exit::Done,
            Stop::Cancelled => Exit::Cancelled,
            Stop::Denied => Exit::Denied,
            Stop::Limit => Exit::Limit,
            Stop::Error if self.end.as_ref().and_then(|end| end.cause) == Some(StopCause::Unreachable) => {
                Exit::Unreachable
            }
            Stop::Error => Exit::Failed,
        }
    }

    pub(super) fn result_line(&self) -> Value {
        let text = self.answer.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n\n");
        let mut usage = self.usage;
        let cost_usd = usage.cost_usd.take();
        let mut line = json!({
            "type": "result",
            "session": self.session,
            "text": text,
            "stop": self.stop(),
            "usage": usage,
            "cost_usd": cost_usd,
            "duration_ms": self.end.as_ref().map_or(0, |end| end.duration_ms),
            "steps": self.end.as_ref().map_or(0, |end| end.steps),
            "files_changed": self.files_changed,
            "agent": self.agent,
            "model": self.model,
        });
        if let Some((message, hint)) = self.error.as_ref().filter(|_| self.stop() == Stop::Error) {
            line["error"] = json!({"message": message, "hint": hint});
        }
        line
    }

    /// `done · 2 steps · 1.8 s · 412 in, 38 out · $0.0004 · 20260125-…`
    pub(super) fn summary(&self) -> String {
        let mut parts = vec![self.stop().as_str().to_owned()];
        if let Some(end) = &self.end {
            parts.push(if end.steps == 1 { "1 step".to_owned() } else { format!("{} steps", end.steps) });
            parts.push(duration(end.duration_ms));
        }
        if self.usage.total() > 0 {
            parts.push(format!("{} in, {} out", count(self.usage.input), count(self.usage.output)));
        }
        if let Some(cost) = self.usage.cost_usd {
            parts.push(format!("${cost:.4}"));
        }
        parts.push(self.session.to_string());
        parts.join(" · ")
    }
}

/// The result line of a run that did not come to a turn.
pub(super) fn print_failure(failure: &Failure) {
    let stop = if failure.exit == Exit::Cancelled { Stop::Cancelled } else { Stop::Error };
    let line = json!({
        "type": "result",
        "session": null,
        "text": "",
        "stop": stop,
        "usage": Usage::default(),
        "cost_usd": null,
        "duration_ms": 0,
        "steps": 0,
        "files_changed": [],
        "agent": null,
        "model": null,
        "error": {"message": failure.message, "hint": failure.hint},
    });
    // The failure itself is told on stderr.
    let _ = print(&format!("{line}\n"));
}
