//! Cutting a page into text and tags.

/// What a page is made of.
pub(super) enum Piece<'a> {
    Text(&'a str),
    Open(Tag<'a>),
    Close(String),
}

pub(super) struct Tag<'a> {
    /// In lower case.
    pub(super) name: String,
    attributes: &'a str,
}

impl Tag<'_> {
    /// The value of an attribute; empty when it has none.
    pub(super) fn attribute(&self, wanted: &str) -> Option<String> {
        let mut rest = self.attributes.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_whitespace() || c == '=' || c == '/').unwrap_or(rest.len());
            let (name, after) = rest.split_at(end.max(rest.chars().next().map_or(0, char::len_utf8)));
            let after = after.trim_start();
            let (value, after) = match after.strip_prefix('=') {
                None => ("", after),
                Some(after) => value(after.trim_start()),
            };
            if name.eq_ignore_ascii_case(wanted) {
                return Some(value.to_owned());
            }
            rest = after.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
        }
        None
    }

    /// Whether such a tag is never closed.
    pub(super) fn is_void(&self) -> bool {
        matches!(
            self.name.as_str(),
            "area"
                | "base"
                | "br"
                | "col"
                | "embed"
                | "hr"
                | "img"
                | "input"
                | "link"
                | "meta"
                | "source"
                | "wbr"
        )
    }
}

/// A value and what comes after it.
fn value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            return inner.split_once(quote).unwrap_or((inner, ""));
        }
    }
    text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()))
}

/// The pieces of a page, in order. Every byte is looked at a fixed number of times.
pub(super) struct Pieces<'a> {
    rest: &'a str,
    /// The tag whose content is no markup: everything up to its end is text of it.
    raw: Option<String>,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(html: &'a str) -> Self {
        Self { rest: html, raw: None }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            if let Some(name) = self.raw.take() {
                // The content of a script or style is passed over; its closing tag is seen next.
                let end = find_close(self.rest, &name).map_or(self.rest.len(), |(start, _)| start);
                self.rest = &self.rest[end..];
            }
            if self.rest.is_empty() {
                return None;
            }
            let Some(start) = self.rest.find('<') else {
                return Some(Piece::Text(std::mem::take(&mut self.rest)));
            };
            if start > 0 {
                let (text, rest) = self.rest.split_at(start);
                self.rest = rest;
                return Some(Piece::Text(text));
            }
            let after = &self.rest[1..];
            if let Some(comment) = after.strip_prefix("!--") {
                self.rest = comment.split_once("-->").map_or("", |(_, rest)| rest);
                continue;
            }
            let is_close = after.starts_with('/');
            let body = after.strip_prefix('/').unwrap_or(after);
            if body.starts_with(|c: char| c.is_ascii_alphabetic()) {
                let end = end_of_tag(body);
                let (tag, rest) = (&body[..end], body.get(end + 1..).unwrap_or_default());
                self.rest = rest;
                let length = tag.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(tag.len());
                let name = tag[..length].to_ascii_lowercase();
                if is_close {
                    return Some(Piece::Close(name));
                }
                if matches!(name.as_str(), "script" | "style" | "textarea" | "title") {
                    self.raw = Some(name.clone());
                }
                return Some(Piece::Open(Tag { name, attributes: &tag[length..] }));
            }
            if after.starts_with(['!', '?', '/']) {
                self.rest = after.split_once('>').map_or("", |(_, rest)| rest);
                continue;
            }
            // A lone `<` is text.
            let (text, rest) = self.rest.split_at(1);
            self.rest = rest;
            return Some(Piece::Text(text));
        }
    }
}

/// Where a tag ends: at the first `>` that is in no quotes.
fn end_of_tag(body: &str) -> usize {
    let mut quote = None;
    let mut before = b' ';
    for (at, byte) in body.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at,
            // Only a value is quoted; elsewhere it is a slip of the writer.
            (None, b'"' | b'\'') if before == b'=' => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    body.len()
}

/// What is between the first opening of a tag and its last closing.
pub(super) fn between<'a>(html: &'a str, name: &str) -> Option<&'a str> {
    let open = find_tag(html, name)?;
    let inside = &html[open..];
    let inside = &inside[end_of_tag(inside) + 1..];
    let mut end = None;
    let mut from = 0;
    while let Some((start, after)) = find_close(&inside[from..], name) {
        end = Some(from + start);
        from += after;
        // Of a title only the first one counts.
        if name == "title" {
            break;
        }
    }
    Some(&inside[..end.unwrap_or(inside.len())])
}

/// Where `<name` stands, if a whole tag does.
fn find_tag(html: &str, name: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = html[from..].find('<') {
        let start = from + at + 1;
        let is_it = html.as_bytes().get(start..start + name.len()).is_some_and(|word| {
            word.eq_ignore_ascii_case(name.as_bytes())
                && html
                    .as_bytes()
                    .get(start + name.len())
                    .is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'-')
        });
        if is_it {
            // One that never ends is none, and neither is any after it.
            return (end_of_tag(&html[start..]) < html.len() - start).then_some(start);
        }
        from = start;
    }
    None
}

/// Where `</name` starts and where its name ends.
fn find_close(html: &str, name: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(at) = html[from..].find("</") {
        let start = from + at;
        let word = start + 2;
        if html
            .as_bytes()
            .get(word..word + name.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
        {
            return Some((start, word + name.len()));
        }
        from = word;
    }
    None
}
