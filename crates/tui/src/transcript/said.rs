//! What an agent says and thinks, while it is being said.

use protocol::{MessageId, Timestamp};

use super::Page;
use crate::format::duration;
use crate::markdown;
use crate::text::{Indent, Ink, Line, Span, Style, fit_start, plain, plain_line, width, wrap};

/// A last block longer than this is settled row by row.
const LONG: usize = 600;
/// Columns before the text.
const LEAD: usize = 2;

/// A message. It grows at its end; what is settled is laid out once.
#[derive(Debug)]
pub(crate) struct Said {
    pub(super) message: MessageId,
    text: String,
    done: bool,
    /// For this many columns:
    columns: usize,
    /// bytes that are laid out for good,
    settled: usize,
    /// and their rows.
    rows: Vec<Line>,
    /// The fence that was open there, so that what follows is still code.
    fence: Option<String>,
    /// What follows belongs to the same paragraph or block of code.
    continues: bool,
}

impl Said {
    pub(super) fn new(message: MessageId, text: String, done: bool) -> Self {
        Self { message, text, done, columns: 0, settled: 0, rows: vec![], fence: None, continues: false }
    }

    pub(super) fn append(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn finish(&mut self) {
        self.done = true;
    }

    pub(super) fn is_final(&self) -> bool {
        self.done
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn settled_rows(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn rows(&mut self, columns: usize) -> Vec<Line> {
        if self.columns != columns {
            self.columns = columns;
            self.settled = 0;
            self.rows.clear();
            (self.fence, self.continues) = (None, false);
        }
        self.settle();
        let mut rows = self.rows.clone();
        if self.settled < self.text.len() {
            self.lay(self.text.len(), &mut rows);
        }
        rows
    }

    /// Moves forward what is laid out for good.
    fn settle(&mut self) {
        if self.done {
            self.settle_to(self.text.len());
            return;
        }
        let tail = &self.text[self.settled..];
        let lead = self.fence.as_ref().map_or(0, |fence| fence.len() + 1);
        let cut = match &self.fence {
            None => markdown::settled(tail),
            Some(fence) => markdown::settled(&format!("{fence}\n{tail}")).saturating_sub(lead),
        };
        if cut > 0 {
            self.settle_to(self.settled + cut);
            self.continues = false;
        }
        self.settle_within();
    }

    /// Of a long block that goes on, the part that can not change: whole lines of code, rows of plain words.
    fn settle_within(&mut self) {
        let tail = &self.text[self.settled..];
        if tail.len() < LONG {
            return;
        }
        let fence = self.fence.clone().or_else(|| markdown::open_fence(tail).map(str::to_owned));
        if let Some(fence) = fence {
            let Some(end) = tail.rfind('\n').map(|at| at + 1) else { return };
            let mark = &fence[..3];
            let begins = usize::from(self.fence.is_none());
            if tail[..end].lines().skip(begins).any(|line| line.trim_start().starts_with(mark)) {
                return;
            }
            self.settle_to(self.settled + end);
            (self.fence, self.continues) = (Some(fence), true);
            return;
        }
        // Words without any mark mean the same whatever follows.
        let plain =
            tail.find(|c: char| !(c.is_alphanumeric() || " ,.;:!?'\"()".contains(c))).unwrap_or(tail.len());
        let mut rows = Vec::new();
        self.lay(self.settled + plain, &mut rows);
        let keep = rows.len().saturating_sub(3);
        let mut end = 0;
        for row in &rows[..keep] {
            let text: String = row.spans.iter().skip(1).map(|span| span.text.as_str()).collect();
            if !tail[end..].starts_with(&text) || !tail[end + text.len()..].starts_with(' ') {
                return;
            }
            end += text.len() + 1;
        }
        if end > 0 && tail[end..].starts_with(char::is_alphabetic) {
            self.settle_to(self.settled + end);
            self.continues = true;
        }
    }

    fn settle_to(&mut self, end: usize) {
        if end <= self.settled {
            return;
        }
        let mut rows = std::mem::take(&mut self.rows);
        self.lay(end, &mut rows);
        self.rows = rows;
        self.settled = end;
        (self.fence, self.continues) = (None, false);
    }

    /// The rows of what lies between what is settled and `end`.
    fn lay(&self, end: usize, rows: &mut Vec<Line>) {
        let part = &self.text[self.settled..end];
        let text = match &self.fence {
            Some(fence) => format!("{fence}\n{part}"),
            None => part.to_owned(),
        };
        let laid = markdown::rows(&text, self.columns.saturating_sub(LEAD));
        if laid.is_empty() || (laid.len() == 1 && laid[0].width() == 0) {
            return;
        }
        if !rows.is_empty() && !self.continues {
            rows.push(Line::new());
        }
        for line in laid {
            let lead =
                if rows.is_empty() { Span::new("● ", Ink::Accent) } else { Span::new("  ", Ink::Text) };
            rows.push(if line.is_empty() { line } else { line.led_by(&[lead]) });
        }
    }
}

/// What an agent thinks: a line, until somebody opens it.
#[derive(Debug)]
pub(crate) struct Thought {
    pub(super) message: MessageId,
    text: String,
    done: bool,
    began: Option<Timestamp>,
    took_ms: Option<u64>,
}

impl Thought {
    pub(super) fn new(message: MessageId, text: String, done: bool, began: Option<Timestamp>) -> Self {
        Self { message, text, done, began, took_ms: None }
    }

    pub(super) fn append(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn finish(&mut self, now: Timestamp) {
        self.done = true;
        self.took_ms = self.began.map(|began| now.millis_since(began));
    }

    pub(super) fn close(&mut self) {
        self.done = true;
    }

    pub(super) fn is_final(&self) -> bool {
        self.done
    }

    pub(super) fn rows(&self, page: &Page<'_>) -> Vec<Line> {
        let ink = Style::new(Ink::Thought);
        let mut head = Line::of("◌ ", ink);
        if self.done {
            match self.took_ms.filter(|took| *took >= 1_000) {
                Some(took) => head.push(format!("thought for {}", duration(took)), Ink::Faint),
                None => head.push("thought", Ink::Faint),
            }
            head.push(if page.unfolded { " ▾" } else { " ▸" }, Ink::Faint);
        } else {
            let seconds = self.began.map_or(0, |began| page.now.millis_since(began) / 1000);
            head.push("thinking", ink);
            if seconds > 0 {
                head.push(format!(" {seconds} s"), Ink::Faint);
            }
            // The newest words, so that it is seen to move.
            let room = page.measure().saturating_sub(head.width() + 2);
            let from = self.text.len().saturating_sub(400);
            let from = (from..=self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(0);
            let newest = plain_line(&self.text[from..]);
            if room > 12 && width(&newest) > 0 {
                head.push(format!("  {}", fit_start(&newest, room)), Style::new(Ink::Faint).italic());
            }
        }
        let mut rows = vec![head];
        if page.unfolded {
            let bar = || vec![Span::new("  │ ", Ink::Line)];
            let indent = Indent { first: bar(), rest: bar() };
            for text in plain(self.text.trim()).lines() {
                let span = Span::new(text, Style::new(Ink::Faint).italic());
                rows.extend(wrap(&[span], page.measure(), &indent));
            }
        }
        rows
    }
}
