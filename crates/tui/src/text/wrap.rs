//! Lines that are too long, broken between words.

use super::line::{Line, Span};
use super::width::{graphemes, width};

/// What stands before the first row and before every other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Indent {
    pub(crate) first: Vec<Span>,
    pub(crate) rest: Vec<Span>,
}

impl Indent {
    pub(crate) fn new(first: Span, rest: Span) -> Self {
        Self { first: vec![first], rest: vec![rest] }
    }
}

/// Breaks one logical line into rows of at most `columns`. Always answers at least one row.
pub(crate) fn wrap(spans: &[Span], columns: usize, indent: &Indent) -> Vec<Line> {
    let lead = |spans: &[Span]| spans.iter().map(|span| width(&span.text)).sum::<usize>();
    let (first, rest) = (lead(&indent.first), lead(&indent.rest));
    // Where the indent leaves no room, text goes on all the same, a column at a time.
    let room = |row: usize| columns.saturating_sub(if row == 0 { first } else { rest }).max(2);
    let mut rows: Vec<Row> = vec![Row::default()];
    for (at, span) in spans.iter().enumerate() {
        for (grapheme, wide) in graphemes(&span.text) {
            if grapheme == " " {
                let number = rows.len() - 1;
                let row = &mut rows[number];
                if row.used + wide > room(number) {
                    // A space at the edge is the break.
                    row.broken = true;
                    continue;
                }
                if row.broken || (row.pieces.is_empty() && number > 0) {
                    continue;
                }
            }
            // What is moved to the next row may be too long for it, too.
            loop {
                let number = rows.len() - 1;
                let row = &mut rows[number];
                if !row.broken && (row.used + wide <= room(number) || row.used == 0) {
                    break;
                }
                let next = row.break_off();
                rows.push(next);
            }
            let last = rows.len() - 1;
            rows[last].push(at, grapheme, wide);
        }
    }
    let finish = |(number, row): (usize, Row)| {
        let mut line = Line::new();
        for (at, text) in row.pieces {
            match line.spans.last_mut() {
                Some(span) if span.style == spans[at].style && span.link == spans[at].link => {
                    span.text.push_str(&text)
                }
                _ => line.spans.push(Span { text, ..spans[at].clone() }),
            }
        }
        line.led_by(if number == 0 { &indent.first } else { &indent.rest })
    };
    rows.into_iter().enumerate().map(finish).collect()
}

/// A row that grows.
#[derive(Default)]
struct Row {
    /// Runs of text by the span they come from.
    pieces: Vec<(usize, String)>,
    used: usize,
    /// The last place to break: pieces, bytes of the last of them, columns up to there.
    last_break: Option<(usize, usize, usize)>,
    /// A space beyond the edge ended it; the next word begins a row.
    broken: bool,
}

impl Row {
    fn push(&mut self, span: usize, grapheme: &str, wide: usize) {
        // East Asian text may break before and after every character.
        let breaks_before = wide == 2 && self.used > 0;
        if breaks_before {
            self.mark();
        }
        match self.pieces.last_mut() {
            Some((at, text)) if *at == span => text.push_str(grapheme),
            _ => self.pieces.push((span, grapheme.to_owned())),
        }
        self.used += wide;
        if grapheme == " " || wide == 2 {
            self.mark();
        }
    }

    fn mark(&mut self) {
        let bytes = self.pieces.last().map_or(0, |(_, text)| text.len());
        self.last_break = Some((self.pieces.len(), bytes, self.used));
    }

    /// Ends at the last place to break, or right here if there is none, and answers the row that goes on.
    fn break_off(&mut self) -> Row {
        if std::mem::take(&mut self.broken) {
            return Row::default();
        }
        let Some((pieces, bytes, columns)) = self.last_break.filter(|(.., columns)| *columns > 0) else {
            return Row::default();
        };
        let mut moved = self.pieces.split_off(pieces);
        if let Some((at, text)) = self.pieces.last_mut() {
            let tail = text.split_off(bytes);
            if !tail.is_empty() {
                moved.insert(0, (*at, tail));
            }
            text.truncate(text.trim_end_matches(' ').len());
        }
        let used = self.used - columns;
        self.used = columns;
        Row { pieces: moved, used, last_break: None, broken: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Ink, Style};

    fn rows(text: &str, columns: usize) -> Vec<String> {
        let span = Span::new(text, Style::default());
        wrap(&[span], columns, &Indent::default()).iter().map(Line::text).collect()
    }

    #[test]
    fn breaks_between_words() {
        assert_eq!(rows("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(rows("the quick brown fox", 9), ["the quick", "brown fox"]);
        assert_eq!(rows("abcdefghijkl mno", 5), ["abcde", "fghij", "kl", "mno"]);
        assert_eq!(rows("", 5), [""]);
        assert_eq!(rows("a  b", 80), ["a  b"]);
    }

    #[test]
    fn east_asian_text_breaks_anywhere_and_never_in_a_character() {
        assert_eq!(rows("日本語テキスト", 5), ["日本", "語テ", "キス", "ト"]);
        assert_eq!(rows("ab 日本語", 6), ["ab 日", "本語"]);
        assert_eq!(rows("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3), ["👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"]);
    }

    #[test]
    fn styles_and_indents_stay() {
        let spans = [Span::new("bold ", Style::new(Ink::Text).bold()), Span::new("plain text", Ink::Faint)];
        let indent = Indent::new(Span::new("• ", Ink::Accent), Span::new("  ", Ink::Text));
        let lines = wrap(&spans, 12, &indent);
        assert_eq!(lines.iter().map(Line::text).collect::<Vec<_>>(), ["• bold plain", "  text"]);
        assert_eq!(lines[1].spans[1].style, Style::new(Ink::Faint));
    }

    proptest::proptest! {
        /// Nothing is lost but spaces at the breaks, and no row is wider than it may be.
        #[test]
        fn nothing_is_lost(text in "[a-z 日é👍]{0,60}", columns in 2usize..20) {
            let rows = rows(&text, columns);
            let squeeze = |text: &str| text.replace(' ', "");
            proptest::prop_assert_eq!(squeeze(&rows.concat()), squeeze(&text));
            for row in &rows {
                proptest::prop_assert!(width(row) <= columns, "{row:?}");
            }
        }
    }
}
