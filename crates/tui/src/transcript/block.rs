//! One thing of the conversation.

use std::fmt;
use std::sync::Arc;

use protocol::{MessageId, Plan, PlanStatus};

use super::Page;
use super::lanes::Lanes;
use super::note::{Note, Prompt};
use super::said::{Said, Thought};
use super::tool::ToolCard;
use crate::text::{Indent, Ink, Line, Span, Style, plain_line, wrap};

#[derive(Debug)]
pub(crate) struct Block {
    pub(super) body: Body,
}

#[derive(Debug)]
pub(crate) enum Body {
    Prompt(Prompt),
    Said(Said),
    Thought(Thought),
    Tool(Box<ToolCard>),
    Lanes(Lanes),
    Plan(Plan),
    Note(Note),
    Sheet(Sheet),
}

/// Lays itself out for a number of columns.
type Lay = dyn Fn(usize) -> Vec<Line> + Send + Sync;

/// Something that only this front end shows.
pub(crate) struct Sheet(pub(super) Arc<Lay>);

impl fmt::Debug for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sheet")
    }
}

impl Block {
    pub(super) fn is_message(&self, id: &MessageId) -> bool {
        match &self.body {
            Body::Said(said) => said.message == *id,
            Body::Thought(thought) => thought.message == *id,
            _ => false,
        }
    }

    pub(super) fn is_final(&self) -> bool {
        match &self.body {
            Body::Said(said) => said.is_final(),
            Body::Thought(thought) => thought.is_final(),
            Body::Tool(card) => card.is_final(),
            Body::Lanes(lanes) => lanes.is_final(),
            Body::Prompt(_) | Body::Plan(_) | Body::Note(_) | Body::Sheet(_) => true,
        }
    }

    /// Rows at the beginning that nothing can change any more, of a block that only grows at its end.
    pub(super) fn settled_rows(&self) -> Option<usize> {
        match &self.body {
            Body::Said(said) => Some(said.settled_rows()),
            _ => None,
        }
    }

    pub(super) fn rows(&mut self, page: &Page<'_>) -> Vec<Line> {
        match &mut self.body {
            Body::Prompt(prompt) => prompt.rows(page),
            Body::Said(said) => said.rows(page.measure()),
            Body::Thought(thought) => thought.rows(page),
            Body::Tool(card) => card.rows(page),
            Body::Lanes(lanes) => lanes.rows(page),
            Body::Plan(plan) => plan_rows(plan, page.measure()),
            Body::Note(note) => note.rows(page.measure()),
            Body::Sheet(sheet) => (sheet.0)(page.columns),
        }
    }
}

/// Whether a blank row stands between the two.
pub(super) fn parted(before: &Body, after: &Body) -> bool {
    match (before, after) {
        (Body::Thought(_), Body::Said(_)) => false,
        (_, Body::Prompt(_) | Body::Said(_) | Body::Thought(_) | Body::Sheet(_) | Body::Plan(_)) => true,
        (Body::Prompt(_) | Body::Sheet(_), _) => true,
        (Body::Said(_) | Body::Plan(_), Body::Note(_)) => true,
        _ => false,
    }
}

/// The steps an agent means to take.
pub(crate) fn plan_rows(plan: &Plan, columns: usize) -> Vec<Line> {
    let done = plan.entries.iter().filter(|entry| entry.status == PlanStatus::Completed).count();
    let mut rows = vec![
        Line::of("  plan", Style::new(Ink::Soft).bold())
            .then(format!("  {done} of {}", plan.entries.len()), Ink::Faint),
    ];
    for entry in &plan.entries {
        let (sign, ink, style) = match entry.status {
            PlanStatus::Completed => ("✓", Ink::Good, Style::new(Ink::Faint)),
            PlanStatus::InProgress => ("●", Ink::Accent, Style::default().bold()),
            PlanStatus::Pending => ("○", Ink::Faint, Style::new(Ink::Soft)),
        };
        let indent = Indent {
            first: vec![Span::new(format!("  {sign} "), ink)],
            rest: vec![Span::new("    ", Ink::Text)],
        };
        rows.extend(wrap(&[Span::new(plain_line(&entry.content), style)], columns, &indent));
    }
    rows
}
