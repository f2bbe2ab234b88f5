//! A tool call: a line, and below it what is worth seeing at once.

use protocol::{Content, Stop, Timestamp, ToolCall, ToolCallUpdate, ToolContent, ToolKind, ToolStatus};
use serde_json::Value;

use super::Page;
use crate::diff;
use crate::format::{bytes, duration};
use crate::text::{Ink, Line, Span, Style, fit, plain, plain_line, width};

/// Rows of a diff, of running output and of an error that are shown folded.
const DIFF_ROWS: usize = 14;
const OUTPUT_ROWS: usize = 4;
const ERROR_ROWS: usize = 4;
/// Rows of the person's own commands.
const OWN_ROWS: usize = 30;
/// Diffs are this wide at most, and use more than the text's width from here on.
const WIDEST: usize = 220;
const DIFF_ABREAST: usize = 140;
/// No card is longer than this, even open.
const MAX_ROWS: usize = 400;

#[derive(Debug)]
pub(crate) struct ToolCard {
    pub(crate) call: ToolCall,
    result: Option<ToolCallUpdate>,
    began: Option<Timestamp>,
    stopped: bool,
    /// The person ran it, so its output is shown.
    own: bool,
}

impl ToolCard {
    pub(super) fn new(call: ToolCall, result: Option<ToolCallUpdate>, began: Option<Timestamp>) -> Self {
        Self { call, result, began, stopped: false, own: false }
    }

    pub(super) fn update(&mut self, update: &ToolCallUpdate) {
        if let Some(status) = update.status {
            self.call.status = status;
        }
        if let Some(title) = &update.title {
            self.call.title.clone_from(title);
        }
        let result = self.result.get_or_insert_with(|| ToolCallUpdate::of(update.call.clone()));
        if update.summary.is_some() {
            result.summary.clone_from(&update.summary);
        }
        if update.content.is_some() {
            result.content.clone_from(&update.content);
        }
        result.duration_ms = update.duration_ms.or(result.duration_ms);
    }

    pub(super) fn close(&mut self, stop: Stop) {
        if !self.call.status.is_final() {
            self.stopped = true;
            self.call.status = if stop == Stop::Done { ToolStatus::Completed } else { ToolStatus::Failed };
        }
    }

    pub(super) fn is_final(&self) -> bool {
        self.call.status.is_final()
    }

    fn content(&self) -> &[ToolContent] {
        self.result.as_ref().and_then(|result| result.content.as_deref()).unwrap_or_default()
    }

    fn text(&self) -> String {
        let parts = self.content().iter().filter_map(|part| match part {
            ToolContent::Content { content: Content::Text { text } } => Some(text.as_str()),
            _ => None,
        });
        parts.collect::<Vec<_>>().join("\n")
    }

    pub(super) fn run_by_person(mut self, own: bool) -> Self {
        self.own = own;
        self
    }

    pub(super) fn rows(&self, page: &Page<'_>) -> Vec<Line> {
        let columns = page.measure();
        let waiting = page.waiting.contains(&self.call.call);
        let (sign, ink) = match self.call.status {
            _ if waiting => ("⏸", Ink::Warning),
            _ if self.stopped => ("⏸", Ink::Faint),
            ToolStatus::Completed => ("✓", Ink::Good),
            ToolStatus::Failed => ("✗", Ink::Danger),
            ToolStatus::Pending | ToolStatus::InProgress => ("●", Ink::Accent),
        };
        let mut head = Line::of(format!("  {sign} "), ink);
        let mut right = self.margin(page, waiting);
        let title = plain_line(&self.call.title);
        let room = columns.saturating_sub(head.width());
        if width(&title) + right.width() + 2 > room && width(&title) + 2 > room / 2 {
            // What it does to what says more than what came of it.
            right = Line::new();
        }
        let title = fit(&title, room.saturating_sub(if right.is_empty() { 0 } else { right.width() + 2 }));
        // The first word says what it does, the rest to what.
        match title.split_once(' ') {
            Some((verb, what)) => {
                head.push(verb, Style::new(Ink::Soft));
                head.push(format!(" {what}"), Ink::Text);
            }
            None => head.push(title, Ink::Soft),
        }
        let mut rows = vec![head.aligned(right, columns)];
        rows.extend(self.body(page, columns));
        rows
    }

    /// What came out, how long it took.
    fn margin(&self, page: &Page<'_>, waiting: bool) -> Line {
        let mut line = Line::new();
        let diffs = self.diffs().map(|(_, old, new)| diff::tally(old, new));
        if let Some(tally) =
            diffs.reduce(|a, b| diff::Tally { added: a.added + b.added, removed: a.removed + b.removed })
        {
            line.spans.extend(tally.line().spans);
        } else if let Some(summary) = self.result.as_ref().and_then(|result| result.summary.as_deref()) {
            line.push(fit(&plain_line(summary), 40), Ink::Faint);
        }
        let took = match (self.call.status.is_final(), self.began) {
            (true, _) => self.result.as_ref().and_then(|result| result.duration_ms).filter(|ms| *ms >= 10),
            (false, Some(began)) if !waiting => Some(page.now.millis_since(began) / 1000 * 1000),
            _ => None,
        };
        if let Some(took) = took.filter(|took| *took > 0) {
            let dot = if line.is_empty() { "" } else { " · " };
            line.push(format!("{dot}{}", duration(took)), Ink::Faint);
        }
        let folded =
            self.call.status.is_final() && !page.unfolded && !self.content().is_empty() && !line.is_empty();
        if folded {
            line.push(" ▸", Ink::Faint);
        }
        line
    }

