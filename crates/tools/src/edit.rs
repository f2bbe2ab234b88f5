//! Finding the text that an edit names, and replacing it.
//!
//! Three ways, the strictest first: letter by letter; line by line apart from white space; and, for longer texts, by the
//! lines around what changes. A way is taken only when it leads to one place.

mod anchored;
mod exact;
pub(crate) mod lines;
mod loose;
mod nearest;
#[cfg(test)]
mod tests;

use lines::Lines;

use crate::text::{Splice, Text, plain};

/// How many places an answer names.
const NAMED: usize = 5;

/// One replacement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edit<'a> {
    pub(crate) old: &'a str,
    pub(crate) new: &'a str,
    pub(crate) replace_all: bool,
}

/// How the place was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    Exactly,
    Loosely,
    ByContext,
}

impl Found {
    /// What the model should know of it.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Self::Exactly => None,
            Self::Loosely => Some("matched apart from white space"),
            Self::ByContext => Some("matched by the lines around the change"),
        }
    }
}

/// Why an edit was not made, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Miss {
    #[error("the old text is empty; use `write` to make a file, or give the lines around the place")]
    Empty,
    #[error("the old and the new text are the same")]
    Same,
    #[error("the old text is there {times} times, at lines {}; add lines around the one you mean, or set replace_all", join(.lines))]
    Many { times: usize, lines: Vec<usize> },
    #[error("the old text is not there{}", candidates(.nearest))]
    Missing { nearest: Vec<String> },
}

fn join(lines: &[usize]) -> String {
    let mut text: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
    if lines.len() > NAMED {
        text.push("…".to_owned());
    }
    text.join(", ")
}

fn candidates(nearest: &[String]) -> String {
    if nearest.is_empty() {
        return ", nor anything like it; read the file again".to_owned();
    }
    format!("; nearest:\n{}", nearest.join("…\n"))
}

/// Makes one edit.
pub(crate) fn apply(text: &Text, edit: Edit<'_>) -> Result<(Text, Found), Miss> {
    let (old, new) = (plain(edit.old), plain(edit.new));
    if old.is_empty() {
        return Err(Miss::Empty);
    }
    if old == new {
        return Err(Miss::Same);
    }
    let (splices, found) = find(text.plain(), &old, &new, edit.replace_all)?;
    Ok((text.spliced(&splices), found))
}

fn find(text: &str, old: &str, new: &str, all: bool) -> Result<(Vec<Splice>, Found), Miss> {
    let places = exact::find(text, old, all);
    let chosen = |splices: Vec<Splice>, found| match splices.len() {
        count if count == 1 || all => Ok((splices, found)),
        times => {
            let line = |splice: &Splice| text[..splice.range.start].matches('\n').count() + 1;
            Err(Miss::Many { times, lines: splices.iter().take(NAMED + 1).map(line).collect() })
        }
    };
    if !places.is_empty() {
        let splice = |range| Splice { range, new: new.to_owned() };
        return chosen(places.into_iter().map(splice).collect(), Found::Exactly);
    }
    let lines = Lines::of(text);
    let loose = loose::find(&lines, old, new);
    if !loose.is_empty() {
        return chosen(loose, Found::Loosely);
    }
    if let Some(splices) = anchored::find(&lines, old, new) {
        return Ok((splices, Found::ByContext));
    }
    Err(Miss::Missing { nearest: nearest::find(&lines, old) })
}
