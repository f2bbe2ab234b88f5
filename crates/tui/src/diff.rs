//! Changes to a file: lines with their numbers, and in changed lines the words that differ.

use similar::{ChangeTag, DiffTag, TextDiff};

use crate::highlight::{self, Language, State};
use crate::text::{Ground, Ink, Line, Span, Style, plain, width};

/// Unchanged lines shown around a change.
const AROUND: usize = 2;
/// Above this, a file is compared no further than line by line, and not at all twice above that.
const MAX_BYTES: usize = 512 << 10;

/// From here on old and new stand side by side.
const SIDE_BY_SIDE: usize = 130;
const GAP: &str = "  ";

/// Lines that are compared word by word in one change.
const MAX_PAIRED: usize = 40;

/// How much changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    pub(crate) added: usize,
    pub(crate) removed: usize,
}

impl Tally {
    pub(crate) fn line(self) -> Line {
        let mut line = Line::of(format!("+{}", self.added), Ink::Good);
        line.push(format!(" −{}", self.removed), Ink::Danger);
        line
    }
}

pub(crate) fn tally(old: &str, new: &str) -> Tally {
    if old.len() + new.len() > 2 * MAX_BYTES {
        return Tally { added: new.lines().count(), removed: old.lines().count() };
    }
    let diff = TextDiff::from_lines(old, new);
    let mut tally = Tally::default();
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => tally.added += 1,
            ChangeTag::Delete => tally.removed += 1,
            ChangeTag::Equal => {}
        }
    }
    tally
}

/// The rows of a diff, at most `limit` of them, within `columns`: side by side where there is room for both.
pub(crate) fn rows(path: &str, old: &str, new: &str, columns: usize, limit: usize) -> Vec<Line> {
    lay(path, old, new, columns, limit, true)
}

/// The same for a part of a file, whose place in it is not known: without numbers.
pub(crate) fn excerpt(path: &str, old: &str, new: &str, columns: usize, limit: usize) -> Vec<Line> {
    lay(path, old, new, columns, limit, false)
}

fn lay(path: &str, old: &str, new: &str, columns: usize, limit: usize, numbered: bool) -> Vec<Line> {
    if old.len() + new.len() > 2 * MAX_BYTES {
        return vec![Line::of("too large to show; look at the file", Ink::Faint)];
    }
    let (old, new) = (plain(old), plain(new));
    let olds: Vec<&str> = old.split_inclusive('\n').collect();
    let news: Vec<&str> = new.split_inclusive('\n').collect();
    let diff = TextDiff::from_slices(&olds, &news);
    let digits = match numbered {
        true => olds.len().max(news.len()).max(1).to_string().len().max(3),
        false => 0,
    };
    let language = path.rsplit(['.', '/']).next().and_then(highlight::by_name);
    // What only comes, or only goes, has nothing to stand beside.
    let beside = columns >= SIDE_BY_SIDE && !old.is_empty() && !new.is_empty();
    let half = if beside { (columns - GAP.len()) / 2 } else { columns };
    let sheet = Sheet { digits, columns: half, language };
    let mut rows = Vec::new();
    for (number, group) in diff.grouped_ops(AROUND).iter().enumerate() {
        if number > 0 {
            rows.push(Line::of(format!("{:>digits$} ⋮", ""), Ink::Line));
        }
        for op in group {
            let (old_range, new_range) = (op.old_range(), op.new_range());
            match op.tag() {
                DiffTag::Equal => {
                    for (at, line) in news[new_range.clone()].iter().enumerate() {
                        let right = sheet.same(new_range.start + at, line);
                        match beside {
                            true => {
                                rows.extend(side_by_side(sheet.same(old_range.start + at, line), right, half))
                            }
                            false => rows.extend(right),
                        }
                    }
                }
                _ if beside => {
                    let (gone, come) = (&olds[old_range.clone()], &news[new_range.clone()]);
                    let pairs = pair(gone, come);
                    for (left, right) in pairs.abreast(gone.len(), come.len()) {
                        let left = left.map(|at| {
                            sheet.changed(old_range.start + at, '-', gone[at], pairs.old_marks[at].as_ref())
                        });
                        let right = right.map(|at| {
                            sheet.changed(new_range.start + at, '+', come[at], pairs.new_marks[at].as_ref())
                        });
                        rows.extend(side_by_side(left.unwrap_or_default(), right.unwrap_or_default(), half));
                    }
                }
                _ => {
                    let (gone, come) = (&olds[old_range.clone()], &news[new_range.clone()]);
                    let Pairs { old_marks, new_marks, .. } = pair(gone, come);
                    for (at, line) in gone.iter().enumerate() {
                        let marks = old_marks[at].as_ref();
                        rows.extend(sheet.changed(old_range.start + at, '-', line, marks));
                    }
                    for (at, line) in come.iter().enumerate() {
                        let marks = new_marks[at].as_ref();
                        rows.extend(sheet.changed(new_range.start + at, '+', line, marks));
                    }
                }
            }
        }
    }
    if rows.len() > limit {
        let more = rows.len() - limit;
        rows.truncate(limit);
        rows.push(Line::of(format!("{:>digits$}   {more} more lines", "…"), Ink::Faint));
    }
    rows
}

