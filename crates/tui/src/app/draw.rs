//! What the screen shows.

use protocol::{PlanStatus, SessionView};

use super::App;
use super::completion::{Kind, Popup, SHOWN};
use super::pickers::Open;
use crate::composer::VimMode;
use crate::format::{duration, money};
use crate::paint::Caret;
use crate::text::{Ground, Ink, Line, Span, Style, fit, fit_start, plain_line};
use crate::transcript::Page;

/// A frame: rows that are finished, rows that live on, and where the caret stands among those.
pub(crate) struct Drawing {
    pub(crate) frozen: Vec<Line>,
    pub(crate) live: Vec<Line>,
    pub(crate) caret: Option<Caret>,
}

/// The composer grows to this share of the screen.
const COMPOSER_SHARE: usize = 3;
/// Below this the composer has no box.
const BOX_COLUMNS: usize = 24;
const BOX_ROWS: usize = 10;
const METER: usize = 10;
const QUEUE_SHOWN: usize = 4;

impl App {
    /// The first thing to see.
    pub(super) fn welcome(&mut self) {
        self.welcome_below(0);
    }

    /// The same, with blank rows between it and what stands above.
    pub(super) fn welcome_below(&mut self, gap: usize) {
        let place = self.place.clone();
        let branch = self.branch.clone();
        let model = self.current_model().map(|model| short_model(model.as_str()).to_owned());
        let right =
            [Some(self.current_agent().to_string()), model, Some(self.current_mode().as_str().to_owned())];
        let right = right.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        self.transcript.sheet(move |columns| {
            let mut left = Line::of(" covey", Style::new(Ink::Accent).bold());
            let room = columns.saturating_sub(crate::text::width(&right) + 14).max(12);
            left.push(format!("  {}", fit_start(&place, room)), Ink::Text);
            if let Some(branch) = &branch {
                left.push(format!(" · {branch}"), Ink::Faint);
            }
            let head = left.aligned(Line::of(format!("{right} "), Ink::Faint), columns.min(100));
            let hint = " ask anything · / commands · @ files · ! shell · ? keys";
            let mut rows = vec![Line::new(); gap];
            rows.extend([head, Line::of(fit(hint, columns), Ink::Faint)]);
            rows
        });
    }

    pub(super) fn welcome_back(&mut self, view: &SessionView) {
        if view.items.is_empty() {
            self.welcome();
        }
    }

    pub(super) fn composer_columns(&self) -> usize {
        let frame = if self.is_boxed() { 6 } else { 2 };
        self.size.columns.saturating_sub(frame).max(4)
    }

    fn is_boxed(&self) -> bool {
        self.size.columns >= BOX_COLUMNS && self.size.rows >= BOX_ROWS
    }

    pub(super) fn transcript_rows(&mut self) -> Vec<Line> {
        let waiting = self.waiting.clone();
        let page = Page { columns: self.size.columns, now: self.now, unfolded: true, waiting: &waiting };
        self.transcript.all(&page)
    }

    /// The frame for a terminal that keeps what is finished.
    pub(crate) fn draw(&mut self) -> Drawing {
        if let Some(Open::Transcript { .. }) = &self.open {
            return self.draw_transcript();
        }
        let (bottom, caret) = self.bottom();
        let waiting = std::mem::take(&mut self.waiting);
        let page =
            Page { columns: self.size.columns, now: self.now, unfolded: self.unfolded, waiting: &waiting };
        let drawing = if self.full {
            self.draw_full(&page, bottom, caret)
        } else {
            let room = self.size.rows.saturating_sub(bottom.len()).max(1);
            let (frozen, mut live) = self.transcript.frame(&page, room);
            let above = live.len();
            live.extend(bottom);
            // A window that the composer and a question fill alone has no room above them.
            let over = live.len().saturating_sub(self.size.rows.max(1));
            live.drain(..over);
            let caret = caret.map(|(row, column)| ((row + above).saturating_sub(over), column));
            Drawing { frozen, live, caret }
        };
        self.waiting = waiting;
        let columns = self.size.columns;
        let within = |rows: Vec<Line>| rows.into_iter().map(|row| row.cut(columns)).collect();
        Drawing { frozen: within(drawing.frozen), live: within(drawing.live), caret: drawing.caret }
    }

