//! Cutting a file into pieces that can be found.
//!
//! Three levels: the file, its symbols, and blocks of long symbols. Every line belongs to exactly one piece that is
//! searched (the innermost symbol, else a block of loose code, else the file), so that what is counted for a file is the
//! sum of what is counted for its pieces.

mod grammar;
mod imports;
mod loose;
mod sections;
mod syntax;

use crate::language::Language;
use crate::rules::Part;

/// How fine a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// The file: its path, imports, symbols and top comment.
    File = 1,
    /// A function, method, class or type; a section; a stretch of loose code.
    Symbol = 2,
    /// A part of a long symbol: for showing, and for the encoder, which reads no further than the first lines of anything.
    Block = 3,
}

impl Level {
    pub(crate) fn from_byte(byte: u8) -> Self {
        match byte {
            1 => Self::File,
            3 => Self::Block,
            _ => Self::Symbol,
        }
    }
}

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    File,
    Function,
    Method,
    Class,
    Type,
    Module,
    Constant,
    Section,
    /// Code that belongs to no symbol.
    Loose,
}

impl Kind {
    pub(crate) const ALL: [Self; 9] = [
        Self::File,
        Self::Function,
        Self::Method,
        Self::Class,
        Self::Type,
        Self::Module,
        Self::Constant,
        Self::Section,
        Self::Loose,
    ];

    pub(crate) fn from_byte(byte: u8) -> Self {
        Self::ALL.get(usize::from(byte)).copied().unwrap_or(Self::Loose)
    }

    /// As people read it.
    pub fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Type => "type",
            Self::Module => "module",
            Self::Constant => "constant",
            Self::Section => "section",
            Self::Loose => "code",
        }
    }
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub level: Level,
    pub kind: Kind,
    /// `Cart::apply`, `Class.method`; empty for files and loose code.
    pub name: String,
    /// How it is declared, on one line.
    pub signature: String,
    /// From 1, both included, with the comment above it.
    pub start_line: u32,
    pub end_line: u32,
    /// The symbol it is in.
    pub parent: Option<u32>,
}

/// A small thing without a piece of its own: a constant, a macro, an alias.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    pub name: String,
    pub kind: Kind,
    pub line: u32,
}

/// A file, cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    pub language: Language,
    /// The first is the file itself. Symbols come in the order of their lines, parents before children; blocks last.
    pub chunks: Vec<Chunk>,
    pub definitions: Vec<Definition>,
    /// What it imports, as written.
    pub imports: Vec<String>,
    /// For every line, the chunk it belongs to.
    pub owners: Vec<u32>,
}

/// A symbol longer than this has parts.
const LONG: u32 = 40;
/// How long such a part is: the encoder reads about ten lines.
const BLOCK: u32 = 20;

/// Cuts a file. Never fails: what a grammar can not read is cut by lines.
pub fn outline(path: &str, text: &str) -> Outline {
    let language = Language::detect(path, text);
    let lines: Vec<&str> = text.lines().collect();
    let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let mut found = match grammar::grammar(language) {
        Some(grammar) => syntax::symbols(grammar, language, text, &lines).unwrap_or_default(),
        None => sections::sections(language, &lines),
    };
    found.symbols.sort_by_key(|symbol| (symbol.start, std::cmp::Reverse(symbol.end)));
    let mut chunks = vec![Chunk {
        level: Level::File,
        kind: Kind::File,
        name: String::new(),
        signature: String::new(),
        start_line: 1,
        end_line: count.max(1),
        parent: None,
    }];
    let mut owners = vec![0u32; lines.len()];
    let mut open: Vec<u32> = Vec::new();
    for symbol in found.symbols {
        while open.last().is_some_and(|at| chunks[*at as usize].end_line < symbol.end.min(count)) {
            open.pop();
        }
        let (start, end) = (symbol.start.clamp(1, count.max(1)), symbol.end.clamp(1, count.max(1)));
        let at = chunks.len() as u32;
        let parent = open.last().copied();
        owners[start as usize - 1..end as usize].fill(at);
        let name = match parent {
            Some(parent) if !symbol.absolute && !chunks[parent as usize].name.is_empty() => {
                format!("{}{}{}", chunks[parent as usize].name, separator(language), symbol.name)
            }
            _ => symbol.name,
        };
        chunks.push(Chunk {
            level: Level::Symbol,
            kind: symbol.kind,
            name,
            signature: symbol.signature,
            start_line: start,
            end_line: end,
            parent,
        });
        open.push(at);
    }
    loose::fill(language, &lines, &mut owners, &mut chunks);
    blocks(&lines, &mut chunks);
    let imports = imports::imports(language, &lines);
    Outline { language, chunks, definitions: found.definitions, imports, owners }
}

