//! What shell text is made of.

/// Commands one after the other. How they are joined is in [`Command::Chain`].
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Script {
    pub(crate) commands: Vec<Command>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Command {
    Simple(Simple),
    /// Joined by `&&` and `||`: what comes later may not run.
    Chain(Vec<Command>),
    /// Each one's output is the next one's input.
    Pipeline(Vec<Command>),
    /// `( … )` or `{ … }`.
    Group {
        body: Vec<Command>,
        redirects: Vec<Redirect>,
    },
    /// `if`, `while`, `until`, `case`: parts of it run, in some order, some times. The words are looked at, not run.
    Block {
        words: Vec<Word>,
        body: Vec<Command>,
        redirects: Vec<Redirect>,
    },
    /// `for name in words; do … done`, `select` likewise. Without words it goes over the arguments.
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Vec<Command>,
        redirects: Vec<Redirect>,
    },
    Function {
        name: String,
        body: Vec<Command>,
    },
}

/// A command as a program sees it, before expansion.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    /// An array has several.
    pub(crate) values: Vec<Word>,
    /// `+=`, an array or one of its places: the value is not just this word.
    pub(crate) partial: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Redirect {
    pub(crate) direction: Direction,
    pub(crate) target: Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    /// Empties the file first.
    Write,
    Append,
    ReadWrite,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Target {
    File(Word),
    /// Another descriptor, or none.
    Descriptor,
    /// Text in the script itself. Where the delimiter is quoted nothing in it is expanded.
    Text(Word),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Word {
    pub(crate) pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Text {
        text: String,
        quoted: bool,
    },
    Variable {
        name: String,
        quoted: bool,
        change: Change,
    },
    /// `$( … )` and backticks.
    Output {
        script: Script,
        quoted: bool,
    },
    /// `<( … )` and `>( … )`.
    Process(Script),
    /// A number. What is substituted inside is still run.
    Number(Vec<Word>),
}

/// What `${…}` makes of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    None,
    /// `:-`, `:=`, `:+`: this word may stand in its place.
    Instead(Word),
    /// Anything else; the word may hold substitutions.
    Other(Word),
}

/// Why text is not understood. It names the place, for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} (at character {at})")]
pub(crate) struct ParseError {
    pub(crate) problem: &'static str,
    pub(crate) at: usize,
}

impl Word {
    /// The word as it is written where it holds nothing but plain text.
    pub(crate) fn literal(&self) -> Option<String> {
        let mut all = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text { text, .. } => all.push_str(text),
                _ => return None,
            }
        }
        Some(all)
    }

    /// The word if no part of it is quoted or expanded, as reserved words must be.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }
}
