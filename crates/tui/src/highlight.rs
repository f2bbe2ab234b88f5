//! Colours for code: a small lexer that knows comments, literals, numbers and words of many languages.
//!
//! It is wrong about corner cases and never slow: one pass, no tables to load, state for a line break only. A grammar
//! for every language would cost more at start-up than everything else together.

use crate::text::{Ink, Span, Style};

mod languages;

pub(crate) use languages::{Language, by_name};

const SMALL_TYPES: &[&str] = &[
    "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str", "u8", "u16", "u32",
    "u64", "u128", "usize",
];

/// What a line begins in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum State {
    #[default]
    Code,
    /// A comment up to this.
    Comment(&'static str),
    /// A literal up to this.
    Literal(&'static str),
}

/// One line of code in colours, and how the next one begins.
pub(crate) fn line(text: &str, language: &Language, state: State) -> (Vec<Span>, State) {
    let mut lexer = Lexer { text, at: 0, spans: Vec::new(), language };
    let next = lexer.run(state);
    (lexer.spans, next)
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    spans: Vec<Span>,
    language: &'a Language,
}

impl Lexer<'_> {
    fn run(&mut self, state: State) -> State {
        match state {
            State::Code => {}
            State::Comment(end) => {
                if !self.until(end, Ink::Comment) {
                    return state;
                }
            }
            State::Literal(end) => {
                if !self.until(end, Ink::Literal) {
                    return state;
                }
            }
        }
        while self.at < self.text.len() {
            if let Some(next) = self.token() {
                return next;
            }
        }
        State::Code
    }

    /// One token; a state if the line ended inside it.
    fn token(&mut self) -> Option<State> {
        let rest = &self.text[self.at..];
        let language = self.language;
        if language.comments.iter().any(|mark| rest.starts_with(mark)) {
            // In shells and the like a mark within a word is no comment.
            let free = self.at == 0
                || !language.words_hold_marks
                || self.text[..self.at].ends_with(char::is_whitespace);
            if free {
                self.take(rest.len(), Ink::Comment);
                return None;
            }
        }
        if let Some((begin, end)) = language.blocks.iter().find(|(begin, _)| rest.starts_with(begin)) {
            self.take(begin.len(), Ink::Comment);
            return if self.until(end, Ink::Comment) { None } else { Some(State::Comment(end)) };
        }
        if let Some(mark) = language.long_literals.iter().find(|mark| rest.starts_with(**mark)) {
            self.take(mark.len(), Ink::Literal);
            return if self.until(mark, Ink::Literal) { None } else { Some(State::Literal(mark)) };
        }
        let c = rest.chars().next()?;
        if language.quotes.contains(c) && !self.is_lifetime(rest) {
            self.quoted(c);
            return None;
        }
        if c.is_ascii_digit() {
            let length =
                rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '_'))).unwrap_or(rest.len());
            self.take(length, Ink::Number);
            return None;
        }
        if c.is_alphabetic() || c == '_' || (c == '@' && language.has_decorators) {
            self.word(rest);
            return None;
        }
        self.take(c.len_utf8(), Ink::Text);
        None
    }

    fn word(&mut self, rest: &str) {
        let inner = |c: char| c.is_alphanumeric() || c == '_' || (c == '-' && self.language.dashes);
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let length = first + rest[first..].find(|c: char| !inner(c)).unwrap_or(rest.len() - first);
        let word = &rest[..length];
        let after = rest[length..].trim_start();
        let known = |words: &[&str]| match self.language.folds_case {
            true => words.iter().any(|known| known.eq_ignore_ascii_case(word)),
            false => words.contains(&word),
        };
        let ink = if word.starts_with('@') {
            Ink::Function
        } else if known(self.language.keywords) {
            Ink::Keyword
        } else if known(self.language.constants) {
            Ink::Number
        } else if self.language.keys && (after.starts_with(':') || after.starts_with('=')) {
            Ink::Type
        } else if after.starts_with('(') || after.starts_with("!(") {
            Ink::Function
        } else if (self.language.types && word.starts_with(char::is_uppercase))
            || (self.language.small_types && SMALL_TYPES.contains(&word))
        {
            Ink::Type
        } else {
            Ink::Text
        };
        self.take(length, ink);
    }

    fn quoted(&mut self, quote: char) {
        let rest = &self.text[self.at..];
        let mut escaped = false;
        let mut end = rest.len();
        for (at, c) in rest.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == quote => {
                    end = at + c.len_utf8();
                    break;
                }
                _ => {}
            }
        }
        // A key of JSON is a name, not a value.
        let key = self.language.keys && rest[end..].trim_start().starts_with(':');
        self.take(end, if key { Ink::Type } else { Ink::Literal });
    }

    /// `'a` in Rust, the apostrophe of a comment in others: a quote that nothing closes soon.
    fn is_lifetime(&self, rest: &str) -> bool {
        if !self.language.lifetimes || !rest.starts_with('\'') {
            return false;
        }
        let mut chars = rest.chars().skip(1);
        matches!(chars.next(), Some(c) if c.is_alphabetic() || c == '_') && chars.next() != Some('\'')
    }

    /// Up to and including `end`; false when it is not on this line.
    fn until(&mut self, end: &str, ink: Ink) -> bool {
        let rest = &self.text[self.at..];
        match rest.find(end) {
            Some(found) => {
                self.take(found + end.len(), ink);
                true
            }
            None => {
                self.take(rest.len(), ink);
                false
            }
        }
    }

    fn take(&mut self, length: usize, ink: Ink) {
        let text = &self.text[self.at..self.at + length];
        self.at += length;
        let style = Style::new(ink);
        match self.spans.last_mut() {
            Some(last) if last.style == style => last.text.push_str(text),
            _ if text.is_empty() => {}
            _ => self.spans.push(Span::new(text, style)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(name: &str, text: &str) -> String {
        let language = by_name(name).unwrap();
        let mut state = State::Code;
        let mut out = String::new();
        for row in text.lines() {
            let (spans, next) = line(row, language, state);
            state = next;
            for span in spans {
                match span.style.ink {
                    Ink::Text => out.push_str(&span.text),
                    ink => out.push_str(&format!("<{ink:?} {}>", span.text)),
                }
            }
            out.push('\n');
        }
        out
    }

    #[test]
    fn common_languages() {
        insta::assert_snapshot!(show("rust", "let x: &'a str = \"hi\"; // note\n/* one\ntwo */ fn f(n: u32) -> Vec<u8> { 'x' }"), @r#"
        <Keyword let> x: &'a <Type str> = <Literal "hi">; <Comment // note>
        <Comment /* one>
        <Comment two */> <Keyword fn> <Function f>(n: <Type u32>) -> <Type Vec><<Type u8>> { <Literal 'x'> }
        "#);
        insta::assert_snapshot!(show("py", "def f(a):  # c\n  \"\"\"doc\n  more\"\"\"\n  return None"), @r#"
        <Keyword def> <Function f>(a):  <Comment # c>
          <Literal """doc>
        <Literal   more""">
          <Keyword return> <Number None>
        "#);
        insta::assert_snapshot!(show("json", "{\"a\": [1, true, \"b\"]}"), @r#"{<Type "a">: [<Number 1>, <Number true>, <Literal "b">]}"#);
        insta::assert_snapshot!(show("sh", "echo a#b $X # note"), @"echo a#b $X <Comment # note>");
    }

    proptest::proptest! {
        #[test]
        fn says_what_was_said(text in "[a-z0-9\"'#/* ()日]{0,40}", which in 0usize..8) {
            let name = ["rust", "py", "js", "sh", "json", "html", "sql", "toml"][which];
            let (spans, _) = line(&text, by_name(name).unwrap(), State::Code);
            proptest::prop_assert_eq!(spans.iter().map(|span| span.text.as_str()).collect::<String>(), text);
        }
    }
}
