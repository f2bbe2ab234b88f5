//! Making Markdown of a page, in one pass over its tags.
//!
//! No tree is built: a page comes from anybody, and one that nests a million tags or never closes any takes no more time
//! or stack than another. What it is worse at, such as tables inside of tables, a reader of text hardly misses.

mod entity;
mod tag;
#[cfg(test)]
mod tests;

use net::Url;

use entity::decode;
use tag::{Piece, Pieces};

/// Deeper lists and quotations are not indented further.
const MAX_DEPTH: usize = 8;

/// Left out with everything in them: what is not the text of the page.
const SKIPPED: [&str; 15] = [
    "script", "style", "noscript", "template", "svg", "iframe", "nav", "footer", "aside", "form", "button",
    "select", "canvas", "object", "dialog",
];

/// The title of a page, and its text as Markdown.
pub(super) fn convert(html: &str, base: &Url) -> (Option<String>, String) {
    let title =
        tag::between(html, "title").map(|text| collapse(&decode(text))).filter(|text| !text.is_empty());
    // Most pages say where their text is.
    for name in ["main", "article"] {
        if let Some(part) = tag::between(html, name) {
            let text = Writer::new(base).write(part);
            if text.len() > 200 {
                return (title, text);
            }
        }
    }
    let body = tag::between(html, "body").unwrap_or(html);
    (title, Writer::new(base).write(body))
}

struct Writer<'a> {
    base: &'a Url,
    out: String,
    lists: Vec<Option<u32>>,
    quotes: usize,
    /// As it was when the last line began.
    quoted: usize,
    /// Bold, italic and code that is open.
    marks: Vec<&'static str>,
    /// The tag whose content is left out, and how often it was opened in itself.
    skipping: Option<(String, usize)>,
    preformatted: bool,
    /// A link that is open: where its text starts, and where it leads.
    link: Option<(usize, String)>,
    cells: usize,
    heads: usize,
    space: bool,
    breaks: usize,
}

impl<'a> Writer<'a> {
    fn new(base: &'a Url) -> Self {
        Self {
            base,
            out: String::new(),
            lists: Vec::new(),
            quotes: 0,
            quoted: 0,
            marks: Vec::new(),
            skipping: None,
            preformatted: false,
            link: None,
            cells: 0,
            heads: 0,
            space: false,
            breaks: 0,
        }
    }

    fn write(mut self, html: &str) -> String {
        for piece in Pieces::new(html) {
            match piece {
                Piece::Text(text) if self.skipping.is_none() => self.text(&decode(text)),
                Piece::Open(tag) if self.skipping.is_none() => self.open(&tag),
                Piece::Close(name) if self.skipping.is_none() => self.close(&name),
                Piece::Open(tag) => {
                    if let Some((name, depth)) = &mut self.skipping
                        && *name == tag.name
                    {
                        *depth += 1;
                    }
                }
                Piece::Close(closed) => {
                    if let Some((name, depth)) = &mut self.skipping
                        && *name == closed
                    {
                        *depth -= 1;
                        if *depth == 0 {
                            self.skipping = None;
                        }
                    }
                }
                Piece::Text(_) => {}
            }
        }
        self.close("a");
        if self.preformatted {
            self.close("pre");
        }
        let text = self.out.trim();
        if text.is_empty() { String::new() } else { format!("{text}\n") }
    }

    fn text(&mut self, text: &str) {
        if self.preformatted {
            self.out.push_str(text);
            return;
        }
        for word in text.split_inclusive(char::is_whitespace) {
            let bare = word.trim_end_matches(char::is_whitespace);
            if !bare.is_empty() {
                self.word(bare);
            }
            self.space |= bare.len() < word.len();
        }
    }

    /// Puts something on the line, after the breaks or the space that are due.
    fn word(&mut self, word: &str) {
        if self.breaks > 0 {
            self.new_lines();
        } else if self.space && !self.out.is_empty() && !self.out.ends_with(['\n', ' ']) {
            self.out.push(' ');
        }
        self.space = false;
        self.out.push_str(word);
    }

    fn new_lines(&mut self) {
        let breaks = std::mem::take(&mut self.breaks);
        let quotes = self.quotes.min(MAX_DEPTH);
        let prefix = "> ".repeat(quotes);
        let between = "> ".repeat(quotes.min(std::mem::replace(&mut self.quoted, quotes)));
        let kept = self.out.trim_end_matches([' ', '\n']).len();
        // An open link begins after the break.
        let link_is_empty = self.link.as_ref().is_some_and(|(start, _)| *start >= kept);
        self.out.truncate(kept);
        if !self.out.is_empty() {
            for _ in 1..breaks.min(2) {
                self.out.push('\n');
                self.out.push_str(between.trim_end());
            }
            self.out.push('\n');
        }
        self.out.push_str(&prefix);
        if let (true, Some((start, _))) = (link_is_empty, &mut self.link) {
            *start = self.out.len();
        }
        self.space = false;
    }

