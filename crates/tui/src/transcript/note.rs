//! Prompts, and what is neither said nor done but has to be known.

use protocol::{
    AnsweredBy, Checkpoint, CheckpointAction, Content, ErrorInfo, HookRan, Notice, NoticeLevel,
    PermissionAnswer, PermissionOutcome, Retry, Route, Source, Stop, StopCause, Usage,
};

use super::Page;
use crate::format::{bytes, duration, money, tokens};
use crate::text::{Indent, Ink, Line, Span, Style, plain, wrap};

/// Rows of a prompt that are shown folded.
const PROMPT_ROWS: usize = 16;

#[derive(Debug)]
pub(crate) struct Prompt {
    text: String,
    attached: Vec<String>,
}

impl Prompt {
    pub(crate) fn new(content: &[Content]) -> Self {
        let mut text = String::new();
        let mut attached = Vec::new();
        for block in content {
            match block {
                Content::Text { text: more } => {
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(more);
                }
                Content::Image(image) => {
                    let size = match &image.source {
                        Source::Data(data) => data.len() as u64 / 4 * 3,
                        Source::Blob(blob) => blob.bytes,
                    };
                    let name = image.name.as_deref().unwrap_or("picture");
                    attached.push(format!("{name} · {} · {}", image.media_type, bytes(size)));
                }
                Content::Resource(resource) => attached.push(resource.uri.clone()),
                Content::Other(_) => attached.push("something this version does not know".to_owned()),
            }
        }
        Self { text, attached }
    }

    /// `!` is something for the shell, `/compact` a command.
    pub(super) fn begins(&self, with: &str) -> bool {
        self.text.starts_with(with)
    }

    pub(super) fn rows(&self, page: &Page<'_>) -> Vec<Line> {
        let style = Style::default().bold();
        let mut rows = Vec::new();
        for text in plain(self.text.trim_end()).lines() {
            let first =
                if rows.is_empty() { Span::new("› ", Ink::Accent) } else { Span::new("  ", Ink::Text) };
            let indent = Indent::new(first, Span::new("  ", Ink::Text));
            rows.extend(wrap(&[Span::new(text, style)], page.measure(), &indent));
        }
        if rows.len() > PROMPT_ROWS && !page.unfolded {
            let more = rows.len() - PROMPT_ROWS;
            rows.truncate(PROMPT_ROWS);
            rows.push(Line::of(format!("  … {more} more lines ▸"), Ink::Faint));
        }
        for attached in &self.attached {
            let first = if rows.is_empty() { "› " } else { "  " };
            rows.push(
                Line::of(first, Ink::Accent)
                    .then(format!("▢ {}", plain(attached)), Ink::Faint)
                    .cut(page.measure()),
            );
        }
        rows
    }
}

/// A line with a sign, and perhaps what to do about it.
#[derive(Debug)]
pub(crate) struct Note {
    sign: &'static str,
    ink: Ink,
    text: String,
    hint: Option<String>,
}

impl Note {
    fn new(sign: &'static str, ink: Ink, text: impl Into<String>) -> Self {
        Self { sign, ink, text: text.into(), hint: None }
    }

    pub(crate) fn whisper(text: impl Into<String>) -> Self {
        Self::new(" ", Ink::Faint, text)
    }

    pub(crate) fn warning(text: impl Into<String>) -> Self {
        Self::new("⚠", Ink::Warning, text)
    }