    fn diffs(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.content().iter().filter_map(|part| match part {
            ToolContent::Diff { path, old, new } => {
                Some((path.as_str(), old.as_deref().unwrap_or_default(), new.as_str()))
            }
            _ => None,
        })
    }

    fn body(&self, page: &Page<'_>, columns: usize) -> Vec<Line> {
        let mut rows = Vec::new();
        let inner = columns.saturating_sub(6).max(20);
        // Text is read best in short lines; code has the width that there is.
        let wide = page.columns.min(WIDEST).saturating_sub(6).max(20);
        let limit = if page.unfolded { MAX_ROWS } else { DIFF_ROWS };
        if page.unfolded {
            rows.extend(command(&self.call, inner));
        }
        let several = self.diffs().count() > 1;
        for (path, old, new) in self.diffs() {
            if several {
                rows.push(Line::of(plain_line(path), Ink::Faint));
            }
            rows.extend(diff::rows(path, old, new, if wide > DIFF_ABREAST { wide } else { inner }, limit));
        }
        for part in self.content() {
            if let ToolContent::Content { content: Content::Image(image) } = part {
                let size = match &image.source {
                    protocol::Source::Data(data) => data.len() as u64 / 4 * 3,
                    protocol::Source::Blob(blob) => blob.bytes,
                };
                let name = image.name.as_deref().unwrap_or("picture");
                rows.push(Line::of(
                    format!("▢ {} · {} · {}", plain_line(name), image.media_type, bytes(size)),
                    Ink::Faint,
                ));
            }
        }
        let running = !self.call.status.is_final();
        let has_diff = self.diffs().next().is_some();
        let shown = match self.call.status {
            _ if page.unfolded => MAX_ROWS,
            _ if self.own => OWN_ROWS,
            ToolStatus::Failed if !self.stopped => ERROR_ROWS,
            _ if running => OUTPUT_ROWS,
            _ => 0,
        };
        if shown > 0 && !(has_diff && self.call.status == ToolStatus::Completed) {
            rows.extend(self.output(shown, inner, running || self.own));
        }
        rows.into_iter().map(|row| row.led_by(&[Span::new("      ", Ink::Text)]).cut(page.columns)).collect()
    }

    /// What a call that has not run yet would change, unless the card shows it already.
    pub(super) fn preview(&self, columns: usize, limit: usize) -> Vec<Line> {
        let shown = self.diffs().next().is_some();
        if shown { vec![] } else { preview(&self.call, columns, limit) }
    }

    /// The end of the text for what runs, its beginning for what is over.
    fn output(&self, limit: usize, columns: usize, newest: bool) -> Vec<Line> {
        let text = self.text();
        let text = plain(text.trim_end());
        let lines: Vec<&str> = text.lines().collect();
        let ink = if self.call.status == ToolStatus::Failed && !self.own { Ink::Danger } else { Ink::Faint };
        let line = |text: &&str| Line::of(fit(text, columns), ink);
        if lines.len() <= limit {
            return lines.iter().map(line).collect();
        }
        let more = Line::of(format!("… {} more lines", lines.len() - limit), Ink::Faint);
        if newest {
            std::iter::once(more).chain(lines[lines.len() - limit..].iter().map(line)).collect()
        } else {
            lines[..limit].iter().map(line).chain([more]).collect()
        }
    }
}

/// What a call would change, as far as its arguments say.
fn preview(call: &ToolCall, columns: usize, limit: usize) -> Vec<Line> {
    let limit = limit.min(DIFF_ROWS);
    let text = |key: &str| call.input.get(key).and_then(Value::as_str);
    let path = text("path").or_else(|| call.locations.first().map(|at| at.path.as_str())).unwrap_or_default();
    let pairs =
        [("old", "new"), ("old_string", "new_string"), ("old_text", "new_text"), ("oldText", "newText")];
    let edit = pairs.iter().find_map(|(old, new)| Some((text(old)?, text(new)?)));
    let whole = text("content").or_else(|| text("text")).filter(|_| call.kind == ToolKind::Edit);
    if let Some((old, new)) = edit {
        return diff::excerpt(path, old, new, columns, limit);
    }
    if let Some(new) = whole {
        return diff::excerpt(path, "", new, columns, limit);
    }
    if let Some(edits) = call.input.get("edits").and_then(Value::as_array) {
        let rows = edits.iter().filter_map(|edit| {
            let text = |key: &str| edit.get(key).and_then(Value::as_str);
            let (old, new) = pairs.iter().find_map(|(old, new)| Some((text(old)?, text(new)?)))?;
            Some(diff::excerpt(text("path").unwrap_or(path), old, new, columns, limit))
        });
        return rows.flatten().take(limit * 2).collect();
    }
    let mut rows = command(call, columns);
    if rows.len() > limit {
        let more = rows.len() - limit;
        rows.truncate(limit);
        rows.push(Line::of(format!("⚠ {more} more rows; ctrl-o shows all of it"), Ink::Warning));
    }
    rows
}

/// The whole of a command that its title has no room for.
fn command(call: &ToolCall, columns: usize) -> Vec<Line> {
    let command = call.input.get("command").and_then(Value::as_str);
    let long = command.filter(|command| command.contains('\n') || width(command) + 8 > columns);
    let lines = long.map(|command| plain(command).into_owned()).unwrap_or_default();
    lines.lines().flat_map(|line| diff::hard_wrap(vec![Span::new(line, Ink::Code)], columns)).collect()
}
