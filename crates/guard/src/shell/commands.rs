//! The grammar of commands.

use super::characters::Characters;
use super::syntax::{
    Assignment, Command, Direction, ParseError, Piece, Redirect, Script, Simple, Target, Word,
};

type Result<T> = std::result::Result<T, ParseError>;

pub(super) struct Parser<'t> {
    pub(super) characters: Characters<'t>,
    /// Here-documents whose text starts behind the next line break.
    pending: Vec<Pending>,
    /// Their texts, in the order of their numbers.
    documents: Vec<Word>,
    /// In the head of `for ((…))`, where semicolons are arithmetic.
    pub(super) in_for: bool,
}

struct Pending {
    delimiter: String,
    quoted: bool,
    /// Tabs at the start of lines are dropped.
    tabs: bool,
}

/// Words that end what they are in, and so begin no command.
const CLOSING: [&str; 9] = ["then", "elif", "else", "fi", "do", "done", "esac", "}", "in"];

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            characters: Characters { text, at: 0, depth: 0 },
            pending: Vec::new(),
            documents: Vec::new(),
            in_for: false,
        }
    }

    /// All of it.
    pub(super) fn script(&mut self) -> Result<Script> {
        let mut commands = self.list(&[])?;
        if self.characters.peek().is_some() {
            return self.characters.wrong("this does not belong here");
        }
        if !self.pending.is_empty() {
            self.documents()?;
        }
        for command in &mut commands {
            self.fill(command);
        }
        Ok(Script { commands })
    }

    /// Commands until one of `ends` stands where a command could begin. It is not read.
    pub(super) fn list(&mut self, ends: &[&str]) -> Result<Vec<Command>> {
        let mut commands = Vec::new();
        loop {
            self.blank_lines()?;
            if self.at_end(ends) {
                return Ok(commands);
            }
            commands.push(self.chain()?);
            self.blanks();
            match self.characters.peek() {
                None => return Ok(commands),
                Some(b'\n' | b'\r') => {}
                Some(b';') if self.characters.looking_at(";;") || self.characters.looking_at(";&") => {
                    return Ok(commands);
                }
                Some(b';' | b'&') => self.characters.at += 1,
                Some(_) if self.at_end(ends) => return Ok(commands),
                Some(_) => return self.characters.wrong("this does not belong here"),
            }
        }
    }

    fn at_end(&self, ends: &[&str]) -> bool {
        let rest = self.characters.rest();
        rest.is_empty()
            || ends.iter().any(|end| match *end {
                ")" => rest.starts_with(')'),
                ";;" => rest.starts_with(";;") || rest.starts_with(";&"),
                word => begins_with_word(rest, word),
            })
    }

    fn chain(&mut self) -> Result<Command> {
        let mut parts = vec![self.pipeline()?];
        loop {
            self.blanks();
            if self.characters.eat("&&") || self.characters.eat("||") {
                self.blank_lines()?;
                parts.push(self.pipeline()?);
            } else {
                return Ok(if parts.len() == 1 { parts.remove(0) } else { Command::Chain(parts) });
            }
        }
    }

    fn pipeline(&mut self) -> Result<Command> {
        self.blanks();
        loop {
            let rest = self.characters.rest();
            if rest.starts_with("! ") || rest.starts_with("!\t") || rest.starts_with("!\\\n") {
                self.characters.at += 1;
            } else if begins_with_word(rest, "time") {
                self.characters.at += 4;
                self.blanks();
                if begins_with_word(self.characters.rest(), "-p") {
                    self.characters.at += 2;
                }
            } else {
                break;
            }
            self.blanks();
        }
        let mut stages = vec![self.command()?];
        loop {
            self.blanks();
            if self.characters.looking_at("||") || !self.characters.eat("|") {
                break;
            }
            self.characters.eat("&");
            self.blank_lines()?;
            stages.push(self.command()?);
        }
        Ok(if stages.len() == 1 { stages.remove(0) } else { Command::Pipeline(stages) })
    }

    fn command(&mut self) -> Result<Command> {
        self.characters.deeper()?;
        let command = self.any_command();
        self.characters.depth -= 1;
        command
    }

    fn any_command(&mut self) -> Result<Command> {
        self.blanks();
        let rest = self.characters.rest();
        if rest.starts_with("((")
            && let Some(number) = self.arithmetic("((", "))")?
        {
            let word = Word { pieces: vec![number] };
            return self.with_redirects(vec![word], Vec::new());
        }
        if self.characters.eat("(") {
            let body = self.list(&[")"])?;
            self.expect(")")?;
            let redirects = self.redirects()?;
            return Ok(Command::Group { body, redirects });
        }
        let reserved = |word| begins_with_word(rest, word);
        if reserved("{") {
            self.characters.at += 1;
            let body = self.list(&["}"])?;
            self.expect("}")?;
            let redirects = self.redirects()?;
            return Ok(Command::Group { body, redirects });
        }
        if reserved("if") {
            return self.conditional();
        }
        if reserved("while") || reserved("until") {
            self.characters.at += 5;
            let mut body = self.list(&["do"])?;
            body.extend(self.do_done()?);
            return self.with_redirects(Vec::new(), body);
        }
        if reserved("for") || reserved("select") {
            return self.counting();
        }
        if reserved("case") {
            return self.case();
        }
        if reserved("[[") {
            return self.test();
        }
        if reserved("function") {
            self.characters.at += "function".len();
            self.blanks();
            let name = self.word()?;
            let Some(name) = name.literal() else { return self.characters.wrong("a function has no name") };
            self.blanks();
            if self.characters.eat("(") {
                self.blanks();
                self.expect(")")?;
            }
            return self.function(name);
        }
        if reserved("coproc") {
            self.characters.at += "coproc".len();
            return self.command();
        }
        if CLOSING.iter().any(|word| *word != "in" && reserved(word)) {
            return self.characters.wrong("this does not belong here");
        }
        self.simple()
    }

    fn conditional(&mut self) -> Result<Command> {
        self.characters.at += 2;
        let mut body = self.list(&["then"])?;
        loop {
            self.expect("then")?;
            body.extend(self.list(&["elif", "else", "fi"])?);
            if self.keyword("elif") {
                body.extend(self.list(&["then"])?);
            } else {
                if self.keyword("else") {
                    body.extend(self.list(&["fi"])?);
                }
                self.expect("fi")?;
                return self.with_redirects(Vec::new(), body);
            }
        }
    }

    fn counting(&mut self) -> Result<Command> {
        let length = if self.characters.looking_at("for") { 3 } else { 6 };
        self.characters.at += length;
        self.blanks();
        if self.characters.looking_at("((") {
            self.in_for = true;
            let head = self.arithmetic("((", "))");
            self.in_for = false;
            let Some(number) = head? else { return self.characters.wrong("a `for ((` is not closed") };
            self.blanks();
            self.characters.eat(";");
            self.blank_lines()?;
            let body = self.do_done()?;
            return self.with_redirects(vec![Word { pieces: vec![number] }], body);
        }
        let name = self.word()?;
        let Some(name) = name.bare().map(str::to_owned) else {
            return self.characters.wrong("a loop has no name");
        };
        self.blank_lines()?;
        let mut words = None;
        if self.keyword("in") {
            let mut list = Vec::new();
            loop {
                self.blanks();
                let word = self.word()?;
                if word.pieces.is_empty() {
                    break;
                }
                list.push(word);
            }
            words = Some(list);
        }
        self.blanks();
        self.characters.eat(";");
        self.blank_lines()?;
        let body = self.do_done()?;
        let redirects = self.redirects()?;
        Ok(Command::For { name, words, body, redirects })
    }

    fn case(&mut self) -> Result<Command> {
        self.characters.at += 4;
        self.blanks();
        let mut words = vec![self.word()?];
        let mut body = Vec::new();
        self.blank_lines()?;
        self.expect("in")?;
        loop {
            self.blank_lines()?;
            if self.keyword("esac") {
                return self.with_redirects(words, body);
            }
            self.characters.eat("(");
            loop {
                self.blanks();
                words.push(self.word()?);
                self.blanks();
                if !self.characters.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            body.extend(self.list(&[";;", "esac"])?);
            let _ = self.characters.eat(";;&") || self.characters.eat(";;") || self.characters.eat(";&");
        }
    }

    /// `[[ … ]]`: words and signs; only substitutions in it run.
    fn test(&mut self) -> Result<Command> {
        self.characters.at += 2;
        let mut words = Vec::new();
        loop {
            self.blank_lines()?;
            if self.keyword("]]") {
                return self.with_redirects(words, Vec::new());
            }
            match self.characters.peek() {
                None => return self.characters.wrong("a `[[` is not closed"),
                Some(b'<' | b'>') if self.characters.rest().as_bytes().get(1) == Some(&b'(') => {
                    words.push(self.word()?)
                }
                Some(b'(' | b')' | b'<' | b'>' | b'&' | b'|') => self.characters.at += 1,
                Some(b';') => return self.characters.wrong("this does not belong here"),
                Some(_) => words.push(self.word()?),
            }
        }
    }

    fn function(&mut self, name: String) -> Result<Command> {
        self.blank_lines()?;
        let body = self.command()?;
        Ok(Command::Function { name, body: vec![body] })
    }

    fn do_done(&mut self) -> Result<Vec<Command>> {
        self.expect("do")?;
        let body = self.list(&["done"])?;
        self.expect("done")?;
        Ok(body)
    }

    fn with_redirects(&mut self, words: Vec<Word>, body: Vec<Command>) -> Result<Command> {
        let redirects = self.redirects()?;
        Ok(Command::Block { words, body, redirects })
    }

    fn simple(&mut self) -> Result<Command> {
        let mut simple = Simple::default();
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
                continue;
            }
            let before = self.characters.at;
            let word = self.word()?;
            if word.pieces.is_empty() && self.characters.at == before {
                break;
            }
            simple.words.push(word);
            if self.characters.peek() == Some(b'(') {
                // The one place where a bracket follows a word is a function's name.
                let name = simple.words.first().and_then(Word::bare).map(str::to_owned);
                let (Some(name), [_]) = (name, simple.words.as_slice()) else {
                    return self.characters.wrong("this bracket is not understood");
                };
                self.characters.at += 1;
                self.blanks();
                self.expect(")")?;
                return self.function(name);
            }
            if let [only] = simple.words.as_slice()
                && let Some(name) = only.bare()
                && simple.assignments.is_empty()
                && simple.redirects.is_empty()
            {
                let name = name.to_owned();
                let here = self.characters.at;
                self.blanks();
                if self.characters.eat("(") {
                    self.blanks();
                    self.expect(")")?;
                    return self.function(name);
                }
                self.characters.at = here;
            }
        }
        if simple == Simple::default() {
            return self.characters.wrong("a command is missing");
        }
        Ok(Command::Simple(simple))
    }

    /// `NAME=`, `NAME+=`, `NAME[…]=`, `NAME=( … )`.
    fn assignment(&mut self) -> Result<Option<Assignment>> {
        let rest = self.characters.rest();
        let length = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        if length == 0 || rest.as_bytes()[0].is_ascii_digit() {
            return Ok(None);
        }
        let mut behind = &rest[length..];
        let mut partial = false;
        if behind.starts_with('[')
            && let Some(close) = behind.find("]")
            && !behind[..close].contains(|c: char| c.is_whitespace() || "$`'\"\\;&|<>()".contains(c))
        {
            behind = &behind[close + 1..];
            partial = true;
        }
        if let Some(more) = behind.strip_prefix('+') {
            behind = more;
            partial = true;
        }
        let Some(value) = behind.strip_prefix('=') else { return Ok(None) };
        let name = rest[..length].to_owned();
        self.characters.at += rest.len() - value.len();
        if self.characters.eat("(") {
            let mut values = Vec::new();
            loop {
                self.blank_lines()?;
                if self.characters.eat(")") {
                    return Ok(Some(Assignment { name, values, partial: true }));
                }
                let before = self.characters.at;
                values.push(self.word()?);
                if self.characters.at == before {
                    return self.characters.wrong("an array is not closed");
                }
            }
        }
        let values = vec![self.word()?];
        Ok(Some(Assignment { name, values, partial }))
    }

    fn redirects(&mut self) -> Result<Vec<Redirect>> {
        let mut all = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => all.push(redirect),
                None => return Ok(all),
            }
        }
    }

    fn redirect(&mut self) -> Result<Option<Redirect>> {
        let rest = self.characters.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let mut prefix = digits;
        if rest.starts_with('{')
            && let Some(close) = rest.find('}')
            && rest[1..close].bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && close > 1
        {
            prefix = close + 1;
        }
        let behind = &rest[prefix..];
        const OPERATORS: [(&str, Direction); 12] = [
            ("&>>", Direction::Append),
            ("&>", Direction::Write),
            ("<<<", Direction::Read),
            ("<<-", Direction::Read),
            ("<<", Direction::Read),
            ("<>", Direction::ReadWrite),
            ("<&", Direction::Read),
            ("<", Direction::Read),
            (">>", Direction::Append),
            (">&", Direction::Write),
            (">|", Direction::Write),
            (">", Direction::Write),
        ];
        if behind.starts_with("<(") || behind.starts_with(">(") {
            return Ok(None);
        }
        let Some((sign, direction)) = OPERATORS.into_iter().find(|(sign, _)| behind.starts_with(sign)) else {
            return Ok(None);
        };
        if sign.starts_with('&') && prefix > 0 {
            return Ok(None);
        }
        self.characters.at += prefix + sign.len();
        self.blanks();
        let word = self.word()?;
        if word.pieces.is_empty() {
            return self.characters.wrong("a redirection leads nowhere");
        }
        let target = match sign {
            "<<<" => Target::Text(word),
            "<<" | "<<-" => {
                let quoted = word.bare().is_none();
                let Some(delimiter) = word.literal() else {
                    return self.characters.wrong("a here-document has no plain end");
                };
                self.pending.push(Pending { delimiter, quoted, tabs: sign == "<<-" });
                let number = self.documents.len() + self.pending.len() - 1;
                Target::Text(placeholder(number))
            }
            "<&" | ">&" => match word.literal() {
                Some(text)
                    if text == "-"
                        || text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()) =>
                {
                    Target::Descriptor
                }
                _ => Target::File(word),
            },
            _ => Target::File(word),
        };
        Ok(Some(Redirect { direction, target }))
    }

    /// Blanks, joined lines and comments.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.characters.peek() {
                Some(b' ' | b'\t') => self.characters.at += 1,
                Some(b'\r') if self.characters.looking_at("\r\n") => self.characters.at += 1,
                Some(b'\\') if self.characters.looking_at("\\\n") => self.characters.at += 2,
                Some(b'#') => {
                    let length = self.characters.rest().find('\n').unwrap_or(self.characters.rest().len());
                    self.characters.at += length;
                }
                _ => return,
            }
        }
    }

    /// Blanks and line breaks; behind a line break come the here-documents that were announced.
    pub(super) fn blank_lines(&mut self) -> Result<()> {
        loop {
            self.blanks();
            if self.characters.peek() != Some(b'\n') {
                return Ok(());
            }
            self.characters.at += 1;
            self.documents()?;
        }
    }

    fn documents(&mut self) -> Result<()> {
        for pending in std::mem::take(&mut self.pending) {
            let mut text = String::new();
            loop {
                let rest = self.characters.rest();
                if rest.is_empty() {
                    break;
                }
                let (line, length) = match rest.find('\n') {
                    Some(length) => (&rest[..length], length + 1),
                    None => (rest, rest.len()),
                };
                self.characters.at += length;
                let line = if pending.tabs { line.trim_start_matches('\t') } else { line };
                if line == pending.delimiter {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            let word = if pending.quoted {
                Word { pieces: vec![Piece::Text { text, quoted: true }] }
            } else {
                Self::document(&text, self.characters.depth)?
            };
            self.documents.push(word);
        }
        Ok(())
    }

    /// Whether any here-document was met.
    pub(super) fn announced(&self) -> bool {
        !self.pending.is_empty() || !self.documents.is_empty()
    }

    fn keyword(&mut self, word: &str) -> bool {
        let there = begins_with_word(self.characters.rest(), word);
        if there {
            self.characters.at += word.len();
        }
        there
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        self.blank_lines()?;
        let there = if word == ")" { self.characters.eat(word) } else { self.keyword(word) };
        if there { Ok(()) } else { self.characters.wrong("something is not closed") }
    }

    /// Puts the texts of here-documents where they were announced.
    fn fill(&mut self, command: &mut Command) {
        super::syntax_walk::redirects(command, &mut |redirect| {
            if let Target::Text(word) = &mut redirect.target
                && let Some(number) = placeholder_number(word)
                && let Some(document) = self.documents.get(number)
            {
                *word = document.clone();
            }
        });
    }
}

/// Whether a reserved word stands at the front, whole.
fn begins_with_word(rest: &str, word: &str) -> bool {
    rest.strip_prefix(word).is_some_and(|behind| {
        let next = behind.bytes().next();
        next.is_none_or(super::words::ends_word) || behind.starts_with("\\\n")
    })
}

/// No text can hold this variable: its name is no name.
fn placeholder(number: usize) -> Word {
    let name = format!("<<{number}");
    Word { pieces: vec![Piece::Variable { name, quoted: true, change: super::syntax::Change::None }] }
}

fn placeholder_number(word: &Word) -> Option<usize> {
    match word.pieces.as_slice() {
        [Piece::Variable { name, .. }] => name.strip_prefix("<<")?.parse().ok(),
        _ => None,
    }
}