    /// The same after a resize: what the screen should show above the live rows.
    pub(crate) fn redraw(&mut self) -> (Vec<Line>, Drawing) {
        if self.full || matches!(self.open, Some(Open::Transcript { .. })) {
            return (vec![], self.draw());
        }
        let waiting = self.waiting.clone();
        let page =
            Page { columns: self.size.columns, now: self.now, unfolded: self.unfolded, waiting: &waiting };
        let mut recent = self.transcript.recent(&page, self.size.rows);
        let drawing = self.draw();
        // As many as there is room for: the rest is in the scrollback already.
        let room = self.size.rows.saturating_sub(drawing.live.len() + drawing.frozen.len());
        let over = recent.len().saturating_sub(room);
        recent.drain(..over);
        (recent, drawing)
    }

    fn draw_full(&mut self, page: &Page<'_>, bottom: Vec<Line>, caret: Option<Caret>) -> Drawing {
        let rows = self.transcript.all(page);
        let room = self.size.rows.saturating_sub(bottom.len());
        self.scrolled = self.scrolled.min(rows.len().saturating_sub(room));
        let end = rows.len() - self.scrolled;
        let start = end.saturating_sub(room);
        let mut live: Vec<Line> = rows[start..end].to_vec();
        live.resize(room, Line::new());
        if self.scrolled > 0
            && let Some(last) = live.last_mut()
        {
            *last = Line::of(format!("  ▾ {} rows below · pagedown", self.scrolled), Ink::Accent);
        }
        live.extend(bottom);
        live.truncate(self.size.rows);
        let caret = caret.map(|(row, column)| (row + room, column));
        Drawing { frozen: vec![], live, caret }
    }

    fn draw_transcript(&mut self) -> Drawing {
        let rows = self.transcript_rows();
        let page = self.size.rows.saturating_sub(1).max(1);
        let columns = self.size.columns;
        let Some(Open::Transcript { top, search, typing }) = &mut self.open else {
            return Drawing { frozen: vec![], live: vec![], caret: None };
        };
        *top = (*top).min(rows.len().saturating_sub(page));
        let words = search.clone().unwrap_or_default().to_lowercase();
        let mut live: Vec<Line> = rows.iter().skip(*top).take(page).cloned().collect();
        if !words.is_empty() {
            for line in live.iter_mut().filter(|line| line.text().to_lowercase().contains(&words)) {
                *line = std::mem::take(line).on(Ground::Match, columns);
            }
        }
        live.resize(page, Line::new());
        let at = if rows.len() <= page { 100 } else { *top * 100 / (rows.len() - page) };
        let left = match search {
            Some(words) => Line::of(format!(" /{words}"), Ink::Accent),
            None => Line::of(" ↑↓ pageup pagedown · / search · n next · q back", Ink::Faint),
        };
        let caret = typing.then(|| (page, left.width()));
        live.push(left.aligned(Line::of(format!("{at}% "), Ink::Faint), columns));
        Drawing { frozen: vec![], live, caret }
    }

    /// Everything below the conversation. In a window that is too low for it, its lower part.
    fn bottom(&mut self) -> (Vec<Line>, Option<Caret>) {
        let (mut rows, caret) = self.bottom_rows();
        let over = rows.len().saturating_sub(self.size.rows.max(1));
        rows.drain(..over);
        let caret = caret.and_then(|(row, column)| Some((row.checked_sub(over)?, column)));
        (rows, caret)
    }

