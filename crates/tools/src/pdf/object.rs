//! The words that a PDF is made of.

use std::collections::BTreeMap;

/// Deeper than anything that is meant well.
const MAX_DEPTH: usize = 40;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Object {
    Null,
    Number(f64),
    Text(Vec<u8>),
    Name(String),
    Array(Vec<Object>),
    Dict(Dict),
    Reference(u32),
    /// Anything else: an operator, `true`, `obj`.
    Word(String),
}

pub(super) type Dict = BTreeMap<String, Object>;

impl Object {
    pub(super) fn number(&self) -> Option<f64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    pub(super) fn name(&self) -> Option<&str> {
        if let Self::Name(name) = self { Some(name) } else { None }
    }

    pub(super) fn array(&self) -> Option<&[Object]> {
        if let Self::Array(items) = self { Some(items) } else { None }
    }

    pub(super) fn dict(&self) -> Option<&Dict> {
        if let Self::Dict(dict) = self { Some(dict) } else { None }
    }
}

/// Reads one word after the other.
#[derive(Clone)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, 0 | b'\t' | b'\n' | 0x0c | b'\r' | b' ')
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b'(' | b')' | b'<' | b'>' | b'[' | b']' | b'{' | b'}' | b'/' | b'%')
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    pub(super) fn skip_blank(&mut self) {
        while let Some(byte) = self.peek(0) {
            if byte == b'%' {
                while self.peek(0).is_some_and(|byte| byte != b'\n' && byte != b'\r') {
                    self.at += 1;
                }
            } else if is_blank(byte) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    /// The next object; none at the end. `5 0 R` is one.
    pub(super) fn next(&mut self) -> Option<Object> {
        self.object(0)
    }

    fn object(&mut self, depth: usize) -> Option<Object> {
        self.skip_blank();
        let byte = self.peek(0)?;
        match byte {
            b'/' => Some(Object::Name(self.name())),
            b'(' => Some(Object::Text(self.literal())),
            b'<' if self.peek(1) == Some(b'<') => {
                self.at += 2;
                Some(Object::Dict(self.dict(depth)?))
            }
            b'<' => Some(Object::Text(self.hex())),
            b'[' => {
                self.at += 1;
                self.array(depth)
            }
            b'0'..=b'9' | b'+' | b'-' | b'.' => Some(self.number_or_reference()),
            b'>' if self.peek(1) == Some(b'>') => self.word(2),
            byte if is_delimiter(byte) => self.word(1),
            _ => {
                let rest = &self.bytes[self.at..];
                let length = rest.iter().position(|byte| is_blank(*byte) || is_delimiter(*byte));
                match self.word(length.unwrap_or(rest.len()))? {
                    Object::Word(word) if word == "null" => Some(Object::Null),
                    word => Some(word),
                }
            }
        }
    }

    fn word(&mut self, length: usize) -> Option<Object> {
        let word = String::from_utf8_lossy(self.bytes.get(self.at..self.at + length)?).into_owned();
        self.at += length;
        Some(Object::Word(word))
    }

    fn dict(&mut self, depth: usize) -> Option<Dict> {
        let mut dict = Dict::new();
        if depth > MAX_DEPTH {
            return None;
        }
        loop {
            match self.object(depth + 1)? {
                Object::Name(name) => {
                    let value = self.object(depth + 1)?;
                    if value == Object::Word(">>".to_owned()) {
                        return Some(dict);
                    }
                    dict.insert(name, value);
                }
                Object::Word(word) if word == ">>" => return Some(dict),
                // Whatever this is, the next name may be one again.
                _ => {}
            }
        }
    }

    fn array(&mut self, depth: usize) -> Option<Object> {
        let mut items = Vec::new();
        if depth > MAX_DEPTH {
            return None;
        }
        loop {
            match self.object(depth + 1)? {
                Object::Word(word) if word == "]" => return Some(Object::Array(items)),
                item => items.push(item),
            }
        }
    }

    fn name(&mut self) -> String {
        self.at += 1;
        let mut name = Vec::new();
        while let Some(byte) = self.peek(0).filter(|byte| !is_blank(*byte) && !is_delimiter(*byte)) {
            self.at += 1;
            let code = (byte == b'#').then(|| self.bytes.get(self.at..self.at + 2)).flatten();
            match code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()) {
                Some(code) => {
                    name.push(code);
                    self.at += 2;
                }
                None => name.push(byte),
            }
        }
        String::from_utf8_lossy(&name).into_owned()
    }

    fn number(&mut self) -> f64 {
        let rest = &self.bytes[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.');
        let length = rest.iter().take(40).take_while(|byte| is_part(byte)).count().max(1);
        let text = String::from_utf8_lossy(&rest[..length]).into_owned();
        self.at += length;
        text.parse().unwrap_or(0.0)
    }

    fn number_or_reference(&mut self) -> Object {
        let number = self.number();
        let mut ahead = self.clone();
        ahead.skip_blank();
        let is_count = |lexer: &Self| lexer.peek(0).is_some_and(|byte| byte.is_ascii_digit());
        if number >= 0.0 && number.fract() == 0.0 && number < f64::from(u32::MAX) && is_count(&ahead) {
            ahead.number();
            ahead.skip_blank();
            let ends = ahead.peek(1).is_none_or(|byte| is_blank(byte) || is_delimiter(byte));
            if ahead.peek(0) == Some(b'R') && ends {
                self.at = ahead.at + 1;
                return Object::Reference(number as u32);
            }
        }
        Object::Number(number)
    }

    fn literal(&mut self) -> Vec<u8> {
        self.at += 1;
        let (mut text, mut open) = (Vec::new(), 1);
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                b'\\' => {
                    self.escape(&mut text);
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        text
    }

    fn escape(&mut self, text: &mut Vec<u8>) {
        let Some(byte) = self.peek(0) else { return };
        self.at += 1;
        match byte {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'b' => text.push(8),
            b'f' => text.push(12),
            b'\n' => {}
            b'\r' => {
                if self.peek(0) == Some(b'\n') {
                    self.at += 1;
                }
            }
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let Some(digit) = self.peek(0).filter(|byte| (b'0'..=b'7').contains(byte)) else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                text.push(code as u8);
            }
            other => text.push(other),
        }
    }

    fn hex(&mut self) -> Vec<u8> {
        self.at += 1;
        let mut digits = Vec::new();
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            match char::from(byte).to_digit(16) {
                Some(digit) => digits.push(digit as u8),
                None if byte == b'>' => break,
                None => {}
            }
        }
        digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
    }
}
