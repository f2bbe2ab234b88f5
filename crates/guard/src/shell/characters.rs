//! Moving over text, and the escapes of `$'…'`.

use super::syntax::ParseError;

/// How deep things may be nested. Nobody writes more by hand, and the stack is not endless.
const MAX_DEPTH: usize = 48;

/// A place in a text.
pub(super) struct Characters<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) depth: usize,
}

impl<'t> Characters<'t> {
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn looking_at(&self, wanted: &str) -> bool {
        self.rest().starts_with(wanted)
    }

    pub(super) fn eat(&mut self, wanted: &str) -> bool {
        let there = self.looking_at(wanted);
        if there {
            self.at += wanted.len();
        }
        there
    }

    /// One character, whole.
    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    pub(super) fn wrong<T>(&self, problem: &'static str) -> Result<T, ParseError> {
        Err(ParseError { problem, at: self.text[..self.at].chars().count() + 1 })
    }

    pub(super) fn deeper(&mut self) -> Result<(), ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { self.wrong("it is nested too deeply") } else { Ok(()) }
    }

    /// What is up to `end`, which is passed over.
    pub(super) fn until(&mut self, end: char, problem: &'static str) -> Result<&'t str, ParseError> {
        match self.rest().find(end) {
            Some(length) => {
                let found = &self.rest()[..length];
                self.at += length + end.len_utf8();
                Ok(found)
            }
            None => self.wrong(problem),
        }
    }
}

/// The text of `$'…'`, from behind the opening quote to behind the closing one.
pub(super) fn ansi(characters: &mut Characters<'_>) -> Result<String, ParseError> {
    let mut bytes = Vec::new();
    loop {
        let Some(c) = characters.next() else { return characters.wrong("a quote is not closed") };
        match c {
            '\'' => break,
            '\\' => escape(characters, &mut bytes)?,
            c => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn escape(characters: &mut Characters<'_>, bytes: &mut Vec<u8>) -> Result<(), ParseError> {
    let Some(c) = characters.next() else { return characters.wrong("a quote is not closed") };
    let plain = |bytes: &mut Vec<u8>, c: char| bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
    match c {
        'n' => bytes.push(b'\n'),
        't' => bytes.push(b'\t'),
        'r' => bytes.push(b'\r'),
        'a' => bytes.push(7),
        'b' => bytes.push(8),
        'e' | 'E' => bytes.push(27),
        'f' => bytes.push(12),
        'v' => bytes.push(11),
        'x' => bytes.push(digits(characters, 16, 2).unwrap_or(0) as u8),
        'u' => plain(bytes, digits(characters, 16, 4).and_then(char::from_u32).unwrap_or('\u{fffd}')),
        'U' => plain(bytes, digits(characters, 16, 8).and_then(char::from_u32).unwrap_or('\u{fffd}')),
        'c' => bytes.push(characters.next().map_or(0, |c| (c as u32 & 0x1f) as u8)),
        '0'..='7' => {
            characters.at -= 1;
            bytes.push(digits(characters, 8, 3).unwrap_or(0) as u8);
        }
        c => plain(bytes, c),
    }
    Ok(())
}

fn digits(characters: &mut Characters<'_>, radix: u32, most: usize) -> Option<u32> {
    let rest = characters.rest();
    let length = rest.bytes().take(most).take_while(|byte| (*byte as char).is_digit(radix)).count();
    characters.at += length;
    u32::from_str_radix(&rest[..length], radix).ok()
}

/// The escapes that `printf` and `echo -e` know, as text.
pub(crate) fn unescape(text: &str) -> String {
    // The quote ends the text for `ansi`, and has no meaning here.
    let closed = text.replace('\'', "\\'") + "'";
    let mut characters = Characters { text: &closed, at: 0, depth: 0 };
    ansi(&mut characters).unwrap_or_else(|_| text.to_owned())
}
