//! What is known of programs, as data: `knowledge/*.toml`.
//!
//! An entry says how a program's arguments are read and what its subcommands and flags amount to. A line such as
//! `"push + -f --force # overwrites a branch"` means: the words of the subcommand, then any of these flags, then why.
//! Of lines that fit, those with the most words count; of those, the ones whose flags are there; of those, the gravest.
//! Each entry carries examples, which run as tests.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::finding::Kind;
use crate::shell::Arg;

#[cfg(test)]
mod tests;

const TABLES: [&str; 7] = [
    include_str!("knowledge/files.toml"),
    include_str!("knowledge/system.toml"),
    include_str!("knowledge/git.toml"),
    include_str!("knowledge/build.toml"),
    include_str!("knowledge/packages.toml"),
    include_str!("knowledge/cloud.toml"),
    include_str!("knowledge/danger.toml"),
];

/// One entry of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// If there are more than the entry's own.
    #[serde(default)]
    names: Vec<String>,
    /// Which arguments are paths: `paths`, `script` (all but the first), `none`.
    args: Option<String>,
    /// When no line fits.
    default: Option<String>,
    /// Why, for the default.
    #[serde(default)]
    because: String,
    /// Flags that may stand before the subcommand; with `:` they take a value.
    #[serde(default)]
    globals: Vec<String>,
    /// Flags with a value that is no path.
    #[serde(default)]
    values: Vec<String>,
    /// Flags with a value that is a file to read, or to write.
    #[serde(default)]
    reads: Vec<String>,
    #[serde(default)]
    writes: Vec<String>,
    /// Flags are whole words with one dash: `-run` is not `-r -u -n`.
    #[serde(default)]
    dash: bool,
    /// Flags that bring the script, so that the first argument is none.
    #[serde(default)]
    scripts: Vec<String>,
    #[serde(default)]
    look: Vec<String>,
    #[serde(default)]
    create: Vec<String>,
    #[serde(default)]
    build: Vec<String>,
    #[serde(default)]
    format: Vec<String>,
    #[serde(default)]
    install: Vec<String>,
    #[serde(default)]
    commit: Vec<String>,
    #[serde(default)]
    fetch: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    #[serde(default)]
    block: Vec<String>,
    /// Examples.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "read by tests"))]
    safe: Vec<String>,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "read by tests"))]
    caution: Vec<String>,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "read by tests"))]
    blocked: Vec<String>,
}

/// A program, as the table knows it.
pub(crate) struct Known {
    which: Which,
    default: Kind,
    because: String,
    globals: Vec<(String, bool)>,
    values: Vec<String>,
    reads: Vec<String>,
    writes: Vec<String>,
    scripts: Vec<String>,
    dash: bool,
    lines: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq)]
enum Which {
    Paths,
    Script,
    None,
}

struct Line {
    words: Vec<String>,
    /// Nothing may follow the words.
    whole: bool,
    flags: Vec<String>,
    kind: Kind,
    because: String,
}

fn rows() -> impl Iterator<Item = (String, Row)> {
    TABLES.iter().flat_map(|text| {
        // The tables are part of the program; a test reads every one.
        toml::from_str::<HashMap<String, Row>>(text).unwrap_or_default()
    })
}

fn all() -> &'static HashMap<String, Known> {
    static ALL: OnceLock<HashMap<String, Known>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = HashMap::new();
        for (name, row) in rows() {
            let names = if row.names.is_empty() { vec![name] } else { row.names.clone() };
            for name in names {
                all.insert(name, Known::new(&row));
            }
        }
        all
    })
}

/// What is known of a program.
pub(crate) fn find(name: &str) -> Option<&'static Known> {
    all().get(name)
}

/// Whether a program is one that destroys, wherever it lies.
pub(crate) fn is_grave(name: &str) -> bool {
    const GRAVE: [&str; 29] = [
        "rm", "rmdir", "unlink", "shred", "dd", "mv", "cp", "chmod", "chown", "find", "rimraf", "del-cli",
        "git", "sudo", "su", "curl", "wget", "nc", "ncat", "tar", "python", "python3", "perl", "ruby",
        "node", "env", "xargs", "busybox", "tee",
    ];
    GRAVE.contains(&name)
        || name.starts_with("mkfs")
        || find(name).is_some_and(|known| known.default == Kind::Block)
}

/// Whether a program turns what nobody can read into something that can run.
pub(crate) fn decodes(name: &str) -> bool {
    matches!(
        name,
        "base64"
            | "base32"
            | "basenc"
            | "xxd"
            | "openssl"
            | "uudecode"
            | "gunzip"
            | "zcat"
            | "bzcat"
            | "xzcat"
            | "gzip"
            | "bzip2"
            | "xz"
            | "zstd"
            | "zstdcat"
            | "rev"
            | "tr"
            | "gpg"
            | "od"
            | "hexdump"
            | "iconv"
            | "unxz"
            | "bunzip2"
            | "age"
            | "ascii85"
            | "qprint"
    )
}

