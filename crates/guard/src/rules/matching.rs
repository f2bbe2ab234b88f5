//! Whether a rule is about something.

use std::path::{Path, PathBuf};

use super::parse::{PatternWord, Rule};
use crate::glob;

/// What a rule can be about: one simple command after wrappers were looked through, one canonical path, one host.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Subject {
    /// The words of a simple command; unknown parts stand as [`UNKNOWN`](crate::shell::UNKNOWN).
    Command(Vec<String>),
    Read(PathBuf),
    Write(PathBuf),
    Host(String),
    /// The call as a whole, where nothing else is known.
    Call,
    /// Something that comes with a command and that no rule about the command covers.
    Extra,
}

/// What patterns are relative to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) root: &'a Path,
    pub(crate) home: &'a Path,
}

impl Rule {
    /// A rule names the tool, or the kind of thing: `shell` is every command, `read` and `edit` every path that is
    /// read or changed by whatever tool, `web_fetch` every host. So a deny can not be walked around with another tool.
    pub(super) fn matches(&self, tool: &str, subject: &Subject, place: &Place<'_>) -> bool {
        let named = glob::word(&self.tool, tool);
        let Some(pattern) = &self.pattern else {
            return match subject {
                // A tool without a pattern is all that the tool does.
                Subject::Extra => named,
                Subject::Command(_) => named || self.tool == "shell",
                Subject::Read(_) => named || self.tool == "read",
                Subject::Write(_) => named || self.tool == "edit",
                Subject::Host(_) => named || self.tool == "web_fetch",
                Subject::Call => named,
            };
        };
        match subject {
            Subject::Command(argv) => (named || self.tool == "shell") && command(&pattern.words, argv),
            Subject::Read(path) => (named || self.tool == "read") && in_place(&pattern.whole, path, place),
            Subject::Write(path) => (named || self.tool == "edit") && in_place(&pattern.whole, path, place),
            Subject::Host(name) => (named || self.tool == "web_fetch") && host(&pattern.whole, name),
            Subject::Call | Subject::Extra => false,
        }
    }
}

/// Word by word; a lone star at the end stands for whatever follows, nothing included.
fn command(pattern: &[PatternWord], argv: &[String]) -> bool {
    let (head, open) = match pattern.split_last() {
        Some((last, head)) if last.text == "*" && !last.literal => (head, true),
        _ => (pattern, false),
    };
    let long_enough = if open { argv.len() >= head.len() } else { argv.len() == head.len() };
    long_enough
        && head.iter().zip(argv).enumerate().all(|(index, (pattern, word))| {
            // A program is the same by its name and by a path to it; which it is was already looked at.
            let word = if index == 0 && !pattern.text.contains('/') { program(word) } else { word };
            if pattern.literal { pattern.text == word } else { glob::word(&pattern.text, word) }
        })
}

/// Only the folders that programs are installed in make a path the same as a name: `./git` is not `git`.
pub(crate) fn program(word: &str) -> &str {
    const FOLDERS: [&str; 6] =
        ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/"];
    FOLDERS
        .iter()
        .find_map(|folder| word.strip_prefix(folder))
        .filter(|name| !name.contains('/'))
        .unwrap_or(word)
}

fn in_place(pattern: &str, path: &Path, place: &Place<'_>) -> bool {
    let text = path.to_string_lossy();
    if let Some(below) = pattern.strip_prefix("~/") {
        return glob::path(&format!("{}/{below}", place.home.display()), &text);
    }
    if pattern.starts_with('/') {
        return glob::path(pattern, &text);
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let Ok(relative) = path.strip_prefix(place.root) else { return false };
    let relative = relative.to_string_lossy();
    // As in ignore files, a name without a slash is meant wherever it is.
    glob::path(pattern, &relative)
        || (!pattern.contains('/') && glob::path(&format!("**/{pattern}"), &relative))
}

fn host(pattern: &str, name: &str) -> bool {
    let pattern = pattern.to_ascii_lowercase();
    let pattern = pattern.strip_prefix("domain:").unwrap_or(&pattern);
    match pattern.strip_prefix("*.") {
        Some(domain) => name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.')),
        None => pattern == name,
    }
}