struct Sheet {
    digits: usize,
    columns: usize,
    language: Option<&'static Language>,
}

impl Sheet {
    fn same(&self, number: usize, text: &str) -> Vec<Line> {
        let spans = self.coloured(text.trim_end_matches('\n'));
        self.lay(number, ' ', spans, Ground::None)
    }

    fn changed(&self, number: usize, sign: char, text: &str, marks: Option<&Vec<bool>>) -> Vec<Line> {
        let (ground, word) = match sign {
            '+' => (Ground::Added, Ground::AddedWord),
            _ => (Ground::Removed, Ground::RemovedWord),
        };
        let text = text.trim_end_matches('\n');
        let mut spans = self.coloured(text);
        for span in &mut spans {
            span.style.ground = ground;
        }
        if let Some(marks) = marks {
            spans = mark(spans, marks, word);
        }
        self.lay(number, sign, spans, ground)
    }

    fn coloured(&self, text: &str) -> Vec<Span> {
        match self.language {
            Some(language) => highlight::line(text, language, State::Code).0,
            None => vec![Span::new(text, Style::default())],
        }
    }

    fn lay(&self, number: usize, sign: char, spans: Vec<Span>, ground: Ground) -> Vec<Line> {
        let sign_ink = match sign {
            '+' => Ink::Good,
            '-' => Ink::Danger,
            _ => Ink::Faint,
        };
        let lead = |label: String, sign: char| {
            vec![
                Span::new(format!("{label:>width$} │ ", width = self.digits), Ink::Faint),
                Span::new(format!("{sign} "), Style::new(sign_ink).on(ground)),
            ]
        };
        let room = self.columns.saturating_sub(self.digits + 5).max(8);
        let mut lines: Vec<Line> = Vec::new();
        for piece in hard_wrap(spans, room) {
            let label = match lines.is_empty() && self.digits > 0 {
                true => (number + 1).to_string(),
                false => String::new(),
            };
            let shown = if lines.is_empty() { sign } else { ' ' };
            let mut line = piece.led_by(&lead(label, shown));
            if ground != Ground::None {
                let missing = self.columns.saturating_sub(line.width());
                line.push(" ".repeat(missing), Style::default().on(ground));
            }
            lines.push(line);
        }
        lines
    }
}

