//! The lines of a result that show why it is one.

use std::ops::Range;

use crate::search::{Found, Hit, Searcher};
use crate::tokens::{hash, tokens};

/// A line of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnippetLine {
    pub number: u32,
    pub text: String,
    /// Where words of the query are in `text`, in bytes.
    pub marks: Vec<Range<usize>>,
}

impl Searcher {
    /// At most `limit` lines of a result: its first, and those that have most of the query, in order.
    pub fn snippet(&self, found: &Found, hit: &Hit, limit: usize) -> Vec<SnippetLine> {
        let Some(text) = self.text(&hit.file) else { return Vec::new() };
        let terms: Vec<u64> = found.terms.iter().map(|term| hash(term.as_bytes())).collect();
        let skip = (hit.start_line as usize).saturating_sub(1);
        let take = (hit.end_line as usize).saturating_sub(skip);
        let mut lines: Vec<(usize, SnippetLine)> = text
            .lines()
            .enumerate()
            .skip(skip)
            .take(take)
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(at, line)| {
                let shown = crate::language::prefix(line.trim_end(), 200);
                let marks = marks(shown, &terms);
                let distinct: std::collections::HashSet<&str> =
                    marks.iter().map(|mark| &shown[mark.clone()]).collect();
                (distinct.len(), SnippetLine { number: at as u32 + 1, text: shown.to_owned(), marks })
            })
            .collect();
        // The line that declares it says most.
        let declares = |line: &SnippetLine| {
            hit.signature
                .split_whitespace()
                .next()
                .is_some_and(|word| line.text.trim_start().starts_with(word))
        };
        let first = lines.iter().position(|(_, line)| declares(line)).unwrap_or(0);
        if let Some(line) = lines.get_mut(first) {
            line.0 += 100;
        }
        lines.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.number.cmp(&b.1.number)));
        lines.truncate(limit);
        lines.sort_by_key(|(_, line)| line.number);
        lines.into_iter().map(|(_, line)| line).collect()
    }
}

/// Words that have a token of the query.
fn marks(line: &str, terms: &[u64]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for word in line.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        debug_assert!(start >= at);
        at = start;
        let mut fits = false;
        tokens(word, |_, token| fits |= terms.contains(&hash(token)));
        if fits {
            found.push(start..start + word.len());
        }
    }
    found
}
