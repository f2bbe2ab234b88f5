//! What a person does at the terminal, read from the bytes that it sends.

mod decode;

use std::fmt;

pub(crate) use decode::Decoder;

/// Something that the terminal told us.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Signal {
    Key(Key),
    /// Pasted at once, with its line breaks.
    Paste(String),
    Focus(bool),
    Scroll {
        up: bool,
    },
    /// The answer to the question for the background colour.
    Background(u8, u8, u8),
    /// The terminal can show pictures.
    Pictures,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) code: Code,
    pub(crate) ctrl: bool,
    pub(crate) alt: bool,
    pub(crate) shift: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Code {
    Char(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Insert,
    Esc,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

impl Key {
    pub(crate) const fn plain(code: Code) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }
    }

    pub(crate) const fn char(c: char) -> Self {
        Self::plain(Code::Char(c))
    }

    pub(crate) const fn ctrl(c: char) -> Self {
        Self { ctrl: true, ..Self::char(c) }
    }

    /// The character it types, if that is what it does.
    pub(crate) fn typed(self) -> Option<char> {
        match self.code {
            Code::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }

    /// From the way people write keys: `ctrl-r`, `alt-enter`, `shift-tab`, `f2`, `?`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut key = Self::plain(Code::Esc);
        let mut rest = text;
        loop {
            let lower = rest.to_ascii_lowercase();
            let (flag, length) = match lower.as_str() {
                name if name.starts_with("ctrl-") && name.len() > 5 => (&mut key.ctrl, 5),
                name if name.starts_with("alt-") && name.len() > 4 => (&mut key.alt, 4),
                name if name.starts_with("shift-") && name.len() > 6 => (&mut key.shift, 6),
                _ => break,
            };
            *flag = true;
            rest = &rest[length..];
        }
        let mut chars = rest.chars();
        key.code = match (chars.next(), chars.next()) {
            (Some(c), None) => Code::Char(if key.ctrl { c.to_ascii_lowercase() } else { c }),
            _ => match rest.to_ascii_lowercase().as_str() {
                "enter" | "return" => Code::Enter,
                "tab" => Code::Tab,
                "space" => Code::Char(' '),
                "backspace" => Code::Backspace,
                "delete" | "del" => Code::Delete,
                "insert" => Code::Insert,
                "esc" | "escape" => Code::Esc,
                "up" => Code::Up,
                "down" => Code::Down,
                "left" => Code::Left,
                "right" => Code::Right,
                "home" => Code::Home,
                "end" => Code::End,
                "pageup" => Code::PageUp,
                "pagedown" => Code::PageDown,
                name => Code::F(name.strip_prefix('f')?.parse().ok().filter(|n| (1..=24).contains(n))?),
            },
        };
        Some(key)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = String::new();
        for (on, word) in [(self.ctrl, "ctrl-"), (self.alt, "alt-"), (self.shift, "shift-")] {
            if on {
                name.push_str(word);
            }
        }
        match self.code {
            Code::Char(' ') => name.push_str("space"),
            Code::Char(c) => name.push(c),
            Code::F(number) => name.push_str(&format!("f{number}")),
            code => name.push_str(&format!("{code:?}").to_ascii_lowercase()),
        }
        f.pad(&name)
    }
}