impl Known {
    fn new(row: &Row) -> Self {
        let lists = [
            (Kind::Look, &row.look),
            (Kind::Create, &row.create),
            (Kind::Build, &row.build),
            (Kind::Format, &row.format),
            (Kind::Install, &row.install),
            (Kind::Commit, &row.commit),
            (Kind::Fetch, &row.fetch),
            (Kind::Ask, &row.ask),
            (Kind::Block, &row.block),
        ];
        let lines: Vec<Line> =
            lists.iter().flat_map(|(kind, texts)| texts.iter().map(|text| Line::new(*kind, text))).collect();
        let subcommands = lines.iter().any(|line| !line.words.is_empty());
        Self {
            which: match row.args.as_deref() {
                Some("paths") => Which::Paths,
                Some("script") => Which::Script,
                Some(_) => Which::None,
                None if subcommands => Which::None,
                None => Which::Paths,
            },
            default: row.default.as_deref().and_then(Kind::parse).unwrap_or(Kind::Ask),
            because: row.because.clone(),
            globals: row
                .globals
                .iter()
                .map(|flag| {
                    flag.strip_suffix(':').map_or((flag.clone(), false), |flag| (flag.to_owned(), true))
                })
                .collect(),
            values: row.values.clone(),
            reads: row.reads.clone(),
            writes: row.writes.clone(),
            scripts: row.scripts.clone(),
            dash: row.dash,
            lines,
        }
    }

    /// Whether it builds, tests, checks or formats.
    pub(crate) fn is_tool(&self) -> bool {
        matches!(self.default, Kind::Build | Kind::Format)
            || self.lines.iter().any(|line| matches!(line.kind, Kind::Build | Kind::Format))
    }

    /// What these arguments amount to, and why if the table says.
    pub(crate) fn judge(&self, args: &[Arg]) -> (Kind, String) {
        let subcommands = self.lines.iter().any(|line| !line.words.is_empty());
        let (mut operands, mut flags): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
        let (mut odd, mut skip, mut only_operands) = (false, false, false);
        for arg in args {
            let text = arg.text.as_str();
            if std::mem::take(&mut skip) {
                continue;
            }
            if only_operands || !text.starts_with('-') || text == "-" {
                operands.push(text);
                if only_operands && text.starts_with('-') && self.is_tool() {
                    // What a tool passes on to another: `cargo fmt -- --check`.
                    flags.push(text);
                }
                continue;
            }
            if text == "--" {
                only_operands = true;
                continue;
            }
            flags.push(text);
            let name = text.split('=').next().unwrap_or(text);
            if operands.is_empty() && subcommands {
                match self.globals.iter().find(|(flag, _)| flag == name) {
                    Some((_, takes)) => skip = *takes && !text.contains('='),
                    None => odd = true,
                }
            } else {
                skip = self.values.iter().any(|flag| flag == text);
            }
        }
        let mut best: Option<(usize, bool, bool, Kind, &str)> = None;
        let mut everywhere: Option<(Kind, &str)> = None;
        for line in &self.lines {
            let flagged = !line.flags.is_empty();
            if flagged
                && !flags
                    .iter()
                    .any(|flag| line.flags.iter().any(|known| same_flag(known, flag, line.kind, self.dash)))
            {
                continue;
            }
            if line.words.is_empty() && flagged && line.kind >= Kind::Ask {
                everywhere = everywhere.max(Some((line.kind, line.because.as_str())));
                continue;
            }
            let fits = operands.len() >= line.words.len()
                && line.words.iter().zip(&operands).all(|(pattern, word)| crate::glob::word(pattern, word))
                && (!line.whole || operands.len() == line.words.len());
            if !fits {
                continue;
            }
            if flagged && line.kind >= Kind::Ask {
                // However many words another line has, what a flag makes of the command stays.
                everywhere = everywhere.max(Some((line.kind, line.because.as_str())));
            }
            let rank = (line.words.len(), flagged, line.whole, line.kind, line.because.as_str());
            if best.is_none_or(|best| rank > best) {
                best = Some(rank);
            }
        }
        let (mut kind, mut because) = match best {
            Some((.., kind, because)) => (kind, because),
            None => (self.default, self.because.as_str()),
        };
        if let Some((graver, why)) = everywhere.filter(|(graver, _)| *graver > kind) {
            (kind, because) = (graver, why);
        }
        // A flag that is not known may take the next word, and then another word is the subcommand.
        let by_flag = best.is_some_and(|(words, flagged, ..)| words == 0 && flagged);
        if odd
            && kind < Kind::Ask
            && self.default >= Kind::Ask
            && !by_flag
            && !(operands.is_empty() && best.is_some())
        {
            (kind, because) = (Kind::Ask, "a flag before its subcommand is not known");
        }
        let open = args.iter().any(|arg| arg.unknown() && arg.may_split && !arg.listed);
        if open
            && kind < Kind::Ask
            && (subcommands
                || !self.writes.is_empty()
                || self.lines.iter().any(|line| line.kind >= Kind::Ask))
        {
            (kind, because) = (Kind::Ask, "some of its arguments can not be known before");
        }
        (kind, because.to_owned())
    }

