//! A row as columns.

use std::sync::Arc;

use crate::text::{Ground, Line, Style, graphemes};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cell<'a> {
    pub(super) text: &'a str,
    pub(super) width: usize,
    pub(super) style: Style,
    pub(super) link: Option<&'a Arc<str>>,
}

/// What stands in each column; nothing in the second column of a wide character.
pub(super) struct Cells<'a>(Vec<Option<Cell<'a>>>);

impl<'a> Cells<'a> {
    pub(super) fn of(line: &'a Line) -> Self {
        let mut cells: Vec<Option<Cell<'a>>> = Vec::new();
        for span in &line.spans {
            for (text, width) in graphemes(&span.text) {
                if width == 0 {
                    // Something that takes no room of its own can not be a cell.
                    continue;
                }
                cells.push(Some(Cell { text, width, style: span.style, link: span.link.as_ref() }));
                cells.extend(std::iter::repeat_n(None, width - 1));
            }
        }
        // Spaces at the end that nobody sees are not written.
        let blank = |cell: &Option<Cell<'a>>| {
            cell.is_some_and(|cell| {
                cell.text == " "
                    && cell.style.ground == Ground::None
                    && !cell.style.underline
                    && cell.link.is_none()
            })
        };
        while cells.last().is_some_and(blank) {
            cells.pop();
        }
        Self(cells)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn get(&self, column: usize) -> Option<Cell<'a>> {
        self.0.get(column).copied().flatten()
    }

    /// Whether the screen shows in this column what `new` wants there.
    pub(super) fn same(&self, new: &Cells<'_>, column: usize) -> bool {
        const SPACE: Style = Style::new(crate::text::Ink::Text);
        match (self.0.get(column), new.0.get(column)) {
            (Some(old), Some(new)) => old == new || (is_space(old) && is_space(new)),
            // Beyond its end a row is blank.
            (None, Some(Some(new))) => {
                new.text == " "
                    && Style { ink: SPACE.ink, bold: false, ..new.style } == SPACE
                    && new.link.is_none()
            }
            _ => false,
        }
    }

    /// Whether the cell can be written in passing, in the style that is set.
    pub(super) fn plain_like(&self, column: usize, style: Style) -> bool {
        let unseen = style.ground == Ground::None && !style.underline && !style.strike;
        self.get(column).is_some_and(|cell| {
            let fits = cell.style == style || (unseen && is_space(&Some(cell)));
            cell.width == 1 && cell.link.is_none() && fits
        })
    }
}

/// The ink of a space is not seen.
fn is_space(cell: &Option<Cell<'_>>) -> bool {
    cell.is_some_and(|cell| {
        cell.text == " "
            && cell.style.ground == Ground::None
            && !cell.style.underline
            && !cell.style.strike
            && cell.link.is_none()
    })
}
