//! `*** Begin Patch`: files by name, hunks led to by headings instead of line numbers.

use super::unified::numbers;
use super::{FileEdit, FilePatch, Hunk, HunkLine, LineKind, PatchError};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

pub(super) fn is_codex(lines: &[&str]) -> bool {
    lines.iter().any(|line| line.trim() == BEGIN)
        || lines.first().is_some_and(|line| [ADD, DELETE, UPDATE].iter().any(|head| line.starts_with(head)))
}

pub(super) fn parse(lines: &[&str]) -> Result<Vec<FilePatch>, PatchError> {
    // Whatever wraps it (a shell's here document) is not part of it.
    let first = lines.iter().position(|line| line.trim() == BEGIN).map_or(0, |at| at + 1);
    let mut patches: Vec<FilePatch> = Vec::new();
    for (at, line) in lines.iter().enumerate().skip(first) {
        let unreadable = |reason: &str| PatchError::Unreadable { line: at + 1, reason: reason.to_owned() };
        if line.trim_end() == END {
            break;
        }
        // Within a hunk a blank in front is a line that stays.
        let in_hunks = matches!(patches.last().map(|patch| &patch.change), Some(FileEdit::Update { .. }));
        if let Some((path, change)) = head(if in_hunks { line } else { line.trim_start() }) {
            let path = path.trim().to_owned();
            patches.push(FilePatch { path, others: vec![], change, executable: None });
            continue;
        }
        match patches.last_mut().map(|patch| &mut patch.change) {
            // Between two files.
            Some(FileEdit::Create { .. }) if is_between(&lines[at..]) => {}
            Some(FileEdit::Create { text }) => {
                let added = line.strip_prefix('+').ok_or_else(|| {
                    unreadable(
                        "each line of a new file starts with `+`, and a file starts with `*** Add File: `",
                    )
                })?;
                text.push_str(added);
                text.push('\n');
            }
            Some(FileEdit::Update { moved_to, hunks }) => {
                if let Some(path) = line.strip_prefix(MOVE) {
                    *moved_to = Some(path.trim().to_owned());
                } else {
                    read_line(line, hunks).ok_or_else(|| {
                        unreadable("a line of a hunk starts with ` `, `+` or `-`, and a hunk with `@@`")
                    })?;
                }
            }
            Some(FileEdit::Delete { .. } | FileEdit::Copy { .. }) if line.trim().is_empty() => {}
            Some(FileEdit::Delete { .. } | FileEdit::Copy { .. }) => {
                return Err(unreadable("nothing follows `*** Delete File`"));
            }
            None if line.trim().is_empty() => {}
            None => return Err(unreadable("a file is missing: `*** Update File: path`")),
        }
    }
    patches.iter().try_for_each(check)?;
    Ok(patches)
}

/// The line that a file starts with.
fn head(line: &str) -> Option<(&str, FileEdit)> {
    if let Some(path) = line.strip_prefix(ADD) {
        Some((path, FileEdit::Create { text: String::new() }))
    } else if let Some(path) = line.strip_prefix(DELETE) {
        Some((path, FileEdit::Delete { hunks: vec![] }))
    } else {
        line.strip_prefix(UPDATE).map(|path| (path, FileEdit::Update { moved_to: None, hunks: vec![] }))
    }
}

/// Whether nothing but empty lines comes before the next file, or the end.
fn is_between(lines: &[&str]) -> bool {
    let mut lines = lines.iter().map(|line| line.trim());
    lines.next().is_some_and(str::is_empty)
        && lines.find(|line| !line.is_empty()).is_none_or(|line| line == END || head(line).is_some())
}

fn read_line(line: &str, hunks: &mut Vec<Hunk>) -> Option<()> {
    if let Some(heading) = line.strip_prefix("@@") {
        // Headings in a row lead further and further in.
        if hunks.last().is_none_or(|hunk| !hunk.lines.is_empty()) {
            hunks.push(Hunk::default());
        }
        // Some write the head of a unified diff's hunk.
        if let Some((hunk, numbers)) = hunks.last_mut().zip(numbers(line)) {
            hunk.start = Some(numbers.start);
            return Some(());
        }
        let heading = heading.trim().trim_end_matches("@@").trim_end();
        if let Some(hunk) = hunks.last_mut().filter(|_| !heading.is_empty()) {
            hunk.headings.push(heading.to_owned());
        }
        return Some(());
    }
    if line.trim_end() == END_OF_FILE {
        hunks.last_mut()?.at_end = true;
        return Some(());
    }
    let line = HunkLine::read(line)?;
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    hunks.last_mut()?.lines.push(line);
    Some(())
}

fn check(patch: &FilePatch) -> Result<(), PatchError> {
    let misfit = |reason: &str| Err(PatchError::Misfit(format!("`{}`: {reason}", patch.path)));
    match &patch.change {
        _ if patch.path.is_empty() => misfit("a file has no name"),
        FileEdit::Update { moved_to: None, hunks } if hunks.iter().all(|hunk| hunk.lines.is_empty()) => {
            misfit("the patch says nothing of what to change")
        }
        FileEdit::Update { hunks, .. }
            if hunks.iter().any(|hunk| hunk.lines.iter().all(|line| line.kind == LineKind::Keep)) =>
        {
            misfit("a hunk changes nothing: lines to remove start with `-`, lines to add with `+`")
        }
        _ => Ok(()),
    }
}