/// Code breaks where the room ends, so that it reads as it stands in the file.
pub(crate) fn hard_wrap(spans: Vec<Span>, columns: usize) -> Vec<Line> {
    let mut lines = vec![Line::new()];
    let mut used = 0;
    for span in spans {
        if span.text.is_ascii() && used + span.text.len() <= columns {
            used += span.text.len();
            lines.last_mut().expect("never empty").spans.push(span);
            continue;
        }
        for (grapheme, wide) in crate::text::graphemes(&span.text) {
            if used + wide > columns {
                lines.push(Line::new());
                used = 0;
            }
            used += wide;
            lines.last_mut().expect("never empty").push(grapheme, span.style);
        }
    }
    lines
}

/// The words that differ, for each line that went and each that came.
type Marks = Vec<Option<Vec<bool>>>;

/// Which lines took whose place, and what differs in them.
struct Pairs {
    old_marks: Marks,
    new_marks: Marks,
    /// Old and new, in order.
    couples: Vec<(usize, usize)>,
}

impl Pairs {
    /// Every line once, those that belong together in one row.
    fn abreast(&self, gone: usize, come: usize) -> Vec<(Option<usize>, Option<usize>)> {
        let mut rows = Vec::new();
        let (mut old, mut new) = (0, 0);
        for (old_end, new_end) in self.couples.iter().copied().chain([(gone, come)]) {
            // Between two couples the lines fill the rows from the top.
            let count = (old_end - old).max(new_end - new);
            rows.extend((0..count).map(|at| {
                let within = |start: usize, end: usize| Some(start + at).filter(|line| *line < end);
                (within(old, old_end), within(new, new_end))
            }));
            if old_end < gone && new_end < come {
                rows.push((Some(old_end), Some(new_end)));
            }
            (old, new) = (old_end + 1, new_end + 1);
        }
        rows
    }
}

/// Puts two sides into one row each.
fn side_by_side(left: Vec<Line>, right: Vec<Line>, half: usize) -> Vec<Line> {
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let mut rows = Vec::new();
    loop {
        let (one, other) = (left.next(), right.next());
        if one.is_none() && other.is_none() {
            return rows;
        }
        let mut line = one.unwrap_or_default();
        let missing = half.saturating_sub(line.width());
        line.push(" ".repeat(missing), Style::default());
        line.push(GAP, Ink::Text);
        line.spans.extend(other.unwrap_or_default().spans);
        rows.push(line);
    }
}

/// Lines that went with the lines that took their place: each with the one that is most like it, in order.
fn pair(gone: &[&str], come: &[&str]) -> Pairs {
    let (mut old_marks, mut new_marks) = (vec![None; gone.len()], vec![None; come.len()]);
    let mut couples = Vec::new();
    let mut from = 0;
    for (at, old) in gone.iter().enumerate().take(MAX_PAIRED) {
        let candidates = come.iter().enumerate().skip(from).take(MAX_PAIRED);
        let scored = candidates.map(|(to, new)| (to, words(old, new)));
        let best = scored
            .filter(|(_, (marks, ..))| !marks.is_empty())
            .max_by_key(|(to, (.., common))| (*common, usize::MAX - to));
        if let Some((to, (old, new, _))) = best {
            (old_marks[at], new_marks[to]) = (Some(old), Some(new));
            couples.push((at, to));
            from = to + 1;
        }
    }
    Pairs { old_marks, new_marks, couples }
}

/// For each word of two lines, in order, whether it differs, and how much is common. Nothing is marked where that is
/// little.
fn words(old: &str, new: &str) -> (Vec<bool>, Vec<bool>, usize) {
    let (a, b) = (tokens(old), tokens(new));
    let diff = TextDiff::from_slices(&a, &b);
    let mut marks = (vec![false; a.len()], vec![false; b.len()]);
    let mut common = 0;
    for op in diff.ops() {
        if op.tag() == DiffTag::Equal {
            common += a[op.old_range()].iter().map(|word| width(word.trim())).sum::<usize>();
            continue;
        }
        op.old_range().for_each(|at| marks.0[at] = true);
        op.new_range().for_each(|at| marks.1[at] = true);
    }
    let longest = width(old.trim()).max(width(new.trim()));
    if common * 3 < longest {
        return (vec![], vec![], 0);
    }
    (marks.0, marks.1, common)
}

