//! Rows onto a terminal, with as few bytes as will do.
//!
//! A [`Painter`] owns the last rows that were printed, the live region. A frame is told as rows that are finished and
//! rows that live on. Finished rows are drawn a last time and then belong to the terminal: it scrolls them, keeps them
//! and lets them be selected. Of the region only cells that changed are written; a row more or less is made with the
//! terminal's own insertion and deletion of lines. Everything is relative to where the region stands, so nobody has to
//! ask the terminal where the cursor is.

mod cells;

use std::collections::VecDeque;
use std::fmt::Write;

use crate::picture;
use crate::text::{Ground, Line, Style};
use crate::theme::Theme;

use cells::Cells;

/// As many rows as any screen has.
const REMEMBERED: usize = 500;
/// A frame larger than this is shown at once or not at all.
const SYNCHRONISE: usize = 96;

/// This row and those below. Not in one go from the top left: tmux takes that for a wish to keep what is erased, and
/// scrolls it into its history.
const ERASE_BELOW: &str = "\x1b7\x1b[K\x1b[B\x1b[J\x1b8";

/// Where the caret is: row and column within the region.
pub(crate) type Caret = (usize, usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

pub(crate) struct Painter {
    size: Size,
    theme: Theme,
    /// The live region as it is on the screen.
    rows: Vec<Line>,
    /// Widths of the rows above it that we printed, the newest last.
    above: VecDeque<usize>,
    /// Where the terminal's cursor is; the column is unknown after a row was filled.
    row: usize,
    column: Option<usize>,
    style: Style,
    visible: bool,
    out: String,
}

impl Painter {
    pub(crate) fn new(size: Size, theme: Theme) -> Self {
        Self {
            size,
            theme,
            rows: vec![],
            above: VecDeque::new(),
            row: 0,
            column: Some(0),
            style: Style::default(),
            visible: true,
            out: String::new(),
        }
    }

    pub(crate) fn set_theme(&mut self, theme: Theme) {
        self.theme = theme;
    }

    /// The bytes that bring the screen from the last frame to this one.
    pub(crate) fn frame(&mut self, frozen: Vec<Line>, live: Vec<Line>, caret: Option<Caret>) -> String {
        let finished = frozen.len();
        let mut rows = frozen;
        rows.extend(live);
        if rows.len() > self.size.rows || self.rows.len() > self.size.rows {
            self.print_all(&rows);
        } else {
            self.update(&rows);
        }
        // The cursor goes on in the region that remains.
        if rows.len() == finished && finished > 0 {
            self.move_to(finished - 1, 0);
            self.next_row(1);
            (self.row, self.column) = (finished, Some(0));
        } else if self.row < finished {
            self.move_to(finished, 0);
        }
        for line in rows.drain(..finished) {
            self.above.push_back(line.width());
        }
        while self.above.len() > REMEMBERED {
            self.above.pop_front();
        }
        self.rows = rows;
        self.row -= finished;
        self.place(caret);
        self.finish()
    }

    /// After a change of size, or when the screen is in doubt: `recent` finished rows, newest last, laid out for the
    /// new size, and the live ones, on a cleared screen.
    pub(crate) fn repaint(
        &mut self,
        size: Size,
        recent: Vec<Line>,
        live: Vec<Line>,
        caret: Option<Caret>,
    ) -> String {
        // The terminal may have wrapped what was wider than it is now, so this is the most that can be above.
        let columns = size.columns.max(1);
        let wrapped = |width: usize| width.div_ceil(columns).max(1);
        let here: usize = self.rows.iter().take(self.row).map(|line| wrapped(line.width())).sum();
        let partly = self.column.unwrap_or(0) / columns;
        let above: usize = self.above.iter().map(|width| wrapped(*width)).sum();
        let up = here + partly + above;
        self.size = size;
        self.out.push_str("\x1b[m");
        self.style = Style::default();
        if up >= size.rows {
            self.out.push_str("\x1b[H");
        } else {
            let _ = write!(self.out, "\r{}", up_by(up));
        }
        self.out.push_str(ERASE_BELOW);
        (self.rows, self.row, self.column) = (vec![], 0, Some(0));
        self.above.clear();
        self.frame(recent, live, caret)
    }

    /// Takes the region away, so that the shell goes on where the conversation ends.
    pub(crate) fn leave(&mut self) -> String {
        self.move_to(0, 0);
        self.set_style(Style::default());
        self.out.push_str(ERASE_BELOW);
        (self.rows, self.row, self.column) = (vec![], 0, Some(0));
        self.place(Some((0, 0)));
        self.finish()
    }

    fn finish(&mut self) -> String {
        let frame = std::mem::take(&mut self.out);
        if frame.len() > SYNCHRONISE { format!("\x1b[?2026h{frame}\x1b[?2026l") } else { frame }
    }

    /// More than fits: everything goes through the bottom of the screen, in order.
    fn print_all(&mut self, rows: &[Line]) {
        self.move_to(0, 0);
        self.set_style(Style::default());
        self.out.push_str(ERASE_BELOW);
        for (number, line) in rows.iter().enumerate() {
            if number > 0 {
                self.next_row(1);
            }
            self.row = number;
            self.draw(&Line::new(), line);
        }
    }

    fn update(&mut self, new: &[Line]) {
        let old = std::mem::take(&mut self.rows);
        let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (old_rest, new_rest) = (&old[before..], &new[before..]);
        let after =
            old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
        let (gone, come) = (old_rest.len() - after, new_rest.len() - after);
        if after > 0 && come > gone {
            self.insert_rows(old.len(), before + gone, come - gone);
        } else if after > 0 && come < gone {
            self.move_to(before + come, 0);
            self.set_style(Style::default());
            let _ = write!(self.out, "\x1b[{}M", gone - come);
        }
        let scrolled =
            if after > 0 && come == gone { self.scroll(old_rest, new_rest, before, come) } else { 0 };
        let mut there = if after > 0 { old.len().max(new.len()) } else { old.len() };
        let blank = Line::new();
        for (at, line) in new_rest[..come].iter().enumerate() {
            let number = before + at;
            let shown = match at + scrolled {
                shifted if shifted < gone => &old_rest[shifted],
                _ => &blank,
            };
            if number >= there && number > 0 {
                self.move_to(there - 1, 0);
                self.next_row(1);
                (self.row, self.column) = (number, Some(0));
            }
            there = there.max(number + 1);
            if shown != line {
                self.draw_at(number, shown, line);
            }
        }
        if after == 0 && come < gone {
            self.move_to(new.len().saturating_sub(1), 0);
            if !new.is_empty() {
                self.next_row(1);
                (self.row, self.column) = (new.len(), Some(0));
            }
            self.set_style(Style::default());
            self.out.push_str("\x1b[J");
        }
    }

    /// Room for `count` rows at `at`, in a region of `total`.
    fn insert_rows(&mut self, total: usize, at: usize, count: usize) {
        self.move_to(total - 1, 0);
        self.next_row(count);
        self.row = total - 1 + count;
        self.move_to(at, 0);
        self.set_style(Style::default());
        let _ = write!(self.out, "\x1b[{count}L");
    }

    /// Where the rows that changed are mostly the old ones further up, the terminal moves them. Answers by how much.
    fn scroll(&mut self, old: &[Line], new: &[Line], top: usize, rows: usize) -> usize {
        const FAR: usize = 12;
        let same =
            |by: usize| (0..rows - by).filter(|at| old[at + by] == new[*at] && !new[*at].is_empty()).count();
        let best =
            (1..FAR.min(rows)).max_by_key(|by| same(*by)).filter(|by| same(*by) * 2 > rows && rows > 3);
        let Some(by) = best else { return 0 };
        self.move_to(top, 0);
        self.set_style(Style::default());
        let _ = write!(self.out, "\x1b[{by}M");
        self.move_to(top + rows - by, 0);
        let _ = write!(self.out, "\x1b[{by}L");
        by
    }

    fn draw_at(&mut self, number: usize, old: &Line, new: &Line) {
        if self.row != number {
            // Going down a row at a time is shorter than naming it.
            match number.checked_sub(self.row) {
                Some(1) => self.next_row(1),
                _ => self.move_to(number, 0),
            }
            if self.row != number {
                (self.row, self.column) = (number, Some(0));
            }
        }
        self.draw(old, new);
    }

    /// Writes what differs in the row the cursor is in.
    fn draw(&mut self, old: &Line, new: &Line) {
        let (old, new) = (Cells::of(old), Cells::of(new));
        let mut at = 0;
        while at < new.len() {
            if old.same(&new, at) {
                at += 1;
                continue;
            }
            let Some(cell) = new.get(at) else {
                // The second half of a wide character that stands already.
                at += 1;
                continue;
            };
            // A few equal cells are cheaper to write again than to jump over.
            let gap = self.column.filter(|here| *here < at && at - here <= 3);
            match gap {
                Some(here) if (here..at).all(|column| new.plain_like(column, self.style)) => {
                    for column in here..at {
                        self.out.push_str(new.get(column).map_or(" ", |cell| cell.text));
                    }
                    self.column = Some(at);
                }
                _ => self.move_column(at),
            }
            self.set_style(cell.style);
            match cell.link {
                Some(link) => {
                    let _ = write!(self.out, "\x1b]8;;{link}\x1b\\");
                    let mut end = at;
                    while let Some(next) =
                        new.get(end).filter(|next| next.link == cell.link && next.style == cell.style)
                    {
                        self.out.push_str(next.text);
                        end += next.width.max(1);
                        self.column = None;
                    }
                    self.out.push_str("\x1b]8;;\x1b\\");
                    at = end;
                    self.column = Some(at).filter(|column| *column < self.size.columns);
                }
                None => {
                    self.out.push_str(cell.text);
                    at += cell.width.max(1);
                    // Terminals disagree about characters made of several; the next one says where it stands.
                    let one = cell.text.chars().count() == 1 || picture::is_part(cell.text);
                    let sure = one && at < self.size.columns;
                    self.column = Some(at).filter(|_| sure);
                }
            }
        }
        if old.len() > new.len() {
            self.move_column(new.len());
            self.set_style(Style::default());
            self.out.push_str("\x1b[K");
        }
    }

    fn set_style(&mut self, style: Style) {
        if self.style != style {
            self.theme.sgr(style, &mut self.out);
            self.style = style;
        }
    }

    /// To the beginning of a row further down, which comes into being at the bottom of the screen. Many terminals
    /// give it the ground that is set, and we take it for empty.
    fn next_row(&mut self, count: usize) {
        if self.style.ground != Ground::None {
            self.set_style(Style::default());
        }
        self.out.push('\r');
        self.out.push_str(&"\n".repeat(count));
        self.column = Some(0);
    }

    fn move_to(&mut self, row: usize, column: usize) {
        match row.cmp(&self.row) {
            std::cmp::Ordering::Less => self.out.push_str(&up_by(self.row - row)),
            std::cmp::Ordering::Greater => {
                let _ = write!(self.out, "\x1b[{}B", row - self.row);
            }
            std::cmp::Ordering::Equal => {}
        }
        self.row = row;
        self.move_column(column);
    }

    fn move_column(&mut self, column: usize) {
        if self.column == Some(column) {
            return;
        }
        if column == 0 {
            self.out.push('\r');
        } else {
            let _ = write!(self.out, "\x1b[{}G", column + 1);
        }
        self.column = Some(column);
    }

    fn place(&mut self, caret: Option<Caret>) {
        match caret {
            Some((row, column)) => {
                self.move_to(row.min(self.rows.len().saturating_sub(1)), column);
                if !self.visible {
                    self.out.push_str("\x1b[?25h");
                }
            }
            None if self.visible => self.out.push_str("\x1b[?25l"),
            None => {}
        }
        self.visible = caret.is_some();
    }
}

fn up_by(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\x1b[{rows}A") }
}

#[cfg(test)]
mod tests;
