//! Tables that fit: columns share the room, and cells wrap.

use pulldown_cmark::Alignment;

use crate::text::{Indent, Ink, Line, Span, Style, width, wrap};

/// No column is made narrower than this.
const NARROW: usize = 3;

pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Vec<Span>>>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: vec![] }
    }

    pub(super) fn row(&mut self) {
        self.rows.push(vec![]);
    }

    pub(super) fn cell(&mut self) {
        if let Some(row) = self.rows.last_mut() {
            row.push(vec![]);
        }
    }

    pub(super) fn text(&mut self, text: &str, style: Style) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
            cell.push(Span::new(text, style));
        }
    }

    pub(super) fn rows(mut self, room: usize) -> Vec<Line> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        if count == 0 {
            return vec![];
        }
        for cell in self.rows.first_mut().into_iter().flatten().flatten() {
            cell.style = cell.style.bold();
        }
        let widths = self.widths(count, room);
        let total: usize = widths.iter().sum::<usize>() + 3 * (count - 1);
        if total > room {
            return self.as_list(room);
        }
        let mut lines = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            lines.extend(self.lay(row, &widths));
            if number == 0 {
                let rule = widths.iter().map(|wide| "─".repeat(*wide)).collect::<Vec<_>>().join("─┼─");
                lines.push(Line::of(rule, Ink::Line));
            }
        }
        lines
    }

    /// As wide as the widest cell; where that is too much, the widest columns give way first.
    fn widths(&self, count: usize, room: usize) -> Vec<usize> {
        let cell_width = |cell: &Vec<Span>| cell.iter().map(|span| width(&span.text)).sum::<usize>();
        let mut widths: Vec<usize> = (0..count)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(cell_width).max().unwrap_or(0).max(NARROW)
            })
            .collect();
        let room = room.saturating_sub(3 * (count - 1));
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = widths.iter_mut().max().filter(|wide| **wide > NARROW) else { break };
            *widest -= 1;
        }
        widths
    }

    fn lay(&self, row: &[Vec<Span>], widths: &[usize]) -> Vec<Line> {
        let none = Vec::new();
        let cells: Vec<Vec<Line>> = widths
            .iter()
            .enumerate()
            .map(|(column, wide)| wrap(row.get(column).unwrap_or(&none), *wide, &Indent::default()))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        (0..height)
            .map(|at| {
                let mut line = Line::new();
                for (column, wide) in widths.iter().enumerate() {
                    if column > 0 {
                        line.push(" │ ", Ink::Line);
                    }
                    let cell = cells[column].get(at).cloned().unwrap_or_default();
                    let free = wide.saturating_sub(cell.width());
                    let before = match self.alignments.get(column) {
                        Some(Alignment::Right) => free,
                        Some(Alignment::Center) => free / 2,
                        _ => 0,
                    };
                    line.push(" ".repeat(before), Style::default());
                    for span in cell.spans {
                        line.push(span.text, span.style);
                    }
                    line.push(" ".repeat(free - before), Style::default());
                }
                line
            })
            .collect()
    }

    /// Where not even narrow columns fit: each row as a list of what its columns say.
    fn as_list(&self, room: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        let (head, body) =
            self.rows.split_first().map_or((&[][..], &[][..]), |(head, body)| (&head[..], body));
        for (number, row) in body.iter().enumerate() {
            if number > 0 {
                lines.push(Line::new());
            }
            for (column, cell) in row.iter().enumerate() {
                let mut spans: Vec<Span> = head.get(column).cloned().unwrap_or_default();
                spans.push(Span::new(": ", Ink::Faint));
                spans.extend(cell.iter().cloned());
                let indent = Indent { first: vec![], rest: vec![Span::new("  ", Ink::Text)] };
                lines.extend(wrap(&spans, room, &indent));
            }
        }
        lines
    }
}
