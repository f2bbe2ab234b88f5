//! Pictures, in terminals that say that they can show them.
//!
//! kitty's protocol with placeholders: the picture is sent once, and then stands wherever its placeholder characters are
//! printed. So it is text to everybody here: it scrolls, is cut, drawn again and forgotten like any other row.

use std::fmt::Write;

use crate::text::{Ink, Line};

/// Asks whether pictures can be shown; the answer has the same number.
pub(crate) const ASK: &str = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
/// What a terminal that can says.
pub(crate) const YES: &[u8] = b"Gi=31;OK";

/// Larger ones are named, not shown.
const MAX_CODED: usize = 6 << 20;
const CHUNK: usize = 4096;
const MAX_COLUMNS: usize = 48;
const MAX_ROWS: usize = 16;
/// Pixels of a cell, nearly everywhere.
const CELL: (usize, usize) = (8, 16);

const PLACEHOLDER: char = '\u{10EEEE}';
/// They say which row of the picture a placeholder stands for.
const ROW_MARKS: [char; MAX_ROWS] = [
    '\u{305}', '\u{30D}', '\u{30E}', '\u{310}', '\u{312}', '\u{33D}', '\u{33E}', '\u{33F}', '\u{346}',
    '\u{34A}', '\u{34B}', '\u{34C}', '\u{350}', '\u{351}', '\u{352}', '\u{357}',
];

/// Whether this character stands for a piece of a picture; those are a column wide wherever they are understood.
pub(crate) fn is_part(text: &str) -> bool {
    text.starts_with(PLACEHOLDER)
}

/// A picture as large as it will be on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Picture {
    pub(crate) number: u8,
    columns: usize,
    rows: usize,
}

impl Picture {
    /// For a PNG in base64; the only kind that terminals take as it is.
    pub(crate) fn of_png(number: u8, coded: &str) -> Option<Self> {
        use base64::Engine as _;
        if coded.len() > MAX_CODED {
            return None;
        }
        let head = base64::engine::general_purpose::STANDARD.decode(coded.get(..44)?).ok()?;
        if !head.starts_with(b"\x89PNG\r\n\x1a\n") {
            return None;
        }
        let number_at = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?) as usize);
        let (wide, high) = (number_at(16)?, number_at(20)?);
        if wide == 0 || high == 0 {
            return None;
        }
        let mut columns = wide.div_ceil(CELL.0).clamp(1, MAX_COLUMNS);
        let mut rows = (columns * CELL.0 * high).div_ceil(wide * CELL.1).max(1);
        if rows > MAX_ROWS {
            columns = (columns * MAX_ROWS / rows).max(1);
            rows = MAX_ROWS;
        }
        Some(Self { number, columns, rows })
    }

    /// The bytes that give the terminal the picture, to be shown where its placeholders are.
    pub(crate) fn sent(&self, coded: &str) -> String {
        let mut out = String::with_capacity(coded.len() + coded.len() / 64);
        let mut rest = coded;
        let mut keys = format!("a=T,U=1,q=2,f=100,i={},c={},r={},", self.number, self.columns, self.rows);
        while !rest.is_empty() {
            // Base64 is ASCII; whoever sends something else is cut off here.
            let Some((chunk, after)) = rest.split_at_checked(rest.len().min(CHUNK)) else { break };
            let more = u8::from(!after.is_empty());
            let _ = write!(out, "\x1b_G{keys}m={more};{chunk}\x1b\\");
            keys.clear();
            rest = after;
        }
        out
    }

    /// Its placeholders, in a window that is wide enough for it.
    pub(crate) fn rows(&self, columns: usize) -> Vec<Line> {
        const LEAD: usize = 4;
        if columns < self.columns + LEAD {
            return vec![];
        }
        let row = |mark: &char| {
            let cells: String = std::iter::repeat_n([PLACEHOLDER, *mark], self.columns).flatten().collect();
            Line::of(" ".repeat(LEAD), Ink::Text).then(cells, Ink::Picture(self.number))
        };
        ROW_MARKS.iter().take(self.rows).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

    fn png(wide: u32, high: u32) -> String {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(wide.to_be_bytes());
        bytes.extend(high.to_be_bytes());
        bytes.extend([8; 9000]);
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }

    #[test]
    fn a_picture_keeps_its_shape_within_bounds() {
        let size = |wide, high| {
            let picture = Picture::of_png(1, &png(wide, high)).unwrap();
            (picture.columns, picture.rows)
        };
        assert_eq!(size(80, 32), (10, 2));
        assert_eq!(size(1, 1), (1, 1));
        assert_eq!(size(1920, 1080), (48, 14));
        assert_eq!(size(100, 4000), (1, 16));
        assert_eq!(Picture::of_png(1, "R0lGODlhAQABAIAAAAUEBA"), None);
        assert_eq!(Picture::of_png(1, &png(0, 10)), None);
    }

    #[test]
    fn it_is_sent_in_chunks_and_stands_as_text() {
        let coded = png(80, 32);
        let picture = Picture::of_png(7, &coded).unwrap();
        let sent = picture.sent(&coded);
        assert!(sent.starts_with("\x1b_Ga=T,U=1,q=2,f=100,i=7,c=10,r=2,m=1;"));
        assert!(sent.contains("\x1b\\\x1b_Gm=0;") && sent.ends_with("\x1b\\"));
        let rows = picture.rows(40);
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].width(), 14);
        assert!(picture.rows(12).is_empty());
    }
}
