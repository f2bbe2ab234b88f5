//! Block by block, with what stands before each row: the bars of quotes, the marks of lists.

use std::sync::Arc;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};

use super::table::Table;
use crate::diff::hard_wrap;
use crate::highlight::{self, State};
use crate::text::{Indent, Ink, Line, Span, Style, wrap};

/// Deeper nesting is laid out like this depth.
const MAX_DEPTH: usize = 8;

pub(super) struct Layout {
    columns: usize,
    rows: Vec<Line>,
    containers: Vec<Container>,
    /// The text of the block under way.
    inline: Vec<Span>,
    styles: Vec<Style>,
    link: Option<Arc<str>>,
    code: Option<(String, String)>,
    table: Option<Table>,
    /// A blank row is due before the next block.
    gap: bool,
}

enum Container {
    Quote,
    List {
        next: Option<u64>,
        tight: bool,
    },
    /// The mark stands before its first row and is spaces before the others.
    Item {
        mark: String,
        used: bool,
    },
}

impl Layout {
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns: columns.max(4),
            rows: vec![],
            containers: vec![],
            inline: vec![],
            styles: vec![Style::default()],
            link: None,
            code: None,
            table: None,
            gap: false,
        }
    }

    pub(super) fn finish(mut self) -> Vec<Line> {
        self.flush();
        self.rows
    }

    pub(super) fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) if super::is_inline(&tag) => self.start_inline(tag),
            Event::End(tag) if super::is_inline_end(&tag) => self.end_inline(tag),
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text, self.style()),
            },
            Event::Code(text) => {
                let style = Style { ink: Ink::Code, ..self.style() };
                self.text(&text, style);
            }
            Event::Html(text) | Event::InlineHtml(text) => {
                let style = Style { ink: Ink::Faint, ..self.style() };
                self.text(text.trim_end_matches('\n'), style);
            }
            Event::SoftBreak => self.text(" ", self.style()),
            Event::HardBreak => self.flush_line(),
            Event::Rule => {
                self.flush();
                self.space();
                let width = self.room().min(40);
                self.emit(vec![Span::new("─".repeat(width), Ink::Line)]);
                self.gap = true;
            }
            Event::TaskListMarker(done) => {
                let (sign, ink) = if done { ("✓ ", Ink::Good) } else { ("○ ", Ink::Faint) };
                self.inline.push(Span::new(sign, ink));
            }
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text, Style::new(Ink::Code)),
            Event::FootnoteReference(name) => self.text(&format!("[{name}]"), Style::new(Ink::Faint)),
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn text(&mut self, text: &str, style: Style) {
        if let Some(table) = &mut self.table {
            table.text(text, style);
            return;
        }
        let style =
            if self.link.is_some() { Style { ink: Ink::Accent, underline: true, ..style } } else { style };
        match self.inline.last_mut() {
            Some(last) if last.style == style && last.link == self.link => last.text.push_str(text),
            _ => self.inline.push(Span { text: text.to_owned(), style, link: self.link.clone() }),
        }
    }

    fn start_inline(&mut self, tag: Tag<'_>) {
        let style = self.style();
        let next = match tag {
            Tag::Emphasis => style.italic(),
            Tag::Strong => style.bold(),
            Tag::Strikethrough => Style { strike: true, ..style },
            Tag::Link { dest_url, .. } => {
                self.link = safe_link(&dest_url);
                style
            }
            _ => Style { ink: Ink::Soft, ..style },
        };
        self.styles.push(next);
    }

    fn end_inline(&mut self, tag: TagEnd) {
        self.styles.pop();
        if tag == TagEnd::Link {
            self.link = None;
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                self.flush();
                let style = Style::default().bold();
                self.styles.push(if level <= HeadingLevel::H2 {
                    Style { ink: Ink::Accent, ..style }
                } else {
                    style
                });
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.space();
                self.containers.push(Container::Quote);
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split([' ', ',', '{']).next().unwrap_or_default().to_owned()
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(next) => {
                self.flush();
                let nested =
                    self.containers.iter().any(|container| matches!(container, Container::Item { .. }));
                if nested {
                    self.gap = false;
                }
                self.space();
                self.containers.push(Container::List { next, tight: true });
            }
            Tag::Item => {
                self.flush();
                let mark = match self.containers.last_mut() {
                    Some(Container::List { next: Some(number), .. }) => {
                        let mark = format!("{number}. ");
                        *number += 1;
                        mark
                    }
                    _ => "• ".to_owned(),
                };
                if let Some(Container::List { tight: true, .. }) = self.containers.last() {
                    self.gap = false;
                }
                self.containers.push(Container::Item { mark, used: false });
            }
            Tag::Table(alignments) => {
                self.flush();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.row();
                }
            }
            Tag::TableCell => {
                if let Some(table) = &mut self.table {
                    table.cell();
                }
            }
            Tag::Paragraph => {
                if let Some(Container::Item { used: true, .. }) = self.containers.last() {
                    // A second paragraph makes its list a loose one.
                    self.gap = true;
                }
            }
            _ => self.flush(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.flush(),
            TagEnd::Heading(_) => {
                self.flush();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) => {
                self.flush();
                self.containers.pop();
                self.gap = true;
            }
            TagEnd::Item => {
                self.flush();
                if let Some(Container::Item { used: false, .. }) = self.containers.last() {
                    self.emit(vec![]);
                }
                self.containers.pop();
                self.gap = false;
            }
            TagEnd::CodeBlock => {
                if let Some((language, code)) = self.code.take() {
                    self.code_block(&language, &code);
                }
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.space();
                    let room = self.room();
                    for line in table.rows(room) {
                        self.emit(line.spans);
                    }
                    self.gap = true;
                }
            }
            _ => self.flush(),
        }
    }

    fn code_block(&mut self, language: &str, code: &str) {
        self.space();
        let known = highlight::by_name(language);
        let room = self.room().saturating_sub(2).max(4);
        let mut state = State::Code;
        for text in code.trim_end_matches('\n').split('\n') {
            let spans = match (language, known) {
                ("diff" | "patch", _) => vec![Span::new(text, diff_ink(text))],
                (_, Some(known)) => {
                    let (spans, next) = highlight::line(text, known, state);
                    state = next;
                    spans
                }
                _ => vec![Span::new(text, Ink::Code)],
            };
            for line in hard_wrap(spans, room) {
                self.emit(line.led_by(&[Span::new("  ", Style::default())]).spans);
            }
        }
        self.gap = true;
    }

    /// The text so far as a block of its own.
    fn flush(&mut self) {
        if self.inline.is_empty() {
            return;
        }
        self.space();
        self.flush_line();
        self.gap = true;
    }

    /// The text so far as rows.
    fn flush_line(&mut self) {
        let spans = std::mem::take(&mut self.inline);
        let (first, rest) = self.leads();
        self.rows.extend(wrap(&spans, self.columns, &Indent { first, rest }));
    }

    fn emit(&mut self, spans: Vec<Span>) {
        let (first, _) = self.leads();
        self.rows.push(Line { spans }.led_by(&first));
    }

    fn space(&mut self) {
        if std::mem::take(&mut self.gap) && !self.rows.is_empty() {
            let bars: Vec<Span> = self.leads_without_marks();
            self.rows.push(Line { spans: bars });
        }
    }

    fn room(&self) -> usize {
        let lead: usize = self.leads_without_marks().iter().map(|span| crate::text::width(&span.text)).sum();
        self.columns.saturating_sub(lead).max(4)
    }

    fn leads_without_marks(&self) -> Vec<Span> {
        let shown = self.containers.iter().filter_map(|container| match container {
            Container::Quote => Some(Span::new("│ ", Ink::Line)),
            Container::List { .. } => None,
            Container::Item { mark, .. } => Some(Span::new(" ".repeat(crate::text::width(mark)), Ink::Text)),
        });
        shown.take(MAX_DEPTH).collect()
    }

    /// What stands before the next row, and before those after it.
    fn leads(&mut self) -> (Vec<Span>, Vec<Span>) {
        let rest = self.leads_without_marks();
        let mut first = Vec::new();
        for container in &mut self.containers {
            match container {
                Container::Quote => first.push(Span::new("│ ", Ink::Line)),
                Container::List { .. } => {}
                Container::Item { mark, used } => {
                    let ink = if *used { Ink::Text } else { Ink::Accent };
                    let text = if *used { " ".repeat(crate::text::width(mark)) } else { mark.clone() };
                    *used = true;
                    first.push(Span::new(text, ink));
                }
            }
        }
        first.truncate(MAX_DEPTH);
        (first, rest)
    }
}

fn diff_ink(text: &str) -> Style {
    Style::new(match text.as_bytes().first() {
        Some(b'+') => Ink::Good,
        Some(b'-') => Ink::Danger,
        Some(b'@') => Ink::Faint,
        _ => Ink::Text,
    })
}

/// A link goes into an escape sequence, so it may hold nothing that ends one.
fn safe_link(url: &str) -> Option<Arc<str>> {
    let known = ["http://", "https://", "mailto:", "file://"].iter().any(|scheme| url.starts_with(scheme));
    (known && url.len() < 2000 && url.bytes().all(|byte| (0x21..0x7f).contains(&byte))).then(|| url.into())
}