    fn bottom_rows(&mut self) -> (Vec<Line>, Option<Caret>) {
        let (columns, height) = (self.size.columns, self.size.rows);
        let mut rows: Vec<Line> = Vec::new();
        let mut caret = None;
        if let Some(dialog) = &self.dialog {
            let call = dialog.request.call.clone();
            let wide = columns.min(crate::transcript::MEASURE);
            let most = height.saturating_sub(14).max(3);
            let preview = call
                .map(|call| self.transcript.call_preview(&call, wide.saturating_sub(6), most))
                .unwrap_or_default();
            let title = dialog.request.call.clone().and_then(|call| self.transcript.last_card(&call));
            let dialog = self.dialog.as_ref().expect("looked at above");
            let (dialog_rows, dialog_caret) = dialog.rows(title.as_deref(), preview, wide);
            if self.is_boxed() && title.as_deref() != Some(dialog.request.title.as_str()) {
                rows.push(Line::new());
            }
            caret = dialog_caret.map(|(row, column)| (row + rows.len(), column));
            rows.extend(dialog_rows);
            let keep = height.saturating_sub(6).max(4);
            if rows.len() > keep {
                // The choices are what has to be seen.
                let over = rows.len() - keep;
                rows.drain(1..=over);
                caret = caret.map(|(row, column)| (row.saturating_sub(over), column));
            }
        } else if self.is_busy() && self.plan_shown && self.open.is_none() {
            rows.extend(self.plan_rows());
        }
        if self.open.is_some() {
            rows.push(Line::new());
            let above = rows.len();
            let most = height.saturating_sub(above + 1).clamp(4, 24);
            if let Some(Open::Undo { preview, .. }) = &self.open {
                rows.extend(Self::undo_rows(preview, columns, most.saturating_sub(6)));
            }
            let above = rows.len();
            if let Some(picker) = self.open.as_mut().and_then(Open::picker) {
                let (picker_rows, at) = picker.rows(columns, most);
                rows.extend(picker_rows);
                caret = Some((above + at.0, at.1));
            }
            return (rows, caret);
        }
        for (text, _) in self.queue.iter().take(QUEUE_SHOWN) {
            let line = Line::of("  ⋯ ", Ink::Faint)
                .then(fit(&plain_line(text), columns.saturating_sub(20)), Ink::Faint);
            rows.push(line.aligned(Line::of("queued · ↑ edit ", Ink::Faint), columns));
        }
        if let Some(line) = self.suggestions() {
            rows.push(Line::new());
            rows.push(line);
        }
        if self.is_boxed() {
            rows.push(Line::new());
        }
        let at = self.composer_rows(&mut rows);
        if caret.is_none() {
            caret = at;
        }
        if let Some(popup) = &self.popup {
            rows.extend(popup_rows(popup, columns));
        }
        rows.push(self.status());
        (rows, caret)
    }

    /// What the agent offers to do next.
    fn suggestions(&self) -> Option<Line> {
        let offered =
            self.view.as_ref().map(|view| view.suggestions.as_slice()).filter(|all| !all.is_empty())?;
        if self.is_busy() || !self.composer.is_empty() {
            return None;
        }
        let mut line = Line::of("  ", Ink::Faint);
        for (number, action) in offered.iter().take(9).enumerate() {
            line.push(if number == 0 { "" } else { "  " }, Ink::Faint);
            line.push(format!("alt-{} ", number + 1), Style::new(Ink::Accent));
            line.push(fit(&plain_line(&action.label), 40), Ink::Soft);
        }
        Some(line.cut(self.size.columns))
    }

    fn plan_rows(&self) -> Vec<Line> {
        let plan = self.transcript.plan();
        if plan.entries.is_empty() || self.size.rows < 16 {
            return vec![];
        }
        let columns = self.size.columns.min(crate::transcript::MEASURE);
        let done = plan.entries.iter().filter(|entry| entry.status == PlanStatus::Completed).count();
        let mut head = Line::of("  plan", Style::new(Ink::Soft).bold());
        head.push(format!("  {done} of {}", plan.entries.len()), Ink::Faint);
        let mut rows = vec![Line::new(), head];
        // Around the step that is under way.
        let most = 6;
        let current =
            plan.entries.iter().position(|entry| entry.status != PlanStatus::Completed).unwrap_or(done);
        let from = current.saturating_sub(1).min(plan.entries.len().saturating_sub(most));
        for entry in plan.entries.iter().skip(from).take(most) {
            let (sign, ink, style) = match entry.status {
                PlanStatus::Completed => ("✓", Ink::Good, Style::new(Ink::Faint)),
                PlanStatus::InProgress => ("●", Ink::Accent, Style::default().bold()),
                PlanStatus::Pending => ("○", Ink::Faint, Style::new(Ink::Soft)),
            };
            rows.push(
                Line::of(format!("  {sign} "), ink).then(plain_line(&entry.content), style).cut(columns),
            );
        }
        rows
    }

