//! From words to what a program gets, as far as that can be known before it runs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::braces::{self, Atom};
use super::syntax::{Change, Piece, Script, Word};
use crate::UNKNOWN;

/// One argument.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Arg {
    /// What cannot be known stands in it as [`UNKNOWN`].
    pub(crate) text: String,
    /// It holds stars that the shell expands.
    pub(crate) glob: bool,
    /// What is unknown may be several words, or none.
    pub(crate) may_split: bool,
    /// What is unknown are names of files that were listed.
    pub(crate) listed: bool,
    /// Some of it was quoted, so it is a word even if it is empty.
    pub(crate) quoted: bool,
}

impl Arg {
    pub(crate) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    pub(crate) fn unknown(&self) -> bool {
        self.text.contains(UNKNOWN)
    }
}

/// A value that a variable may have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) listed: bool,
}

/// What is known of variables at some point of a script.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    values: BTreeMap<String, Vec<Value>>,
    /// `$1` and so on; without it the arguments are not known.
    pub(crate) arguments: Option<Vec<Arg>>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) home: PathBuf,
    pub(crate) root: PathBuf,
    /// Of several values a variable may have, which one is tried.
    pub(crate) pick: usize,
    /// What is unknown counts as empty.
    pub(crate) blank: bool,
}

/// Values that a variable may have at the most; with more it is unknown as well.
const MOST_VALUES: usize = 8;

/// Longer values are not kept.
const MAX_TEXT: usize = 16 * 1024;

impl Variables {
    /// Sets a variable. Where it may not come to that, the earlier values stay possible too.
    pub(crate) fn set(&mut self, name: &str, value: Value, certain: bool) {
        let values = self.values.entry(name.to_owned()).or_default();
        if certain {
            values.clear();
        }
        // A value that doubles itself would fill the memory.
        let value = if value.text.len() > MAX_TEXT {
            Value { text: UNKNOWN.to_string(), listed: false }
        } else {
            value
        };
        if !values.contains(&value) {
            if values.len() >= MOST_VALUES {
                values.truncate(MOST_VALUES - 1);
                values.push(Value { text: UNKNOWN.to_string(), listed: false });
            } else {
                values.push(value);
            }
        }
    }

    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The most values any variable has.
    pub(crate) fn choices(&self) -> usize {
        self.values.values().map(Vec::len).max().unwrap_or(1).max(1)
    }

