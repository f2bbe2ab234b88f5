//! Line by line, apart from white space and the spelling of quotes and dashes.

use super::lines::{Indents, Lines, essence};
use crate::text::Splice;

/// The places where the lines of `old` are, with `new` fitted to the file's indents.
pub(super) fn find(lines: &Lines<'_>, old: &str, new: &str) -> Vec<Splice> {
    let told: Vec<&str> = old.strip_suffix('\n').unwrap_or(old).split('\n').collect();
    if told.iter().all(|line| line.trim().is_empty()) {
        return vec![];
    }
    // Trailing white space alone is the lesser difference, so it is tried by itself first.
    let trailing = places(lines, &told, |line| line.trim_end().to_owned());
    let places = if trailing.is_empty() { places(lines, &told, essence) } else { trailing };
    places.into_iter().filter_map(|at| splice(lines, at, &told, old, new)).collect()
}

fn places(lines: &Lines<'_>, told: &[&str], key: impl Fn(&str) -> String) -> Vec<usize> {
    let told: Vec<String> = told.iter().map(|line| key(line)).collect();
    let real: Vec<String> = lines.all.iter().map(|line| key(line)).collect();
    let mut places = Vec::new();
    let mut at = 0;
    while at + told.len() <= real.len() {
        if real[at..at + told.len()] == told[..] {
            places.push(at);
            at += told.len();
        } else {
            at += 1;
        }
    }
    places
}

fn splice(lines: &Lines<'_>, at: usize, told: &[&str], old: &str, new: &str) -> Option<Splice> {
    let mut indents = Indents::default();
    let real = &lines.all[at..at + told.len()];
    if !told.iter().zip(real).all(|(told, real)| indents.learn(told, real)) {
        return None;
    }
    let mut range = lines.range(at..at + told.len());
    let whole = old.ends_with('\n');
    if lines.text[range.clone()].ends_with('\n') && !whole {
        range.end -= 1;
    }
    let body = new.strip_suffix('\n').filter(|_| whole).unwrap_or(new);
    // A line that the edit leaves alone is left alone in the file too, with its own white space.
    let known: std::collections::HashMap<&str, &str> =
        told.iter().copied().zip(real.iter().copied()).collect();
    let fitted: Vec<String> = body
        .split('\n')
        .map(|line| known.get(line).map_or_else(|| indents.fit(line), |real| (*real).to_owned()))
        .collect();
    let mut new_text = if body.is_empty() && whole { String::new() } else { fitted.join("\n") };
    if whole && new.ends_with('\n') && lines.text[range.clone()].ends_with('\n') {
        new_text.push('\n');
    }
    Some(Splice { range, new: new_text })
}