    fn composer_rows(&self, rows: &mut Vec<Line>) -> Option<Caret> {
        let columns = self.size.columns;
        let inner = self.composer_columns();
        let laid = self.composer.layout(inner);
        let most = (self.size.rows / COMPOSER_SHARE).max(1);
        let (row, column) = laid.caret;
        let top = (row + 1).saturating_sub(most);
        let mut shown: Vec<Line> = laid.rows.into_iter().skip(top).take(most).collect();
        if self.composer.is_empty() {
            let placeholder = if self.dialog.is_some() {
                "answer above, or write what comes next"
            } else if self.is_busy() {
                "write what comes next"
            } else {
                "ask, or / for commands"
            };
            shown = vec![Line::of(fit(placeholder, inner), Ink::Faint)];
        }
        let shell = self.composer.buffer.text().starts_with('!');
        let (mark, ink) = if shell { ("! ", Ink::Warning) } else { ("› ", Ink::Accent) };
        let lead = |number: usize| {
            if number == 0 && top == 0 { Span::new(mark, ink) } else { Span::new("  ", Ink::Text) }
        };
        if !self.is_boxed() {
            let first = rows.len();
            rows.extend(shown.into_iter().enumerate().map(|(number, line)| line.led_by(&[lead(number)])));
            return Some((first + row - top, column + 2));
        }
        let border = if shell { Ink::Warning } else { Ink::Line };
        rows.push(Line::of(format!("╭{}╮", "─".repeat(columns - 2)), border));
        let first = rows.len();
        for (number, line) in shown.into_iter().enumerate() {
            let pad = inner.saturating_sub(line.width());
            let mut line = line.led_by(&[Span::new("│ ", border), lead(number)]);
            line.push(" ".repeat(pad), Style::default());
            line.push(" │", border);
            rows.push(line);
        }
        rows.push(self.lower_border(columns, border));
        Some((first + row - top, column + 4))
    }

    /// The composer's lower edge says who answers.
    fn lower_border(&self, columns: usize, ink: Ink) -> Line {
        let mode = self.current_mode().as_str();
        let mut label = Line::new();
        if let Some(vim) = &self.composer.vim {
            let name = if vim.mode == VimMode::Normal { " normal " } else { " insert " };
            label.push(name, Style::new(Ink::Accent));
            label.push("─", ink);
        }
        label.push(format!(" {}", self.current_agent()), Ink::Faint);
        if let Some(model) = self.current_model() {
            label.push(format!(" · {}", fit(short_model(model.as_str()), 28)), Ink::Faint);
        }
        if let Some(effort) = self.current_effort() {
            label.push(format!(" · ◌ {}", effort.as_str()), Ink::Faint);
        }
        let mode_ink = match mode {
            "full" => Ink::Danger,
            "auto" => Ink::Warning,
            _ => Ink::Soft,
        };
        label.push(" · ", Ink::Faint);
        label.push(mode, mode_ink);
        if let Some(branch) = self.branch.as_ref().filter(|_| columns >= 70) {
            label.push(format!(" · {}", fit(branch, 24)), Ink::Faint);
        }
        label.push(" ", Ink::Faint);
        let free = columns.saturating_sub(label.width() + 3);
        if free < 2 {
            return Line::of(format!("╰{}╯", "─".repeat(columns - 2)), ink);
        }
        let mut line = Line::of(format!("╰{}", "─".repeat(free)), ink);
        for span in label.spans {
            line.push(span.text, span.style);
        }
        line.push("─╯", ink);
        line
    }

