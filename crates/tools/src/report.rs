//! What a change is told as: to the model the changed places with line numbers, to front ends a diff, to the person
//! `+3 -1`.

use std::time::Duration;

use similar::{DiffTag, TextDiff};

/// Lines around a change, for the model.
const CONTEXT: usize = 2;
/// Lines of one answer, for the model.
const MAX_LINES: usize = 120;
const MAX_LINE: usize = 240;
/// A larger text is shown around its changes only.
const MAX_SHOWN: usize = 256 * 1024;
const SHOWN_CONTEXT: usize = 20;
/// How long two texts are compared; the answer may be coarser than it could be, never wrong.
const PATIENCE: Duration = Duration::from_millis(400);

/// What is told of one file.
pub(crate) struct Told<'a> {
    pub(crate) path: &'a str,
    pub(crate) old: Option<&'a str>,
    pub(crate) new: Option<&'a str>,
    pub(crate) moved_to: Option<&'a str>,
    pub(crate) note: Option<&'a str>,
}

#[derive(Default)]
pub(crate) struct Report {
    text: String,
    lines: usize,
    files: usize,
    added: usize,
    removed: usize,
}

impl Report {
    pub(crate) fn add(&mut self, told: Told<'_>) {
        let diff = compare(told.old.unwrap_or_default(), told.new.unwrap_or_default());
        let (mut added, mut removed) = (0, 0);
        for op in diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal) {
            added += op.new_range().len();
            removed += op.old_range().len();
        }
        self.files += 1;
        self.added += added;
        self.removed += removed;
        let path = one_line(told.path);
        let what = match (told.old, told.new, told.moved_to) {
            (None, _, _) => format!("created {path}: {}", lines(added)),
            (_, None, _) => format!("deleted {path}"),
            (_, _, Some(to)) => format!("moved {path} to {} +{added} -{removed}", one_line(to)),
            _ => format!("changed {path} +{added} -{removed}"),
        };
        self.text.push_str(&what);
        if let Some(note) = told.note {
            self.text.push_str(&format!(" ({note})"));
        }
        self.text.push('\n');
        // What was just written in full need not be said again.
        if told.old.is_some() && told.new.is_some() {
            self.changed_places(&diff);
        }
    }

    fn changed_places(&mut self, diff: &TextDiff<'_, '_, str>) {
        for (at, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            if at > 0 && self.lines < MAX_LINES {
                self.text.push_str("…\n");
            }
            for number in first.new_range().start..last.new_range().end {
                if self.lines == MAX_LINES {
                    self.text.push_str("… more changes are not shown\n");
                }
                self.lines += 1;
                if self.lines > MAX_LINES {
                    return;
                }
                let line = diff.new_slice(number).unwrap_or_default();
                self.text.push_str(&format!(
                    "{}\t{}\n",
                    number + 1,
                    cut(line.trim_end_matches(['\n', '\r']))
                ));
            }
        }
    }

    /// The two sides for front ends, of a huge file only the changed places.
    pub(crate) fn shown(&self, old: Option<&str>, new: &str) -> (Option<String>, String) {
        let before = old.unwrap_or_default();
        if before.len() <= MAX_SHOWN && new.len() <= MAX_SHOWN {
            return (old.map(shown), shown(new));
        }
        let diff = compare(before, new);
        let (mut left, mut right) = (String::new(), String::new());
        for group in diff.grouped_ops(SHOWN_CONTEXT) {
            for op in group {
                for at in op.old_range() {
                    left.push_str(diff.old_slice(at).unwrap_or_default());
                }
                for at in op.new_range() {
                    right.push_str(diff.new_slice(at).unwrap_or_default());
                }
            }
        }
        left.truncate(left.floor_char_boundary(MAX_SHOWN));
        right.truncate(right.floor_char_boundary(MAX_SHOWN));
        (old.map(|_| shown(&left)), shown(&right))
    }

    /// The text and the summary.
    pub(crate) fn finish(self) -> (String, String) {
        let counts = format!("+{} -{}", self.added, self.removed);
        let summary = if self.files > 1 { format!("{} files {counts}", self.files) } else { counts };
        (self.text, summary)
    }
}

fn compare<'a>(old: &'a str, new: &'a str) -> TextDiff<'a, 'a, str> {
    TextDiff::configure().timeout(PATIENCE).diff_lines(old, new)
}

fn shown(text: &str) -> String {
    text.chars().map(crate::text::shown).collect()
}

/// At most so much of a line as a model can use.
pub(crate) fn cut(line: &str) -> String {
    let mut left = line.chars();
    let mut text: String = left.by_ref().take(MAX_LINE).map(crate::text::shown).collect();
    if left.next().is_some() {
        text.push_str(" …[line cut]");
    }
    text
}

/// A name may hold a line break; it must not look like two. Such a one is written as an argument of a call would be, so
/// that it can be used again.
pub(crate) fn one_line(name: &str) -> String {
    if name.contains(char::is_control) { serde_json::Value::from(name).to_string() } else { name.to_owned() }
}

/// `1 line`, `2 lines`.
pub(crate) fn lines(count: usize) -> String {
    counted(count, "line")
}

/// `1 file`, `2 files`; `1 match`, `2 matches`; `1 entry`, `2 entries`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) if noun.ends_with("ch") => format!("{count} {noun}es"),
        (_, None) => format!("{count} {noun}s"),
    }
}