    /// The paths among the arguments, and whether each is written.
    pub(crate) fn paths(&self, args: &[Arg]) -> Vec<(Arg, bool)> {
        let mut found = Vec::new();
        let mut script_due = self.which == Which::Script;
        let (mut at, mut only_operands) = (0, false);
        let is = |list: &[String], flag: &str| list.iter().any(|known| known == flag);
        if script_due
            && args.iter().any(|arg| {
                let flag = arg.text.split('=').next().unwrap_or(&arg.text);
                is(&self.scripts, flag)
                    || self.scripts.iter().any(|known| {
                        known.len() == 2
                            && arg.text.len() > 2
                            && !arg.text.starts_with("--")
                            && arg.text.starts_with('-')
                            && arg.text.ends_with(&known[1..])
                    })
            })
        {
            script_due = false;
        }
        while let Some(arg) = args.get(at) {
            at += 1;
            let text = arg.text.as_str();
            if !only_operands && text == "--" {
                only_operands = true;
                continue;
            }
            if !only_operands && text.starts_with('-') && text.len() > 1 {
                let (flag, inline) = match text.split_once('=') {
                    Some((flag, value)) => (flag, Some(value)),
                    // `-ofile`
                    None if !text.starts_with("--")
                        && text.len() > 2
                        && self
                            .writes
                            .iter()
                            .any(|known| known.len() == 2 && text.starts_with(known.as_str())) =>
                    {
                        (&text[..2], Some(&text[2..]))
                    }
                    None => (text, None),
                };
                let (read, written) = (is(&self.reads, flag), is(&self.writes, flag));
                if read || written {
                    let value = match inline {
                        Some(value) => Some(Arg { text: value.to_owned(), ..arg.clone() }),
                        None => {
                            at += 1;
                            args.get(at - 1).cloned()
                        }
                    };
                    found.extend(value.map(|value| (value, written)));
                } else if inline.is_none() && (is(&self.values, flag) || is(&self.scripts, flag)) {
                    at += 1;
                } else if let Some(value) =
                    inline.filter(|value| value.starts_with(['/', '~']) && self.which != Which::None)
                {
                    found.push((Arg { text: value.to_owned(), ..arg.clone() }, false));
                }
                continue;
            }
            if script_due {
                script_due = false;
                continue;
            }
            let outside = self.which == Which::None
                && self.is_tool()
                && (text.starts_with(['/', '~']) || text.starts_with("../"))
                && std::path::Path::new(text).exists();
            if self.which != Which::None || outside {
                found.push((arg.clone(), false));
            }
        }
        found
    }
}

impl Line {
    fn new(kind: Kind, text: &str) -> Self {
        let (text, because) = text.split_once('#').unwrap_or((text, ""));
        let (words, flags) = text.split_once('+').unwrap_or((text, ""));
        let mut words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let whole = words.last().is_some_and(|word| word == ".");
        if whole {
            words.pop();
        }
        Self {
            words,
            whole,
            flags: flags.split_whitespace().map(str::to_owned).collect(),
            kind,
            because: because.trim().to_owned(),
        }
    }
}

/// Whether an argument is this flag: alone, with a value, in a cluster, or shortened where that makes things graver.
fn same_flag(known: &str, given: &str, kind: Kind, dash: bool) -> bool {
    let name = given.split('=').next().unwrap_or(given);
    if name == known || given == known {
        return true;
    }
    if known.contains('=') {
        return false;
    }
    let is_letter = known.len() == 2 && !known.starts_with("--");
    if is_letter {
        return !dash
            && given.len() > 2
            && !given.starts_with("--")
            && given[1..].chars().take_while(char::is_ascii_alphabetic).any(|c| known.ends_with(c));
    }
    kind >= Kind::Ask && known.starts_with("--") && name.len() >= 5 && known.starts_with(name)
}