fn separator(language: Language) -> &'static str {
    match language {
        Language::Rust | Language::Cpp | Language::Php => "::",
        Language::Ruby => "#",
        Language::Markdown => " › ",
        _ => ".",
    }
}

/// Parts of long symbols, cut where a line starts at the indentation of the symbol's body.
fn blocks(lines: &[&str], chunks: &mut Vec<Chunk>) {
    for at in 1..chunks.len() {
        let (start, end) = (chunks[at].start_line, chunks[at].end_line);
        if end - start < LONG || chunks.iter().any(|other| other.parent == Some(at as u32)) {
            continue;
        }
        let body = &lines[start as usize - 1..end as usize];
        let indent = |line: &str| line.len() - line.trim_start().len();
        let least = body[1..body.len() - 1]
            .iter()
            .filter(|line| !line.trim().is_empty())
            .map(|line| indent(line))
            .min();
        let mut from = start;
        while from <= end {
            let mut to = (from + BLOCK - 1).min(end);
            // The nearest good place in the second half.
            let good = (from + BLOCK / 2..to).rev().find(|line| {
                let next = lines[*line as usize];
                !next.trim().is_empty() && Some(indent(next)) == least
            });
            if to < end {
                to = good.unwrap_or(to);
            }
            // A tail of a few lines is no part of its own.
            if end - to < BLOCK / 4 {
                to = end;
            }
            let (name, kind) = (chunks[at].name.clone(), chunks[at].kind);
            chunks.push(Chunk {
                level: Level::Block,
                kind,
                name,
                signature: String::new(),
                start_line: from,
                end_line: to,
                parent: Some(at as u32),
            });
            from = to + 1;
        }
    }
}

/// Found by a grammar or by the look of lines, before it has a place among the others.
#[derive(Debug, Clone)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) signature: String,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The name says where it belongs by itself.
    pub(crate) absolute: bool,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Symbols {
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) definitions: Vec<Definition>,
}

/// What the encoder reads: where it is, what it is called (for a file, what is in it), how it begins.
pub(crate) fn passage(path: &str, title: &str, start_line: u32, end_line: u32, lines: &[&str]) -> String {
    const MAX: usize = 1_000;
    let mut out = format!("{path} {title}\n");
    let from = (start_line as usize - 1).min(lines.len());
    let to = (end_line as usize).clamp(from, lines.len());
    for line in &lines[from..to] {
        let line = line.trim_end();
        if line.trim_start().is_empty() {
            continue;
        }
        out.push_str(line);
        out.push('\n');
        if out.len() > MAX {
            break;
        }
    }
    out.truncate(out.floor_char_boundary(MAX));
    out
}

/// The names of a file's outermost symbols, for the passage that stands for the file.
pub(crate) fn title<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut title = String::new();
    for name in names.filter(|name| !name.is_empty()) {
        if title.len() > 300 {
            break;
        }
        title.push_str(name);
        title.push(' ');
    }
    title
}

/// Code in languages without a grammar here.
fn is_code_of_others(path: &str) -> bool {
    const EXTENSIONS: &[&str] = &[
        "adb", "ads", "asm", "astro", "awk", "bas", "clj", "cljc", "cljs", "coffee", "cr", "d", "dart",
        "ejs", "el", "elm", "erb", "erl", "ex", "exs", "f", "f03", "f90", "f95", "fish", "fs", "fsx", "gd",
        "gleam", "glsl", "gql", "graphql", "groovy", "gradle", "haml", "hbs", "hcl", "hlsl", "hrl", "hs",
        "idr", "jinja", "jl", "l", "lean", "lhs", "lisp", "lua", "m", "metal", "mk", "ml", "mli", "mm",
        "nim", "nix", "odin", "pas", "pl", "pm", "proto", "ps1", "psm1", "pug", "purs", "r", "raku", "re",
        "rkt", "rego", "s", "scm", "sol", "sql", "sv", "svh", "tcl", "tf", "thrift", "v", "vala", "vb",
        "vhd", "vhdl", "vim", "wat", "wgsl", "y", "yy", "zig",
    ];
    let extension = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
    extension.is_some_and(|end| EXTENSIONS.contains(&end.to_ascii_lowercase().as_str()))
}

/// Which part a file plays, by its path and its language.
pub(crate) fn part(path: &str, language: Language) -> Part {
    match Part::of(path) {
        Part::Code if language.is_prose() => Part::Docs,
        Part::Code if language.is_data() || (language == Language::Other && !is_code_of_others(path)) => {
            Part::Settings
        }
        part => part,
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