    fn get(&self, name: &str) -> Value {
        let known = |text: String| Value { text, listed: false };
        if let Some(values) = self.values.get(name).filter(|values| !values.is_empty()) {
            return values[self.pick.min(values.len() - 1)].clone();
        }
        let unknown = known(if self.blank { String::new() } else { UNKNOWN.to_string() });
        match name {
            "HOME" => known(self.home.to_string_lossy().into_owned()),
            "PWD" => self.cwd.as_ref().map_or(unknown, |cwd| known(cwd.to_string_lossy().into_owned())),
            // Without arguments these are nothing, which is how they are used to split a name in two.
            "@" | "*" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" => match &self.arguments {
                None => unknown,
                Some(arguments) => match name.parse::<usize>() {
                    Ok(at) => arguments.get(at - 1).map_or(known(String::new()), |argument| Value {
                        text: argument.text.clone(),
                        listed: argument.listed,
                    }),
                    Err(_) => Value {
                        text: arguments
                            .iter()
                            .map(|argument| argument.text.as_str())
                            .collect::<Vec<_>>()
                            .join(" "),
                        listed: arguments.iter().any(|argument| argument.listed),
                    },
                },
            },
            "#" | "?" | "$" | "!" | "-" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" => {
                known("0".to_owned())
            }
            _ => unknown,
        }
    }

    /// The words that a word becomes.
    pub(crate) fn expand(&self, word: &Word) -> Vec<Arg> {
        let mut atoms = Vec::new();
        for (at, piece) in word.pieces.iter().enumerate() {
            match piece {
                Piece::Text { text, quoted } => {
                    atoms.extend(text.chars().map(|c| Atom::Character(c, *quoted)));
                    if text.is_empty() && *quoted {
                        atoms.push(Atom::Hole(at));
                    }
                }
                _ => atoms.push(Atom::Hole(at)),
            }
        }
        let (words, whole) = braces::expand(&atoms);
        let mut args: Vec<Arg> = words.iter().flat_map(|atoms| self.fields(atoms, word)).collect();
        if !whole {
            args.push(Arg { text: UNKNOWN.to_string(), may_split: true, ..Arg::default() });
        }
        args
    }

    /// All of it as one text, as in an assignment.
    pub(crate) fn text(&self, word: &Word) -> Value {
        let mut value = Value { text: String::new(), listed: false };
        for piece in &word.pieces {
            match piece {
                Piece::Text { text, .. } => value.text.push_str(text),
                piece => {
                    let found = self.value(piece);
                    value.text.push_str(&found.text);
                    value.listed |= found.listed;
                }
            }
        }
        value
    }

    fn fields(&self, atoms: &[Atom], word: &Word) -> Vec<Arg> {
        let mut done = Vec::new();
        let mut arg: Option<Arg> = None;
        for atom in atoms {
            match atom {
                Atom::Character(c, quoted) => {
                    let first = arg.is_none();
                    let arg = arg.get_or_insert_default();
                    arg.quoted |= quoted;
                    arg.glob |= !quoted && matches!(c, '*' | '?' | '[');
                    if first && *quoted && *c == '~' {
                        // Quoted, it is a name and not a home.
                        arg.text.push_str("./");
                    }
                    arg.text.push(*c);
                }
                Atom::Hole(at) => {
                    let piece = &word.pieces[*at];
                    if let (Piece::Variable { name, quoted: true, .. }, Some(arguments)) =
                        (piece, &self.arguments)
                        && name == "@"
                    {
                        // The one quoted thing that is several words.
                        for (number, argument) in arguments.iter().enumerate() {
                            if number > 0 {
                                done.extend(arg.take());
                            }
                            let arg = arg.get_or_insert_default();
                            arg.quoted = true;
                            arg.listed |= argument.listed;
                            arg.text.push_str(&argument.text);
                        }
                        continue;
                    }
                    let value = self.value(piece);
                    if is_quoted(piece) {
                        let arg = arg.get_or_insert_default();
                        arg.quoted = true;
                        arg.listed |= value.listed;
                        arg.text.push_str(&value.text);
                        continue;
                    }
                    self.split(&value, &mut arg, &mut done);
                }
            }
        }
        done.extend(arg);
        done
    }

    /// Adds an unquoted value: blanks in it end words.
    fn split(&self, value: &Value, arg: &mut Option<Arg>, done: &mut Vec<Arg>) {
        for c in value.text.chars() {
            if matches!(c, ' ' | '\t' | '\n') {
                done.extend(arg.take());
                continue;
            }
            let arg = arg.get_or_insert_default();
            arg.may_split |= c == UNKNOWN;
            arg.listed |= value.listed;
            arg.glob |= matches!(c, '*' | '?' | '[');
            arg.text.push(c);
        }
    }

    fn value(&self, piece: &Piece) -> Value {
        let known = |text: &str| Value { text: text.to_owned(), listed: false };
        let unknown = || known(if self.blank { "" } else { "\u{fffc}" });
        match piece {
            Piece::Text { text, .. } => known(text),
            Piece::Variable { name, change, .. } => match change {
                // Unless somebody set it, it is blanks, and that is all it is ever used for in a word.
                _ if name == "IFS" => known(" "),
                Change::None => self.get(name),
                Change::Instead(word) => {
                    let own = self.get(name);
                    if own.text.contains(UNKNOWN) || own.text.is_empty() { self.text(word) } else { own }
                }
                Change::Other(_) => unknown(),
            },
            Piece::Output { script, .. } => self.output(script).unwrap_or_else(unknown),
            Piece::Process(_) => known("/dev/fd/63"),
            Piece::Number(_) => known("0"),
        }
    }

    /// What a substitution prints, where that is plain to see.
    fn output(&self, script: &Script) -> Option<Value> {
        super::super::judge::output::of(script, self)
    }
}

fn is_quoted(piece: &Piece) -> bool {
    match piece {
        Piece::Text { quoted, .. } | Piece::Variable { quoted, .. } | Piece::Output { quoted, .. } => *quoted,
        Piece::Process(_) | Piece::Number(_) => true,
    }
}
