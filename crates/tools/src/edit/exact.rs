//! Letter by letter.

use std::ops::Range;

/// Where `old` is. Asked for one place, also those that overlap each other are told: they are a choice too.
pub(super) fn find(text: &str, old: &str, all: bool) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> =
        text.match_indices(old).map(|(at, found)| at..at + found.len()).collect();
    if let ([only], false) = (places.as_slice(), all) {
        let step = text[only.start..].chars().next().map_or(1, char::len_utf8);
        let next = only.start + step;
        if let Some(at) = text[next..].find(old) {
            places.push(next + at..next + at + old.len());
        }
    }
    places
}