    fn break_line(&mut self, breaks: usize) {
        self.breaks = self.breaks.max(breaks);
    }

    fn open(&mut self, tag: &tag::Tag<'_>) {
        let name = tag.name.as_str();
        if SKIPPED.contains(&name) || tag.attribute("hidden").is_some() && !tag.is_void() {
            self.skipping = Some((name.to_owned(), 1));
            return;
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.break_line(2);
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.word(&"#".repeat(level));
                self.space = true;
            }
            "p" | "table" | "figure" | "dl" | "section" | "article" | "main" | "header" => self.break_line(2),
            "div" | "dt" | "dd" | "figcaption" | "summary" | "details" | "address" => self.break_line(1),
            "br" => self.break_line(1),
            "hr" => {
                self.break_line(2);
                self.word("---");
                self.break_line(2);
            }
            "blockquote" => {
                self.break_line(2);
                self.quotes += 1;
            }
            "ul" => {
                self.break_line(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push(None);
            }
            "ol" => {
                self.break_line(if self.lists.is_empty() { 2 } else { 1 });
                self.lists.push(Some(1));
            }
            "li" => {
                self.break_line(1);
                let indent = "  ".repeat(self.lists.len().saturating_sub(1).min(MAX_DEPTH));
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{indent}{}.", *number - 1)
                    }
                    _ => format!("{indent}-"),
                };
                self.word(&mark);
                self.space = true;
            }
            "pre" => {
                self.break_line(2);
                self.word("```\n");
                self.preformatted = true;
            }
            "code" | "kbd" | "samp" | "tt" => self.mark("`"),
            "b" | "strong" => self.mark("**"),
            "i" | "em" => self.mark("*"),
            "a" => {
                self.close("a");
                if let Some(address) = tag.attribute("href").and_then(|href| self.address(&decode(&href))) {
                    self.word("");
                    self.link = Some((self.out.len(), address));
                }
            }
            "img" => {
                let alt = tag.attribute("alt").map(|alt| collapse(&decode(&alt))).unwrap_or_default();
                if !alt.is_empty() {
                    self.word(&format!("[image: {alt}]"));
                }
            }
            "tr" => {
                self.break_line(1);
                (self.cells, self.heads) = (0, 0);
            }
            "td" | "th" => {
                if self.cells > 0 {
                    self.space = true;
                    self.word("|");
                    self.space = true;
                }
                self.cells += 1;
                self.heads += usize::from(name == "th");
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "table" | "figure" | "dl" | "section"
            | "article" | "main" | "header" => self.break_line(2),
            "div" | "dt" | "dd" | "figcaption" | "summary" | "details" | "address" | "li" => {
                self.break_line(1)
            }
            "blockquote" => {
                self.quotes = self.quotes.saturating_sub(1);
                self.break_line(2);
            }
            "ul" | "ol" => {
                self.lists.pop();
                self.break_line(if self.lists.is_empty() { 2 } else { 1 });
            }
            "pre" if self.preformatted => {
                self.preformatted = false;
                self.breaks = 0;
                self.out.truncate(self.out.trim_end().len());
                self.out.push_str("\n```");
                self.break_line(2);
            }
            "code" | "kbd" | "samp" | "tt" => self.unmark("`"),
            "b" | "strong" => self.unmark("**"),
            "i" | "em" => self.unmark("*"),
            "a" => {
                if let Some((start, address)) = self.link.take() {
                    let text = self.out.get(start..).unwrap_or_default().trim().to_owned();
                    if !text.is_empty() && !text.contains('\n') && start <= self.out.len() {
                        self.out.truncate(start);
                        self.out.push_str(&format!("[{text}]({address})"));
                    }
                }
            }
            "tr" => {
                if self.heads > 0 && self.heads == self.cells {
                    self.break_line(1);
                    self.word(&vec!["---"; self.cells].join(" | "));
                }
                self.break_line(1);
            }
            _ => {}
        }
    }

    /// Opens bold, code and the like: after the space, before the word.
    fn mark(&mut self, mark: &'static str) {
        if !self.preformatted && self.marks.len() < MAX_DEPTH {
            self.word(mark);
            self.marks.push(mark);
        }
    }

    fn unmark(&mut self, mark: &str) {
        let Some(open) = self.marks.iter().rposition(|known| *known == mark) else { return };
        if self.preformatted {
            return;
        }
        self.marks.remove(open);
        // An empty pair is taken back.
        if self.out.ends_with(mark) && self.breaks == 0 {
            self.out.truncate(self.out.len() - mark.len());
        } else {
            self.out.push_str(mark);
        }
    }

    /// Where a link leads, as a whole address. Places on the same page and scripts are no links.
    fn address(&self, href: &str) -> Option<String> {
        let href = href.trim();
        if href.is_empty() || href.starts_with('#') || href.len() > 2000 {
            return None;
        }
        let url = self.base.join(href).ok()?;
        matches!(url.scheme(), "http" | "https" | "mailto").then(|| url.to_string())
    }
}

fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
