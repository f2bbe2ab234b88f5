//! From the codes in a page to text, and how wide they are.

use std::collections::BTreeMap;

use super::document::Document;
use super::glyphs;
use super::object::{Dict, Lexer, Object};

/// Codes that one table may name.
const MAX_CODES: usize = 70_000;
/// Of a glyph whose width nobody tells, in thousandths of the font's size.
const SOME_WIDTH: f64 = 500.0;

#[derive(Default)]
pub(super) struct Font {
    /// Bytes of a code.
    wide: bool,
    /// From the table that the font brings along.
    told: BTreeMap<u32, String>,
    /// Glyphs that are called by name.
    named: BTreeMap<u32, String>,
    widths: BTreeMap<u32, f64>,
    other_width: f64,
    /// What its codes stand for is told somewhere that is not in the file. To guess would give wrong letters.
    is_lost: bool,
}

/// One code of a text.
pub(super) struct Glyph {
    /// Empty when nobody knows what it stands for.
    pub(super) text: String,
    pub(super) width: f64,
    /// A blank of one byte, which is stretched in justified text.
    pub(super) is_blank: bool,
}

impl Font {
    /// One that is not in the file.
    pub(super) fn lost() -> Self {
        Self { is_lost: true, other_width: SOME_WIDTH, ..Self::default() }
    }

    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    pub(super) fn read(document: &Document<'_>, dict: &Dict) -> Self {
        let mut font = Self { other_width: SOME_WIDTH, ..Self::default() };
        font.is_lost = document.lacks(dict, "ToUnicode") || document.lacks(dict, "Encoding");
        font.wide = document.field(dict, "Subtype").name() == Some("Type0");
        if let Some((_, table)) = dict.get("ToUnicode").and_then(|table| document.stream(table)) {
            font.told = to_unicode(&table);
            // Codes of its own: one that the table lacks, which may be cut off, is no letter of the usual ones.
            let is_own = |(code, text): (&u32, &String)| {
                let usual = char::from_u32(*code).filter(char::is_ascii_graphic);
                usual.is_some_and(|usual| !text.starts_with(usual))
            };
            font.is_lost |= font.told.iter().any(is_own);
        }
        if font.wide {
            let inner = document.field(dict, "DescendantFonts").array().and_then(|fonts| fonts.first());
            if let Some(inner) = inner.and_then(|inner| document.resolve(inner).dict()) {
                font.other_width = document.field(inner, "DW").number().unwrap_or(1000.0);
                font.wide_widths(document, inner);
            }
            return font;
        }
        let first = document.field(dict, "FirstChar").number().unwrap_or(0.0) as u32;
        for (at, width) in
            document.field(dict, "Widths").array().unwrap_or_default().iter().take(256).enumerate()
        {
            let width = document.resolve(width).number().unwrap_or(SOME_WIDTH);
            font.widths.insert(first.saturating_add(at as u32), width);
        }
        if let Some(encoding) = document.field(dict, "Encoding").dict() {
            let mut code = 0;
            for item in document.field(encoding, "Differences").array().unwrap_or_default().iter().take(1024)
            {
                match item {
                    Object::Number(number) => code = *number as u32,
                    Object::Name(name) => {
                        font.named.extend(glyphs::named(name).map(|text| (code, text)));
                        code += 1;
                    }
                    _ => {}
                }
            }
        }
        font
    }

    /// `[first [w w w] first last w …]`
    fn wide_widths(&mut self, document: &Document<'_>, dict: &Dict) {
        let mut items = document.field(dict, "W").array().unwrap_or_default().iter();
        while let Some(first) = items.next().and_then(Object::number) {
            let first = first as u32;
            match items.next().map(|item| document.resolve(item)) {
                Some(Object::Array(widths)) => {
                    for (at, width) in widths.iter().enumerate() {
                        let width = width.number().unwrap_or(self.other_width);
                        self.widths.insert(first.saturating_add(at as u32), width);
                    }
                }
                Some(Object::Number(last)) => {
                    let Some(width) = items.next().and_then(Object::number) else { return };
                    let last = (*last as u32).min(first.saturating_add(0xffff));
                    self.widths.extend((first..=last).map(|code| (code, width)));
                }
                _ => return,
            }
            if self.widths.len() > MAX_CODES {
                return;
            }
        }
    }

    pub(super) fn glyphs<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = Glyph> + 'a {
        let size = if self.wide { 2 } else { 1 };
        bytes.chunks(size).map(move |code| {
            let number = code.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
            let width = self.widths.get(&number).copied().unwrap_or(self.other_width);
            Glyph { text: self.text(number), width, is_blank: !self.wide && number == 32 }
        })
    }

    fn text(&self, code: u32) -> String {
        if let Some(text) = self.told.get(&code).or_else(|| self.named.get(&code)) {
            return text.clone();
        }
        match u8::try_from(code) {
            Ok(b' ') if !self.wide => " ".to_owned(),
            Ok(byte) if !self.wide && !self.is_lost && byte >= 32 => glyphs::windows(byte).to_string(),
            _ => String::new(),
        }
    }
}

/// The table that says what codes stand for.
fn to_unicode(table: &[u8]) -> BTreeMap<u32, String> {
    let mut told = BTreeMap::new();
    let mut lexer = Lexer::new(table, 0);
    let mut items: Vec<Object> = Vec::new();
    while let Some(object) = lexer.next() {
        if told.len() > MAX_CODES || items.len() > MAX_CODES {
            break;
        }
        match object {
            Object::Word(word) => {
                match word.as_str() {
                    "endbfchar" => pairs(&items, &mut told),
                    "endbfrange" => ranges(&items, &mut told),
                    _ => {}
                }
                items.clear();
            }
            item => items.push(item),
        }
    }
    told
}

fn pairs(items: &[Object], told: &mut BTreeMap<u32, String>) {
    for pair in items.chunks_exact(2) {
        if let [Object::Text(code), Object::Text(text)] = pair {
            told.insert(number(code), utf16(text));
        }
    }
}

fn ranges(items: &[Object], told: &mut BTreeMap<u32, String>) {
    for range in items.chunks_exact(3) {
        let [Object::Text(first), Object::Text(last), to] = range else { continue };
        let (first, last) = (number(first), number(last));
        match to {
            Object::Text(text) => {
                let Some((end, head)) = text.split_last() else { continue };
                // Only the last byte counts on.
                for (at, code) in (first..=last.min(first.saturating_add(255))).enumerate() {
                    let text = [head, &[end.wrapping_add(at as u8)]].concat();
                    told.insert(code, utf16(&text));
                }
            }
            Object::Array(texts) => {
                for (code, text) in (first..=last).zip(texts) {
                    if let Object::Text(text) = text {
                        told.insert(code, utf16(text));
                    }
                }
            }
            _ => {}
        }
    }
}

fn number(code: &[u8]) -> u32 {
    code.iter().take(4).fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn utf16(bytes: &[u8]) -> String {
    let units: Vec<u16> =
        bytes.chunks(2).map(|pair| pair.iter().fold(0, |unit, byte| unit << 8 | u16::from(*byte))).collect();
    let text: String =
        char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).filter(|c| !c.is_control()).collect();
    glyphs::plain(text)
}
