//! Words: quotes, escapes, variables, substitutions.

use super::characters::{Characters, ansi};
use super::commands::Parser;
use super::syntax::{Change, ParseError, Piece, Script, Word};

type Result<T> = std::result::Result<T, ParseError>;

/// Collects pieces; neighbouring text of the same kind is one piece.
#[derive(Default)]
struct Pieces {
    pieces: Vec<Piece>,
}

impl Pieces {
    fn text(&mut self, more: &str, quoted: bool) {
        if let Some(Piece::Text { text, quoted: before }) = self.pieces.last_mut()
            && *before == quoted
        {
            text.push_str(more);
        } else if !more.is_empty() || quoted {
            // An empty quoted text still makes a word.
            self.pieces.push(Piece::Text { text: more.to_owned(), quoted });
        }
    }

    fn character(&mut self, c: char, quoted: bool) {
        self.text(c.encode_utf8(&mut [0; 4]), quoted);
    }
}

/// What ends an unquoted word.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

impl Parser<'_> {
    /// A word; empty if none begins here.
    pub(super) fn word(&mut self) -> Result<Word> {
        let mut pieces = Pieces::default();
        while let Some(byte) = self.characters.peek() {
            if (byte == b'<' || byte == b'>') && self.characters.rest().as_bytes().get(1) == Some(&b'(') {
                self.characters.at += 2;
                let script = self.until_bracket()?;
                pieces.pieces.push(Piece::Process(script));
                continue;
            }
            if ends_word(byte) {
                break;
            }
            self.piece(byte, &mut pieces)?;
        }
        Ok(Word { pieces: pieces.pieces })
    }

    /// One piece outside of double quotes.
    fn piece(&mut self, byte: u8, pieces: &mut Pieces) -> Result<()> {
        match byte {
            b'\'' => {
                self.characters.at += 1;
                let text = self.characters.until('\'', "a quote is not closed")?;
                pieces.text(text, true);
            }
            b'"' => {
                self.characters.at += 1;
                self.double_quoted(pieces)?;
            }
            b'\\' => {
                self.characters.at += 1;
                match self.characters.next() {
                    Some('\n') => {}
                    Some(c) => pieces.character(c, true),
                    None => pieces.text("\\", true),
                }
            }
            b'$' => self.dollar(pieces, false)?,
            b'`' => self.backtick(pieces, false)?,
            _ => {
                if let Some(c) = self.characters.next() {
                    pieces.character(c, false);
                }
            }
        }
        Ok(())
    }

    fn double_quoted(&mut self, pieces: &mut Pieces) -> Result<()> {
        pieces.text("", true);
        loop {
            match self.characters.peek() {
                None => return self.characters.wrong("a quote is not closed"),
                Some(b'"') => {
                    self.characters.at += 1;
                    return Ok(());
                }
                Some(_) => self.expanded(pieces, true)?,
            }
        }
    }

    /// One piece where only `$`, backticks and backslashes count: in double quotes and in here-documents.
    fn expanded(&mut self, pieces: &mut Pieces, in_quotes: bool) -> Result<()> {
        match self.characters.peek() {
            Some(b'\\') => {
                self.characters.at += 1;
                match self.characters.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '\\')) => pieces.character(c, true),
                    Some('"') if in_quotes => pieces.character('"', true),
                    Some(c) => {
                        pieces.text("\\", true);
                        pieces.character(c, true);
                    }
                    None => pieces.text("\\", true),
                }
            }
            Some(b'$') => self.dollar(pieces, true)?,
            Some(b'`') => self.backtick(pieces, true)?,
            _ => {
                if let Some(c) = self.characters.next() {
                    pieces.character(c, true);
                }
            }
        }
        Ok(())
    }

    fn dollar(&mut self, pieces: &mut Pieces, quoted: bool) -> Result<()> {
        self.characters.at += 1;
        let next = self.characters.peek();
        match next {
            Some(b'\'') if !quoted => {
                self.characters.at += 1;
                let text = ansi(&mut self.characters)?;
                pieces.text(&text, true);
            }
            Some(b'"') if !quoted => {
                self.characters.at += 1;
                self.double_quoted(pieces)?;
            }
            Some(b'(') => {
                if self.characters.looking_at("((")
                    && let Some(number) = self.arithmetic("((", "))")?
                {
                    pieces.pieces.push(number);
                    return Ok(());
                }
                self.characters.at += 1;
                let script = self.until_bracket()?;
                pieces.pieces.push(Piece::Output { script, quoted });
            }
            Some(b'[') => match self.arithmetic("[", "]")? {
                Some(number) => pieces.pieces.push(number),
                None => pieces.text("$", quoted),
            },
            Some(b'{') => {
                self.characters.at += 1;
                let piece = self.parameter(quoted)?;
                pieces.pieces.push(piece);
            }
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' || b"@*#?-$!".contains(&byte) => {
                let name = self.name();
                pieces.pieces.push(Piece::Variable { name, quoted, change: Change::None });
            }
            _ => pieces.text("$", quoted),
        }
        Ok(())
    }

    /// The name of a variable behind `$`: letters, one digit, or one sign.
    fn name(&mut self) -> String {
        let rest = self.characters.rest();
        let first = rest.bytes().next().unwrap_or_default();
        let length = if first.is_ascii_alphabetic() || first == b'_' {
            rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
        } else {
            1
        };
        self.characters.at += length;
        rest[..length].to_owned()
    }

    /// `${…}`, from behind the brace.
    fn parameter(&mut self, quoted: bool) -> Result<Piece> {
        self.characters.deeper()?;
        let rest = self.characters.rest();
        let marked = rest.starts_with('!') || (rest.starts_with('#') && !rest.starts_with("#}"));
        if marked {
            self.characters.at += 1;
        }
        let rest = self.characters.rest();
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let name = if length > 0 {
            self.characters.at += length;
            rest[..length].to_owned()
        } else {
            match self.characters.next() {
                Some(c @ ('@' | '*' | '#' | '?' | '-' | '$' | '!')) => c.to_string(),
                _ => return self.characters.wrong("a `${` is not understood"),
            }
        };
        let rest = self.characters.rest();
        let operator =
            [":-", ":=", ":+", "-", "=", "+"].into_iter().find(|operator| rest.starts_with(operator));
        self.characters.at += operator.map_or(0, str::len);
        let word = self.until_brace()?;
        self.characters.depth -= 1;
        let change = match operator {
            Some(_) if !marked => Change::Instead(word),
            None if !marked && word.pieces.is_empty() => Change::None,
            _ => Change::Other(word),
        };
        Ok(Piece::Variable { name, quoted, change })
    }

    /// A word that ends at `}`, in which blanks and operators are text.
    fn until_brace(&mut self) -> Result<Word> {
        let mut pieces = Pieces::default();
        loop {
            match self.characters.peek() {
                None => return self.characters.wrong("a `${` is not closed"),
                Some(b'}') => {
                    self.characters.at += 1;
                    return Ok(Word { pieces: pieces.pieces });
                }
                Some(byte) => self.piece(byte, &mut pieces)?,
            }
        }
    }

    /// `((…))` from its opening on, if that is what it is; else nothing is read.
    pub(super) fn arithmetic(&mut self, open: &str, close: &str) -> Result<Option<Piece>> {
        let start = self.characters.at;
        self.characters.deeper()?;
        self.characters.at += open.len();
        let mut pieces = Pieces::default();
        let mut brackets = 0usize;
        let found = loop {
            match self.characters.peek() {
                None => break false,
                Some(_) if brackets == 0 && self.characters.eat(close) => break true,
                Some(b'(' | b'[') => brackets += 1,
                Some(b')' | b']') if brackets > 0 => brackets -= 1,
                Some(b')') => break false,
                Some(b'$' | b'`' | b'\\') => {
                    self.expanded(&mut pieces, true)?;
                    continue;
                }
                Some(b'\n' | b';') if open == "((" && !self.in_for => break false,
                _ => {}
            }
            self.characters.next();
        };
        self.characters.depth -= 1;
        let inner = &self.characters.text[start + open.len()..self.characters.at.max(start + open.len())];
        if !found || (open == "((" && !is_sum(inner)) {
            self.characters.at = start;
            return Ok(None);
        }
        Ok(Some(Piece::Number(vec![Word { pieces: pieces.pieces }])))
    }

    /// Up to the backtick that closes; inside, a backslash before a backtick, a backslash or a dollar is taken away.
    fn backtick(&mut self, pieces: &mut Pieces, quoted: bool) -> Result<()> {
        self.characters.at += 1;
        let mut inner = String::new();
        loop {
            match self.characters.next() {
                None => return self.characters.wrong("a backtick is not closed"),
                Some('`') => break,
                Some('\\') => match self.characters.next() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    Some('"') if quoted => inner.push('"'),
                    Some(c) => inner.extend(['\\', c]),
                    None => return self.characters.wrong("a backtick is not closed"),
                },
                Some(c) => inner.push(c),
            }
        }
        self.characters.deeper()?;
        let script = nested(&inner, self.characters.depth)?;
        self.characters.depth -= 1;
        pieces.pieces.push(Piece::Output { script, quoted });
        Ok(())
    }

    /// Commands up to the `)` that closes, which is passed over.
    pub(super) fn until_bracket(&mut self) -> Result<Script> {
        self.characters.deeper()?;
        let commands = self.list(&[")"])?;
        if !self.characters.eat(")") {
            return self.characters.wrong("a bracket is not closed");
        }
        self.characters.depth -= 1;
        Ok(Script { commands })
    }

    /// The words of a here-document.
    pub(super) fn document(text: &str, depth: usize) -> Result<Word> {
        let mut parser = Parser::at_depth(text, depth);
        let mut pieces = Pieces::default();
        while parser.characters.peek().is_some() {
            parser.expanded(&mut pieces, false)?;
        }
        if parser.announced() {
            return parser.characters.wrong("a here-document inside another is not understood");
        }
        Ok(Word { pieces: pieces.pieces })
    }
}

fn nested(text: &str, depth: usize) -> Result<Script> {
    let mut parser = Parser::at_depth(text, depth);
    parser.script()
}

impl<'t> Parser<'t> {
    pub(super) fn at_depth(text: &'t str, depth: usize) -> Self {
        let mut parser = Parser::new(text);
        parser.characters = Characters { text, at: 0, depth };
        parser
    }
}

/// Two words beside each other are no sum but a command: `$((rm -rf x))` is left to the reading that is graver.
fn is_sum(text: &str) -> bool {
    // Nor has a sum quotes, dots or a path in it.
    if text.contains(['\'', '"', '.']) || text.trim_start().starts_with('/') {
        return false;
    }
    let mut words = text.trim_end_matches(')').split_whitespace().peekable();
    while let Some(word) = words.next() {
        let ends = word.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let starts =
            words.peek().is_some_and(|next| next.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        // `crontab -r` could be a difference, and is more often an option.
        let option = words.peek().is_some_and(|next| {
            next.strip_prefix('-')
                .is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '-'))
        });
        if ends && (starts || option) {
            return false;
        }
    }
    true
}
