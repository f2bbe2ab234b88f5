//! Making the hunks.

use super::locate::{Fit, locate};
use super::{Hunk, HunkLine, LineKind, PatchError};
use crate::edit::lines::Indents;
use crate::text::Text;

const MARK: char = '\u{feff}';

/// The text with all hunks made. Kept lines stay as the file has them; new lines end as those around them do, unless the
/// patch itself says how.
pub(crate) fn apply(text: &Text, hunks: &[Hunk]) -> Result<Text, PatchError> {
    // To git a byte order mark is a letter of the first line.
    let speaks_of_mark = hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.text.starts_with(MARK));
    if speaks_of_mark && text.is_marked() {
        let changed = changed(text, &format!("{MARK}{}", text.original()), hunks)?;
        return Ok(match changed.strip_prefix(MARK) {
            Some(rest) => text.with(rest.to_owned()),
            None => text.unmarked().with(changed),
        });
    }
    Ok(text.with(changed(text, text.original(), hunks)?))
}

fn changed(text: &Text, original: &str, hunks: &[Hunk]) -> Result<String, PatchError> {
    let whole: Vec<&str> = original.split_inclusive('\n').collect();
    let lines: Vec<&str> = whole.iter().map(|line| line.strip_suffix('\n').unwrap_or(line)).collect();
    let mut out = Output { text: String::with_capacity(original.len()), whole: &whole };
    let mut done = 0;
    for Placed { hunk, start, fit } in placed(&lines, hunks)? {
        out.keep(done..start);
        done = out.make(hunk, start, fit, text);
        if done == whole.len() {
            out.end(hunk, original.is_empty() || original.ends_with('\n'));
        }
    }
    out.keep(done..whole.len());
    Ok(out.text)
}

/// A hunk, and where it goes.
struct Placed<'a> {
    hunk: &'a Hunk,
    start: usize,
    fit: Fit,
}

/// Where the hunks go, from the top of the file down. One is looked for below the one before it; models do not always
/// keep the order, so then above it.
fn placed<'a>(lines: &[&str], hunks: &'a [Hunk]) -> Result<Vec<Placed<'a>>, PatchError> {
    let mut placed: Vec<Placed<'a>> = Vec::new();
    let mut done = 0;
    for (at, hunk) in hunks.iter().enumerate() {
        let number = at + 1;
        let (start, fit) = locate(lines, done, hunk, number).or_else(|error| {
            let first = placed.iter().map(|placed| placed.start).min().unwrap_or(0);
            let above = &lines[..first.min(lines.len())];
            // What only adds goes anywhere, so its place must be told.
            let can_be_above = hunk.start.is_none() && !hunk.at_end && hunk.old().next().is_some();
            can_be_above.then(|| locate(above, 0, hunk, number).ok()).flatten().ok_or(error)
        })?;
        done = done.max(start + hunk.old().count());
        placed.push(Placed { hunk, start, fit });
    }
    placed.sort_by_key(|placed| placed.start);
    Ok(placed)
}

struct Output<'a> {
    text: String,
    /// The file's lines, with their ends.
    whole: &'a [&'a str],
}

impl Output<'_> {
    fn keep(&mut self, lines: std::ops::Range<usize>) {
        for line in &self.whole[lines] {
            self.finish_line();
            self.text.push_str(line);
        }
    }

    /// A line that was the last and had no end gets one when something follows.
    fn finish_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            let crlf = self.whole.first().is_some_and(|line| line.ends_with("\r\n"));
            self.text.push_str(if crlf { "\r\n" } else { "\n" });
        }
    }

    /// Makes one hunk at a line; answers the line after it.
    fn make(&mut self, hunk: &Hunk, start: usize, fit: Fit, text: &Text) -> usize {
        let mut at = start;
        let indents = if fit == Fit::Loose { self.indents(hunk, start) } else { None };
        let has_old = hunk.old().next().is_some();
        for line in &hunk.lines {
            match line.kind {
                LineKind::Keep => {
                    self.keep(at..at + 1);
                    at += 1;
                }
                LineKind::Remove => at += 1,
                LineKind::Add => {
                    self.finish_line();
                    let fitted = indents.as_ref().map(|indents| indents.fit(&line.text));
                    let added = fitted.as_deref().unwrap_or(&line.text);
                    self.text.push_str(added);
                    // A hunk that fits to the letter says itself how its lines end.
                    let says = added.ends_with('\r') || fit == Fit::Exact && has_old;
                    let crlf = !says && if has_old { self.is_crlf(start) } else { text.is_crlf() };
                    self.text.push_str(if crlf { "\r\n" } else { "\n" });
                }
            }
        }
        at
    }

    fn is_crlf(&self, at: usize) -> bool {
        let near = self.whole.get(at).filter(|line| line.ends_with('\n'));
        let near = near.or_else(|| at.checked_sub(1).and_then(|at| self.whole.get(at)));
        near.is_some_and(|line| line.ends_with("\r\n"))
    }

    fn indents(&self, hunk: &Hunk, start: usize) -> Option<Indents> {
        let mut indents = Indents::default();
        let real = self.whole[start..].iter().map(|line| line.trim_end_matches(['\n', '\r']));
        hunk.old().zip(real).all(|(told, real)| indents.learn(&told.text, real)).then_some(indents)
    }

    /// Sees to the end of the file after the hunk that reaches it.
    fn end(&mut self, hunk: &Hunk, had_end: bool) {
        let last: Option<&HunkLine> = hunk.lines.iter().rfind(|line| line.kind != LineKind::Remove);
        let Some(last) = last.filter(|line| line.kind == LineKind::Add) else { return };
        let says = hunk.lines.iter().any(|line| line.is_open);
        // Who does not speak of it did not mean to change it.
        let open = if says { last.is_open } else { !had_end };
        if open && self.text.ends_with('\n') {
            self.text.pop();
            // With `\r\n`, unless the `\r` is what the patch itself says.
            if self.text.ends_with('\r') && !last.text.ends_with('\r') {
                self.text.pop();
            }
        }
    }
}
