//! Where each character of the composer stands.

use unicode_segmentation::UnicodeSegmentation;

use super::chips::Chips;
use crate::text::{Ink, Line, Style, graphemes, width};

/// The composer's text as rows.
#[derive(Debug)]
pub(crate) struct Laid {
    pub(crate) rows: Vec<Line>,
    /// Row and column of the caret.
    pub(crate) caret: (usize, usize),
    /// For each row, where its characters begin: bytes and columns, with its end.
    places: Vec<Vec<(usize, usize)>>,
}

impl Laid {
    pub(super) fn new(text: &str, caret: usize, columns: usize, chips: &Chips) -> Self {
        let columns = columns.max(4);
        let mut laid = Self { rows: vec![], caret: (0, 0), places: vec![] };
        let mut start = 0;
        for line in text.split('\n') {
            laid.line(line, start, columns, chips);
            start += line.len() + 1;
        }
        laid.caret = laid.place_of(caret);
        laid
    }

    fn line(&mut self, line: &str, start: usize, columns: usize, chips: &Chips) {
        let mut row = Line::new();
        let mut places = Vec::new();
        let mut used = 0;
        // Where the row could end: places so far, spans as they were.
        let mut breaks: Option<(usize, Line)> = None;
        for (offset, grapheme) in line.grapheme_indices(true) {
            let (shown, style) = cell(grapheme, chips, columns);
            let wide = width(&shown);
            if used + wide > columns && grapheme != " " {
                let (kept, head) = breaks.take().unwrap_or_else(|| (places.len(), row.clone()));
                let moved: Vec<(usize, usize)> = places.split_off(kept);
                let base = moved.first().map_or(used, |(_, column)| *column);
                let end = moved.first().map_or(start + offset, |(byte, _)| *byte);
                places.push((end, base.min(columns)));
                self.rows.push(head);
                self.places.push(std::mem::take(&mut places));
                row = Line::new();
                used = 0;
                for (byte, _) in moved {
                    let text = &line[byte - start..];
                    let grapheme = text.graphemes(true).next().unwrap_or_default();
                    let (shown, style) = cell(grapheme, chips, columns);
                    places.push((byte, used));
                    used += width(&shown);
                    row.push(shown, style);
                }
            }
            places.push((start + offset, used.min(columns)));
            used += wide;
            row.push(shown, style);
            if grapheme == " " {
                breaks = Some((places.len(), row.clone()));
            }
        }
        places.push((start + line.len(), used.min(columns)));
        self.rows.push(row);
        self.places.push(places);
    }

    fn place_of(&self, byte: usize) -> (usize, usize) {
        let mut best = (0, 0);
        for (row, places) in self.places.iter().enumerate() {
            for (at, column) in places {
                if *at <= byte {
                    best = (row, *column);
                }
            }
            if places.first().is_some_and(|(at, _)| *at > byte) {
                break;
            }
        }
        best
    }

    /// The byte at or before a column of a row.
    pub(crate) fn byte_at(&self, row: usize, column: usize) -> usize {
        let Some(places) = self.places.get(row) else { return 0 };
        // The end of a wrapped row belongs to the next one.
        let wrapped = self
            .places
            .get(row + 1)
            .is_some_and(|next| next.first().map(|p| p.0) == places.last().map(|p| p.0));
        let shown = if wrapped && places.len() > 1 { &places[..places.len() - 1] } else { &places[..] };
        shown.iter().take_while(|(_, at)| *at <= column).last().or(shown.first()).map_or(0, |(byte, _)| *byte)
    }
}

fn cell(grapheme: &str, chips: &Chips, columns: usize) -> (String, Style) {
    let c = grapheme.chars().next().unwrap_or(' ');
    if let Some(label) = chips.label(c) {
        return (crate::text::fit(&label, columns), Style::new(Ink::Accent));
    }
    if c == '\t' {
        return ("    ".to_owned(), Style::default());
    }
    if c.is_control() || graphemes(grapheme).all(|(_, wide)| wide == 0) {
        // Something without a width of its own has to be seen, or the caret would stand beside nothing.
        return ("\u{fffd}".to_owned(), Style::new(Ink::Faint));
    }
    (grapheme.to_owned(), Style::default())
}
