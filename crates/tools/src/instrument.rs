//! Lines put into source files to see what happens, and taken out again.
//!
//! Each such line ends with a comment that marks it, in the comment syntax of its language. Taking out is by the mark
//! alone, so it works whatever else happened to the file in between.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use project::{ByteRange, Expect, Host, MAX_READ};

use crate::{ToolError, ToolState};

/// Removed at the end of the turn.
const MARK: &str = "covey-debug";
/// Stays until it is asked for.
const LASTING: &str = "covey-debug-keep";

/// How a comment looks: what opens it and, for some, what closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Comment(&'static str, &'static str);

impl Comment {
    /// By the file's name; None where there are no comments to the end of a line.
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_lowercase();
        let extension = name.rsplit_once('.').map_or(name.as_str(), |(_, extension)| extension);
        Some(match extension {
            "rs" | "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "go" | "java" | "c"
            | "h" | "cc" | "cpp" | "cxx" | "hpp" | "hh" | "cs" | "swift" | "kt" | "kts" | "scala"
            | "dart" | "php" | "zig" | "m" | "mm" | "groovy" | "gradle" | "proto" | "sol" | "v" | "sv"
            | "fs" | "jsonc" | "less" | "scss" => Self("//", ""),
            "py" | "pyi" | "rb" | "sh" | "bash" | "zsh" | "fish" | "pl" | "pm" | "r" | "jl" | "ex"
            | "exs" | "yml" | "yaml" | "toml" | "nim" | "cr" | "ps1" | "tcl" | "mk" | "makefile"
            | "dockerfile" | "cmake" | "nix" | "tf" | "conf" | "coffee" | "gnumakefile" => Self("#", ""),
            "sql" | "lua" | "hs" | "elm" | "ada" | "adb" | "vhd" | "vhdl" => Self("--", ""),
            "lisp" | "clj" | "cljs" | "scm" | "el" | "rkt" | "asm" | "ini" => Self(";", ""),
            "tex" | "erl" | "hrl" | "prolog" => Self("%", ""),
            "vb" | "bas" | "vbs" => Self("'", ""),
            "html" | "htm" | "xml" | "svg" | "vue" | "svelte" | "md" => Self("<!--", "-->"),
            "css" => Self("/*", "*/"),
            "ml" | "mli" => Self("(*", "*)"),
            _ => return None,
        })
    }

    fn marked(self, line: &str, mark: &str) -> String {
        let Self(open, close) = self;
        format!("{line} {open} {mark} {close}").trim_end().to_owned()
    }

    /// Whether a line ends with one of the marks.
    fn is_marked(self, line: &[u8], marks: &[&str]) -> bool {
        let line = line.trim_ascii_end();
        let Self(open, close) = self;
        let Some(line) = line.strip_suffix(close.as_bytes()) else { return false };
        let line = line.trim_ascii_end();
        marks.iter().any(|mark| {
            let rest = line.strip_suffix(mark.as_bytes()).map(<[u8]>::trim_ascii_end);
            rest.is_some_and(|rest| rest.ends_with(open.as_bytes()))
        })
    }
}

/// The files of a session that have such lines.
#[derive(Default)]
pub(crate) struct Instrumented {
    files: Mutex<BTreeSet<PathBuf>>,
}

impl Instrumented {
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn add(&self, path: &Path) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    }

    fn remove(&self, path: &Path) {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }
}

/// Which marked lines are taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Which {
    All,
    /// All but those that were to stay.
    Passing,
}

/// Puts `code` after line `line` of a file (0: at its beginning), indented like the line it follows or precedes.
pub(crate) async fn insert(
    state: &ToolState,
    host: &dyn Host,
    path: &Path,
    line: usize,
    code: &str,
    keep: bool,
) -> Result<usize, ToolError> {
    let comment = Comment::of(path).ok_or_else(|| {
        ToolError(format!("`{}` has no comments that could mark a line for removal", path.display()))
    })?;
    let mark = if keep { LASTING } else { MARK };
    let added: Vec<&str> = code.trim_matches('\n').lines().collect();
    if added.iter().any(|line| line.trim_end().ends_with('\\')) {
        return Err(ToolError(
            "a line that goes on after `\\` can not carry a mark: put it on one line".to_owned(),
        ));
    }
    change(state, host, path, |bytes| put(bytes, comment, line, &added, mark)).await?;
    state.extra::<Instrumented>().add(path);
    Ok(added.len())
}

