//! By the lines around what changes.
//!
//! A model often repeats a long passage a little wrong and means a small change in it. What it means is the difference
//! between its old and its new text; that difference is made where the lines it takes away are, word for word, next to
//! lines it knows. What the model got wrong and did not mean to change stays as it is in the file.

use std::collections::HashMap;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::lines::{Indents, Lines, essence};
use crate::text::Splice;

/// Fewer lines than this are no context.
const LEAST_LINES: usize = 3;
/// How far lines may have slipped within the passage.
const SLACK: usize = 4;

pub(super) fn find(lines: &Lines<'_>, old: &str, new: &str) -> Option<Vec<Splice>> {
    let told: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
    let wanted: Vec<&str> = new.strip_suffix('\n').unwrap_or(new).split('\n').collect();
    let keys: Vec<String> = told.iter().map(|line| essence(line)).collect();
    if keys.iter().filter(|key| !key.is_empty()).count() < LEAST_LINES {
        return None;
    }
    let real: Vec<String> = lines.all.iter().map(|line| essence(line)).collect();
    let start = place(&keys, &real)?;
    let window = start.saturating_sub(SLACK)..(start + told.len() + SLACK).min(real.len());
    let mut at: Vec<Option<usize>> = vec![None; told.len()];
    for op in capture_diff_slices(Algorithm::Myers, &keys, &real[window.clone()]) {
        if op.tag() == DiffTag::Equal {
            for (told, real) in op.old_range().zip(op.new_range()) {
                at[told] = Some(window.start + real);
            }
        }
    }
    let mut indents = Indents::default();
    let pairs = at.iter().enumerate().filter_map(|(told, real)| Some((told, (*real)?)));
    for (told_at, real_at) in pairs {
        if !indents.learn(told[told_at], lines.all[real_at]) {
            return None;
        }
    }
    let mut splices = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &told, &wanted) {
        if op.tag() == DiffTag::Equal {
            continue;
        }
        let (gone, come) = (op.old_range(), op.new_range());
        let range = if gone.is_empty() { gap(&at, gone.start)? } else { stretch(&at, gone)? };
        let range = lines.range(range);
        let mut text: String = wanted[come].iter().map(|line| indents.fit(line) + "\n").collect();
        if !lines.text[..range.end].ends_with('\n') && range.end == lines.text.len() {
            // The last line has no end, and goes on having none.
            text.pop();
            if range.is_empty() && !lines.text.is_empty() {
                text.insert(0, '\n');
            }
        }
        splices.push(Splice { range, new: text });
    }
    Some(splices)
}

/// Where the passage starts, when there is one place that stands out.
fn place(keys: &[String], real: &[String]) -> Option<usize> {
    let mut told: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, key) in keys.iter().enumerate().filter(|(_, key)| !key.is_empty()) {
        told.entry(key).or_default().push(at);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (at, key) in real.iter().enumerate() {
        for start in told.get(key.as_str()).into_iter().flatten().filter_map(|told| at.checked_sub(*told)) {
            *votes.entry(start).or_default() += 1;
        }
    }
    let near = |start: usize| -> usize {
        (start.saturating_sub(SLACK)..=start + SLACK).filter_map(|start| votes.get(&start)).sum()
    };
    let (best, count) =
        votes.iter().map(|(start, count)| (*start, *count)).max_by_key(|(start, count)| (*count, *start))?;
    let needed = keys.iter().filter(|key| !key.is_empty()).count();
    let rival = votes.keys().filter(|start| start.abs_diff(best) > SLACK).map(|start| near(*start)).max();
    let clear = rival.is_none_or(|rival| rival * 5 < near(best) * 4);
    (clear && near(best) * 2 >= needed && count >= 2).then_some(best)
}

/// The lines of the file that are to go: all known, side by side, and next to a known line.
fn stretch(at: &[Option<usize>], gone: std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let first = at[gone.start]?;
    let together = gone.clone().all(|told| at[told] == Some(first + told - gone.start));
    let last = first + gone.len() - 1;
    let before = gone.start.checked_sub(1).and_then(|told| at[told]).is_some_and(|real| real + 1 == first);
    let after = at.get(gone.end).copied().flatten().is_some_and(|real| real == last + 1);
    (together && (before || after)).then_some(first..last + 1)
}

/// The place between two lines of the file where something is to come.
fn gap(at: &[Option<usize>], told: usize) -> Option<std::ops::Range<usize>> {
    let before = told.checked_sub(1).and_then(|told| at[told]).map(|real| real + 1);
    let after = at.get(told).copied().flatten();
    let place = match (before, after) {
        (Some(before), Some(after)) if before != after => return None,
        (before, after) => before.or(after)?,
    };
    Some(place..place)
}
