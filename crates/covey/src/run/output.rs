//! What a run prints: the answer on stdout, everything else on stderr.

use std::collections::HashMap;

use project::Config;
use protocol::{
    ErrorInfo, Event, EventBody, MessageId, NoticeLevel, PermissionOutcome, ToolCall, ToolCallUpdate,
    ToolStatus,
};

use super::finish::Outcome;
use crate::exit::Failure;
use crate::terminal::{Stream, Style, duration, one_line, plain, print, tell, tell_error, tell_warning};

pub(super) enum Output {
    Json,
    Text(Text),
}

impl Output {
    pub(super) fn new(json: bool, config: &Config) -> Self {
        if json {
            return Self::Json;
        }
        let text = Text {
            live: Stream::Out.is_terminal(),
            progress: Stream::Err.is_terminal(),
            style: Style::of(Stream::Err),
            messages: HashMap::new(),
            at_line_start: true,
            calls: HashMap::new(),
        };
        if let Some(held) = config.held().first() {
            let more = config.held().len() - 1;
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            tell_warning(&format!(
                "`{}` in {}{more} is not applied: this project is not trusted",
                held.key, held.origin
            ));
        }
        Self::Text(text)
    }

    pub(super) fn event(&mut self, event: &Event) -> Result<(), Failure> {
        match self {
            Self::Json => {
                let mut line = event.to_json();
                line.push('\n');
                Ok(print(&line)?)
            }
            Self::Text(text) => text.event(event),
        }
    }

    /// Says something to a person who watches.
    pub(super) fn note(&mut self, note: &str) {
        if let Self::Text(text) = self
            && text.progress
        {
            tell(&format!("{}\n", text.style.faint(note)));
        }
    }

    pub(super) fn finish(&mut self, outcome: &Outcome) -> Result<(), Failure> {
        match self {
            Self::Json => {
                if let Some((message, hint)) = outcome.broke_off() {
                    tell_error(&plain(message), hint);
                }
                Ok(print(&format!("{}\n", outcome.result_line()))?)
            }
            Self::Text(text) => {
                // What was said and never finished was said all the same.
                let unfinished: Vec<String> = text.messages.drain().map(|(_, said)| said).collect();
                for said in unfinished {
                    text.print(&said)?;
                }
                text.end_line()?;
                if let Some((message, hint)) = outcome.broke_off() {
                    tell_error(&plain(message), hint);
                }
                if text.progress {
                    tell(&format!("{}\n", text.style.faint(&outcome.summary())));
                }
                Ok(())
            }
        }
    }
}

pub(super) struct Text {
    /// Somebody watches the answer: it is shown as it comes. Into a pipe it goes message by message.
    live: bool,
    /// Somebody watches the progress.
    progress: bool,
    style: Style,
    /// Messages that are not finished, with what they have so far.
    messages: HashMap<MessageId, String>,
    at_line_start: bool,
    calls: HashMap<protocol::CallId, String>,
}

impl Text {
    fn event(&mut self, event: &Event) -> Result<(), Failure> {
        match &event.body {
            EventBody::TurnStart(start) if start.parent.is_some() => self.whisper("  a sub-agent starts"),
            EventBody::ToolCall(call) if event.is_of_child() => {
                self.whisper(&format!("    {}", one_line(&call.title, 100)))
            }
            EventBody::Permission(_) | EventBody::Route(_) => self.own(event)?,
            // What sub-agents say is for their parent.
            _ if event.is_of_child() => {}
            _ => self.own(event)?,
        }
        Ok(())
    }

    fn own(&mut self, event: &Event) -> Result<(), Failure> {
        match &event.body {
            EventBody::AgentMessage(chunk) if self.live => {
                self.print(&plain(&chunk.text))?;
                self.messages.entry(chunk.message.clone()).or_default();
            }
            EventBody::AgentMessage(chunk) => {
                self.messages.entry(chunk.message.clone()).or_default().push_str(&chunk.text);
            }
            EventBody::MessageEnd(end) => {
                if let Some(text) = self.messages.remove(&end.message) {
                    self.print(&text)?;
                    self.end_line()?;
                }
            }
            EventBody::Retract(retract) => self.retract(&retract.message)?,
            EventBody::ToolCall(call) => self.call(call),
            EventBody::ToolCallUpdate(update) => self.call_update(update)?,
            EventBody::Permission(answer) if answer.outcome == PermissionOutcome::Denied => {
                let reason = answer.reason.as_deref().unwrap_or("denied");
                tell_warning(&format!("denied: {}", one_line(reason, 200)));
            }
            EventBody::Retry(retry) => {
                let wait = duration(retry.wait_ms);
                self.whisper(&format!("trying again in {wait}: {}", one_line(&retry.reason, 200)));
            }
            EventBody::Route(route) => {
                let reason = one_line(&route.reason, 200);
                tell_warning(&format!("`{}` answers instead of `{}`: {reason}", route.to, route.from));
            }
            EventBody::Compaction(compaction) => self.whisper(&compaction.describe()),
            EventBody::Hook(ran) => self.whisper(&plain(&ran.describe())),
            EventBody::Notice(notice) if notice.level == NoticeLevel::Warning => {
                tell_warning(&plain(&notice.text))
            }
            EventBody::Notice(notice) => self.whisper(&plain(&notice.text)),
            EventBody::Repair(repair) => {
                let kept =
                    repair.kept_in.as_deref().map(|file| format!(", and kept in {file}")).unwrap_or_default();
                tell_warning(&format!(
                    "the end of the log was damaged: {} bytes were cut off{kept}",
                    repair.bytes
                ));
            }
            EventBody::Error(error) => self.error(error)?,
            _ => {}
        }
        Ok(())
    }

    /// What was shown can not be taken back from a terminal, only disowned. Into a pipe it never went.
    fn retract(&mut self, message: &MessageId) -> Result<(), Failure> {
        if self.messages.remove(message).is_some() && self.live {
            self.end_line()?;
            tell_warning("the answer above was cut off; it comes again");
        }
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), Failure> {
        if let Some(last) = text.chars().last() {
            self.at_line_start = last == '\n';
            print(text)?;
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        if !self.at_line_start {
            self.at_line_start = true;
            print("\n")?;
        }
        Ok(())
    }

    fn call(&mut self, call: &ToolCall) {
        self.calls.insert(call.call.clone(), one_line(&call.title, 100));
    }

    fn call_update(&mut self, update: &ToolCallUpdate) -> Result<(), Failure> {
        let Some(status) = update.status.filter(|status| status.is_final()) else { return Ok(()) };
        let Some(title) = self.calls.remove(&update.call).filter(|_| self.progress) else { return Ok(()) };
        self.end_line()?;
        let sign = match status {
            ToolStatus::Failed => self.style.danger("✗"),
            _ => self.style.good("✓"),
        };
        let summary = update.summary.as_deref().map(|text| one_line(text, 60)).unwrap_or_default();
        tell(&format!("  {sign} {title}  {}\n", self.style.faint(&summary)));
        Ok(())
    }

    fn error(&mut self, error: &ErrorInfo) -> Result<(), Failure> {
        self.end_line()?;
        tell_error(&plain(&error.message), error.hint.as_deref().map(plain).as_deref());
        Ok(())
    }

    fn whisper(&self, text: &str) {
        if self.progress {
            tell(&format!("{}\n", self.style.faint(text)));
        }
    }
}