/// Takes marked lines out of a file; how many there were.
pub(crate) async fn remove(
    state: &ToolState,
    host: &dyn Host,
    path: &Path,
    which: Which,
) -> Result<usize, ToolError> {
    let Some(comment) = Comment::of(path) else { return Ok(0) };
    let mut count = 0;
    let result = change(state, host, path, |bytes| {
        let (rest, removed) = take(bytes, comment, which);
        count = removed;
        Ok(rest)
    })
    .await;
    match result {
        Ok(has_lasting) => {
            if !has_lasting {
                state.extra::<Instrumented>().remove(path);
            }
            Ok(count)
        }
        Err(error) => Err(error),
    }
}

/// Takes out what was put in for this turn, in every file of the session. The end of a turn calls it; the files that
/// were changed come back. One that can not be changed is left for the next time.
pub async fn cleanup(state: &ToolState, host: &dyn Host) -> Vec<PathBuf> {
    let mut changed = Vec::new();
    for path in state.extra::<Instrumented>().files() {
        if let Ok(1..) = remove(state, host, &path, Which::Passing).await {
            changed.push(path);
        }
    }
    changed
}

/// Reads, changes and writes a file, if nobody else does so in between. True when marked lines stay in it.
async fn change(
    state: &ToolState,
    host: &dyn Host,
    path: &Path,
    work: impl FnOnce(&[u8]) -> Result<Vec<u8>, ToolError>,
) -> Result<bool, ToolError> {
    let read = host.read(path, ByteRange::first(MAX_READ)).await?;
    if read.total_len > read.bytes.len() as u64 {
        return Err(ToolError(format!("`{}` is too large", path.display())));
    }
    let stamp = read.stamp();
    let bytes = work(&read.bytes)?;
    let comment = Comment::of(path);
    let stays = comment.is_some_and(|comment| {
        bytes.split(|byte| *byte == b'\n').any(|line| comment.is_marked(line, &[MARK, LASTING]))
    });
    if bytes != read.bytes {
        let was_seen = state.seen(path) == Some(stamp);
        let written = host.write(path, bytes, Expect::Unchanged(stamp)).await?;
        // What the model saw is still what it would see, but for lines that it knows of.
        if was_seen {
            state.saw(path, written);
        }
        state.edited();
    }
    Ok(stays)
}

fn put(
    bytes: &[u8],
    comment: Comment,
    after: usize,
    added: &[&str],
    mark: &str,
) -> Result<Vec<u8>, ToolError> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    if after > lines.len() {
        return Err(ToolError(format!("line {after} is beyond the end, there are {}", lines.len())));
    }
    let line_break: &[u8] =
        if lines.first().is_some_and(|line| line.ends_with(b"\r\n")) { b"\r\n" } else { b"\n" };
    let near = if after == 0 { lines.first() } else { lines.get(after - 1) };
    let indent: Vec<u8> = near
        .into_iter()
        .flat_map(|line| line.iter().copied().take_while(|byte| matches!(byte, b' ' | b'\t')))
        .collect();
    let mut out = lines[..after].concat();
    // The last line of a file may have no line break; the one put after it must then not have one either.
    let unfinished = !out.is_empty() && !out.ends_with(b"\n");
    for line in added {
        if unfinished {
            out.extend_from_slice(line_break);
        }
        if !line.starts_with([' ', '\t']) {
            out.extend_from_slice(&indent);
        }
        out.extend_from_slice(comment.marked(line, mark).as_bytes());
        if !unfinished {
            out.extend_from_slice(line_break);
        }
    }
    out.extend(lines[after..].concat());
    Ok(out)
}

fn take(bytes: &[u8], comment: Comment, which: Which) -> (Vec<u8>, usize) {
    let marks: &[&str] = if which == Which::All { &[MARK, LASTING] } else { &[MARK] };
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let kept: Vec<&[u8]> = lines.iter().copied().filter(|line| !comment.is_marked(line, marks)).collect();
    let removed = lines.len() - kept.len();
    let mut out = kept.concat();
    // When the file ended without a line break before, so it does again.
    if removed > 0 && !bytes.ends_with(b"\n") && out.ends_with(b"\n") {
        out.pop();
        if out.ends_with(b"\r") {
            out.pop();
        }
    }
    (out, removed)
}