/// Words, spaces and single signs.
fn tokens(text: &str) -> Vec<&str> {
    let text = text.trim_end_matches('\n');
    let kind = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            0
        } else if c == ' ' {
            1
        } else {
            2
        }
    };
    let mut out = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let this = kind(c);
        if last.is_some_and(|last| last != this || this == 2) {
            out.push(&text[start..at]);
            start = at;
        }
        last = Some(this);
    }
    if start < text.len() {
        out.push(&text[start..]);
    }
    out
}

/// Sets the ground of the marked words of a line that is cut into spans elsewhere.
fn mark(spans: Vec<Span>, marks: &[bool], ground: Ground) -> Vec<Span> {
    let whole: String = spans.iter().map(|span| span.text.as_str()).collect();
    let mut flags = Vec::with_capacity(whole.len());
    for (at, token) in tokens(&whole).iter().enumerate() {
        flags.extend(std::iter::repeat_n(marks.get(at).copied().unwrap_or(false), token.len()));
    }
    let mut line = Line::new();
    let mut offset = 0;
    for span in spans {
        let mut from = 0;
        while from < span.text.len() {
            let flag = flags.get(offset + from).copied().unwrap_or(false);
            let length =
                flags[(offset + from).min(flags.len())..].iter().take_while(|next| **next == flag).count();
            let to = (from + length.max(1)).min(span.text.len());
            let to =
                (to..=span.text.len()).find(|at| span.text.is_char_boundary(*at)).unwrap_or(span.text.len());
            let style = if flag { span.style.on(ground) } else { span.style };
            line.push(&span.text[from..to], style);
            from = to;
        }
        offset += span.text.len();
    }
    line.spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_words_have_marks() {
        let old = "fn a() {\n    self.discount += coupon.value;\n}\n";
        let new = "fn a() {\n    if self.applied {\n        self.discount += coupon.price;\n    }\n}\n";
        let shown: Vec<String> =
            rows("a.rs", old, new, 50, 40).iter().map(|row| row.text().trim_end().to_owned()).collect();
        insta::assert_snapshot!(shown.join("\n"), @"
          1 │   fn a() {
          2 │ -     self.discount += coupon.value;
          2 │ +     if self.applied {
          3 │ +         self.discount += coupon.price;
          4 │ +     }
          5 │   }
        ");
        assert_eq!(tally(old, new), Tally { added: 3, removed: 1 });
        let (gone, come, _) = words("let a = old_name(1);", "let a = new_name(1);");
        assert_eq!((gone.iter().filter(|m| **m).count(), come.iter().filter(|m| **m).count()), (1, 1));
        assert_eq!(words("completely different", "(other) {thing}").0, Vec::<bool>::new());
    }

    #[test]
    fn wide_windows_show_both_sides() {
        let old = "fn a() {\n    self.discount += coupon.value;\n}\n";
        let new = "fn a() {\n    if self.applied {\n        self.discount += coupon.price;\n    }\n}\n";
        let shown: Vec<String> =
            rows("a.rs", old, new, 130, 40).iter().map(|row| row.text().trim_end().to_owned()).collect();
        insta::assert_snapshot!(shown.join("\n"), @"
          1 │   fn a() {                                                    1 │   fn a() {
                                                                            2 │ +     if self.applied {
          2 │ -     self.discount += coupon.value;                          3 │ +         self.discount += coupon.price;
                                                                            4 │ +     }
          3 │   }                                                           5 │   }
        ");
        assert!(rows("a.rs", old, new, 130, 40).iter().all(|row| row.width() <= 130));
    }

    #[test]
    fn much_is_cut_and_a_new_file_is_all_plus() {
        let new: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let shown = rows("a.txt", "", &new, 40, 5);
        assert_eq!(shown.len(), 6);
        assert_eq!(shown[5].text(), "  …   95 more lines");
    }
}