    fn status(&self) -> Line {
        let columns = self.size.columns;
        let mut left = Line::of(" ", Ink::Faint);
        if let Some((text, _)) = &self.flash {
            left.push(plain_line(text), Ink::Warning);
            return left.cut(columns);
        }
        let view = self.view.as_ref();
        let started = view.and_then(|view| view.open.values().map(|turn| turn.started).min());
        match started {
            Some(_) if self.dialog.is_some() => {
                left.push("⏸ waits for you", Ink::Warning);
                left.push(" · esc stop", Ink::Faint);
            }
            Some(started) => {
                left.push("● ", Ink::Accent);
                left.push(
                    format!(
                        "{} · esc stop",
                        duration(self.now.millis_since(started) / 1_000 * 1_000).replace("0 ms", "0 s")
                    ),
                    Ink::Faint,
                );
                if let Some(speed) = self.speed {
                    left.push(format!(" · {speed} tok/s"), Ink::Faint);
                }
            }
            None => left.push("? keys · / commands · @ files", Ink::Faint),
        }
        let mut right = Line::new();
        if let Some(ledger) = view.and_then(|view| view.context.as_ref())
            && let Some(window) = ledger.window.filter(|window| *window > 0)
        {
            let percent = (ledger.total() * 100 / u64::from(window)).min(100) as usize;
            let full = (percent * METER).div_ceil(100);
            let ink = match percent {
                85.. => Ink::Danger,
                60.. => Ink::Warning,
                _ => Ink::Accent,
            };
            right.push("ctx ", Ink::Faint);
            if columns >= 60 {
                right.push("▓".repeat(full), ink);
                right.push("░".repeat(METER - full), Ink::Line);
                right.push(" ", Ink::Faint);
            }
            right.push(format!("{percent}%"), Ink::Faint);
        }
        if let Some(cost) = view.and_then(|view| view.usage.cost_usd).filter(|cost| *cost > 0.0) {
            right.push(format!("  {}", money(cost)), Ink::Faint);
        }
        let jobs = view.map_or(0, |view| view.open.len().saturating_sub(1)) + self.queue.len() + self.jobs();
        if jobs > 0 {
            right.push(format!("  {jobs} job{}", if jobs == 1 { "" } else { "s" }), Ink::Faint);
        }
        right.push(" ", Ink::Faint);
        left.aligned(right, columns)
    }
}

fn popup_rows(popup: &Popup, columns: usize) -> Vec<Line> {
    if popup.items.is_empty() {
        let text = if popup.kind == Kind::Mention && popup.word.len() > 1 { "   nothing fits" } else { "" };
        return if text.is_empty() { vec![] } else { vec![Line::of(text, Ink::Faint)] };
    }
    let top = (popup.selected + 1).saturating_sub(SHOWN);
    let shown = popup.items.iter().enumerate().skip(top).take(SHOWN);
    let left = popup
        .items
        .iter()
        .skip(top)
        .take(SHOWN)
        .map(|item| crate::text::width(&item.label) + crate::text::width(item.sign))
        .max()
        .unwrap_or(0);
    let most = if popup.kind != Kind::Command { columns.max(60) * 2 / 3 } else { 34 };
    let left = left.min(columns.saturating_sub(8)).min(most);
    shown
        .map(|(number, item)| {
            let here = number == popup.selected;
            let mut line = Line::of(if here { " › " } else { "   " }, Ink::Accent);
            line.push(item.sign, Ink::Faint);
            let left = left.saturating_sub(crate::text::width(item.sign));
            let label = match popup.kind {
                Kind::Mention | Kind::Folder => fit_start(&plain_line(&item.label), left),
                Kind::Command => fit(&plain_line(&item.label), left),
            };
            let pad = left.saturating_sub(crate::text::width(&label));
            line.push(label, if here { Style::new(Ink::Accent).bold() } else { Style::new(Ink::Text) });
            if !item.help.is_empty() {
                line.push(" ".repeat(pad + 2), Ink::Text);
                line.push(plain_line(&item.help), Ink::Faint);
            }
            let line = line.cut(columns);
            if here { line.on(Ground::Selected, columns) } else { line }
        })
        .collect()
}

/// `anthropic/claude-sonnet` is `claude-sonnet`.
fn short_model(model: &str) -> &str {
    model.split_once('/').map_or(model, |(_, name)| name)
}
