//! Unified diffs.

use super::header::Head;
use super::{FilePatch, Hunk, HunkLine, LineKind, PatchError};

/// Whether the counts in a hunk's head are to be believed.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Counts {
    Hold,
    Guess,
}

pub(super) fn parse(lines: &[&str], counts: Counts) -> Result<Vec<FilePatch>, PatchError> {
    let mut patches = Vec::new();
    let mut head = Head::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let unreadable = |reason: String| PatchError::Unreadable { line: at + 1, reason };
        if line.starts_with("diff --cc ") || line.starts_with("diff --combined ") {
            return Err(unreadable("a merge is not patched; make a diff against one side".to_owned()));
        } else if line.starts_with("diff --git ") {
            patches.extend(std::mem::replace(&mut head, Head::git(line)).finish()?);
            at += 1;
        } else if let Some((old, new)) = names(lines, at) {
            if head.is_named() {
                patches.extend(std::mem::take(&mut head).finish()?);
            }
            head.name(old, new);
            at += 2;
        } else if line.starts_with("@@") {
            if !head.is_started() {
                return Err(unreadable(
                    "a hunk without a file: `--- path` and `+++ path` are missing".to_owned(),
                ));
            }
            let (hunk, next) = hunk(lines, at, counts)?;
            head.hunks.push(hunk);
            at = next;
        } else {
            if head.hunks.is_empty() {
                head.read(line).map_err(unreadable)?;
            } else if counts == Counts::Hold && line.starts_with([' ', '+', '-']) && !line.starts_with("-- ")
            {
                return Err(unreadable("more lines than the head of the hunk says".to_owned()));
            }
            at += 1;
        }
    }
    patches.extend(head.finish()?);
    Ok(patches)
}

/// The two lines that name a file.
fn names<'a>(lines: &[&'a str], at: usize) -> Option<(&'a str, &'a str)> {
    let old = lines.get(at)?.strip_prefix("--- ")?;
    let new = lines.get(at + 1)?.strip_prefix("+++ ")?;
    Some((old, new))
}

/// Reads the hunk whose head is at `at`; also where it ends.
fn hunk(lines: &[&str], at: usize, counts: Counts) -> Result<(Hunk, usize), PatchError> {
    let unreadable =
        |at: usize, reason: &str| PatchError::Unreadable { line: at + 1, reason: reason.to_owned() };
    let numbers = numbers(lines[at]);
    let mut hunk = Hunk { start: numbers.map(|numbers| numbers.start), ..Hunk::default() };
    if counts == Counts::Hold && numbers.is_none() {
        return Err(unreadable(at, "the head of a hunk reads `@@ -1,3 +1,4 @@`"));
    }
    let (mut old, mut new) = numbers.map_or((0, 0), |numbers| (numbers.old, numbers.new));
    let mut next = at + 1;
    while let Some(line) = lines.get(next) {
        if line.starts_with("\\ ") {
            if let Some(last) = hunk.lines.last_mut() {
                last.is_open = true;
            }
            next += 1;
            continue;
        }
        let ends = match counts {
            Counts::Hold => old == 0 && new == 0,
            Counts::Guess => {
                line.starts_with("@@")
                    || line.starts_with("diff --git ")
                    || line.starts_with("```")
                    || names(lines, next).is_some()
            }
        };
        if ends {
            break;
        }
        let Some(read) = HunkLine::read(line) else {
            return Err(unreadable(next, "a line of a hunk starts with ` `, `+` or `-`"));
        };
        if counts == Counts::Hold {
            let takes_old = usize::from(read.kind != LineKind::Add);
            let takes_new = usize::from(read.kind != LineKind::Remove);
            let (Some(old_left), Some(new_left)) = (old.checked_sub(takes_old), new.checked_sub(takes_new))
            else {
                return Err(unreadable(next, "the counts of the hunk do not fit its lines"));
            };
            (old, new) = (old_left, new_left);
        }
        hunk.lines.push(read);
        next += 1;
    }
    if counts == Counts::Hold && (old, new) != (0, 0) {
        return Err(unreadable(at, "fewer lines than the head of the hunk says"));
    }
    if counts == Counts::Guess {
        // Blank lines between hunks are nobody's.
        while hunk.lines.last().is_some_and(|line| line.kind == LineKind::Keep && line.text.is_empty())
            && lines.get(next - 1).is_some_and(|line| line.is_empty())
        {
            hunk.lines.pop();
            next -= 1;
        }
    }
    Ok((hunk, next.max(at + 1)))
}

#[derive(Clone, Copy)]
pub(super) struct Numbers {
    pub(super) start: usize,
    old: usize,
    new: usize,
}

/// `@@ -start,old +start,new @@`
pub(super) fn numbers(head: &str) -> Option<Numbers> {
    let mut words = head.strip_prefix("@@ -")?.split_whitespace();
    let pair = |word: &str| match word.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((word.parse().ok()?, 1)),
    };
    let (start, old) = pair(words.next()?)?;
    let (_, new): (usize, usize) = pair(words.next()?.strip_prefix('+')?)?;
    Some(Numbers { start, old, new })
}