    pub(crate) fn failure(text: impl Into<String>, hint: Option<String>) -> Self {
        Self { hint, ..Self::new("✗", Ink::Danger, text) }
    }

    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self::new("✓", Ink::Good, text)
    }

    pub(super) fn error(error: &ErrorInfo) -> Self {
        Self::failure(error.message.clone(), error.hint.clone())
    }

    pub(super) fn notice(notice: &Notice) -> Self {
        match notice.level {
            NoticeLevel::Info => Self::whisper(notice.text.clone()),
            NoticeLevel::Warning => Self::warning(notice.text.clone()),
        }
    }

    pub(super) fn retry(retry: &Retry) -> Self {
        Self::new("↻", Ink::Faint, format!("trying again in {}: {}", duration(retry.wait_ms), retry.reason))
    }

    pub(super) fn route(route: &Route) -> Self {
        Self::warning(format!("{} answers instead of {}: {}", route.to, route.from, route.reason))
    }

    /// Refusals are told; what was allowed is seen by what happens.
    pub(super) fn permission(answer: &PermissionAnswer) -> Option<Self> {
        if answer.outcome != PermissionOutcome::Denied {
            return None;
        }
        let by = match answer.by {
            AnsweredBy::Person => "you said no",
            AnsweredBy::Policy | AnsweredBy::Nobody => "denied",
        };
        let reason = answer.reason.as_deref().filter(|reason| !reason.is_empty());
        let text = reason.map_or_else(|| by.to_owned(), |reason| format!("{by}: {reason}"));
        Some(Self::new("✗", Ink::Warning, text))
    }

    pub(super) fn checkpoint(checkpoint: &Checkpoint) -> Option<Self> {
        let (did, back) = match checkpoint.did {
            CheckpointAction::Taken => return None,
            CheckpointAction::Undone => ("taken back", "/redo"),
            CheckpointAction::Redone => ("changed again", "/undo"),
        };
        let what = match checkpoint.paths.as_slice() {
            [] => "nothing".to_owned(),
            [one] => one.clone(),
            [one, more @ ..] => format!("{one} and {} more", more.len()),
        };
        Some(Self::done(format!("{what} {did}; {back} turns it round")))
    }

    /// What a hook decided; one that only looked is not worth a line.
    pub(super) fn hook(ran: &HookRan) -> Option<Self> {
        let reason = ran.reason.as_deref()?;
        let word = ran.says.map(|word| format!("{word:?}").to_lowercase());
        Some(match word.as_deref() {
            Some("deny") => Self::new("✗", Ink::Warning, format!("the hook {} says no: {reason}", ran.hook)),
            Some(word) => Self::whisper(format!("the hook {} says {word}: {reason}", ran.hook)),
            None => Self::warning(format!("the hook {}: {reason}", ran.hook)),
        })
    }

    /// How a turn ended, where that is worth a line.
    pub(super) fn end(
        stop: Stop,
        cause: Option<StopCause>,
        duration_ms: u64,
        usage: Option<&Usage>,
    ) -> Option<Self> {
        let spent = usage.map(|usage| {
            let cost = usage.cost_usd.map(|cost| format!(" · {}", money(cost))).unwrap_or_default();
            format!(" · {} tokens{cost}", tokens(usage.total()))
        });
        let took = format!("{}{}", duration(duration_ms), spent.unwrap_or_default());
        match stop {
            Stop::Done | Stop::Denied if duration_ms < 2_000 => None,
            Stop::Done | Stop::Denied => Some(Self::whisper(took)),
            Stop::Cancelled if cause == Some(StopCause::Interrupted) => {
                Some(Self::warning(format!("cut off when the program ended · {took}")))
            }
            Stop::Cancelled => Some(Self::new("⏸", Ink::Faint, format!("stopped after {took}"))),
            Stop::Limit => {
                let what = match cause {
                    Some(StopCause::MaxSteps) => "the limit of steps is reached",
                    Some(StopCause::Timeout) => "the time is up",
                    Some(StopCause::Budget) => "the budget is spent",
                    Some(StopCause::Stalled) => "the agent went round in circles",
                    _ => "a limit is reached",
                };
                Some(Self::warning(format!("{what} · {took}")))
            }
            Stop::Error => None,
        }
    }

    pub(super) fn rows(&self, columns: usize) -> Vec<Line> {
        let text_ink = match self.ink {
            Ink::Faint | Ink::Good => Ink::Faint,
            _ => Ink::Text,
        };
        let mut rows = Vec::new();
        for text in plain(self.text.trim_end()).lines() {
            let sign = if rows.is_empty() { self.sign } else { " " };
            let indent = Indent::new(Span::new(format!("  {sign} "), self.ink), Span::new("    ", Ink::Text));
            rows.extend(wrap(&[Span::new(text, text_ink)], columns, &indent));
        }
        if let Some(hint) = &self.hint {
            let indent = Indent::new(Span::new("    hint: ", Ink::Accent), Span::new("    ", Ink::Text));
            rows.extend(wrap(&[Span::new(plain(hint).replace('\n', " "), Ink::Soft)], columns, &indent));
        }
        rows
    }
}
