//! A row of the screen.

use std::sync::Arc;

use super::width::width;

/// What a piece of text is, and so what colour it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub(crate) enum Ink {
    #[default]
    Text,
    /// Second to the text: titles of tools, labels.
    Soft,
    /// Whispers: hints, results in the margin, line numbers.
    Faint,
    /// Rules and borders.
    Line,
    Accent,
    Warning,
    Danger,
    Good,
    Thought,
    /// The steady colour of an agent, by number.
    Agent(u8),
    Code,
    Keyword,
    Literal,
    Comment,
    Number,
    Type,
    Function,
    /// A colour that is the number of a picture, whatever the theme.
    Picture(u8),
}

/// What a piece of text stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub(crate) enum Ground {
    #[default]
    None,
    Added,
    AddedWord,
    Removed,
    RemovedWord,
    Selected,
    Match,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub(crate) struct Style {
    pub(crate) ink: Ink,
    pub(crate) ground: Ground,
    pub(crate) bold: bool,
    pub(crate) italic: bool,
    pub(crate) underline: bool,
    pub(crate) strike: bool,
}

impl Style {
    pub(crate) const fn new(ink: Ink) -> Self {
        Self { ink, ground: Ground::None, bold: false, italic: false, underline: false, strike: false }
    }

    pub(crate) const fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    pub(crate) const fn italic(mut self) -> Self {
        self.italic = true;
        self
    }

    pub(crate) const fn on(mut self, ground: Ground) -> Self {
        self.ground = ground;
        self
    }
}

impl From<Ink> for Style {
    fn from(ink: Ink) -> Self {
        Self::new(ink)
    }
}

/// Text in one style. Never holds a line break or a control character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) style: Style,
    /// Where it leads, for terminals that can follow.
    pub(crate) link: Option<Arc<str>>,
}

impl Span {
    pub(crate) fn new(text: impl Into<String>, style: impl Into<Style>) -> Self {
        Self { text: text.into(), style: style.into(), link: None }
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Line {
    pub(crate) spans: Vec<Span>,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn of(text: impl Into<String>, style: impl Into<Style>) -> Self {
        Self::new().then(text, style)
    }

    pub(crate) fn then(mut self, text: impl Into<String>, style: impl Into<Style>) -> Self {
        self.push(text, style);
        self
    }

    pub(crate) fn push(&mut self, text: impl Into<String>, style: impl Into<Style>) {
        let (text, style) = (text.into(), style.into());
        if text.is_empty() {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.style == style && last.link.is_none() => last.text.push_str(&text),
            _ => self.spans.push(Span { text, style, link: None }),
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|span| width(&span.text)).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Puts `spans` before everything.
    pub(crate) fn led_by(mut self, spans: &[Span]) -> Self {
        self.spans.splice(0..0, spans.iter().cloned());
        self
    }

    /// Puts `right` at the end of a row of `columns`; what does not fit beside it is left out, the right side first.
    pub(crate) fn aligned(mut self, right: Line, columns: usize) -> Self {
        let (here, there) = (self.width(), right.width());
        if there == 0 || here + there + 2 > columns {
            return self.cut(columns);
        }
        self.push(" ".repeat(columns - here - there), Style::default());
        self.spans.extend(right.spans);
        self
    }

    /// Cut to `columns`, with an ellipsis where something is missing.
    pub(crate) fn cut(mut self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let mut left = columns;
        let mut kept = Vec::new();
        for mut span in std::mem::take(&mut self.spans) {
            let wide = width(&span.text);
            if wide < left {
                left -= wide;
                kept.push(span);
                continue;
            }
            span.text = super::width::fit(&format!("{} ", span.text), left);
            kept.push(span);
            break;
        }
        Self { spans: kept }
    }

    /// Every span stands on `ground`, and so does the rest of the row.
    pub(crate) fn on(mut self, ground: Ground, columns: usize) -> Self {
        let missing = columns.saturating_sub(self.width());
        self.push(" ".repeat(missing), Style::default());
        for span in &mut self.spans {
            if span.style.ground == Ground::None {
                span.style.ground = ground;
            }
        }
        self
    }

    /// What it says, without style.
    pub(crate) fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }
}
