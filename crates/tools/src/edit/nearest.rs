//! What comes closest to a text that is not there.

use std::collections::HashSet;

use super::lines::{Lines, essence};

const CANDIDATES: usize = 3;
/// Lines of one candidate that are told.
const TOLD: usize = 8;
/// What of a line is compared.
const COMPARED: usize = 200;
/// Below this, two lines have nothing to do with each other.
const ALIKE: f64 = 0.5;

/// The nearest places, as numbered lines.
pub(super) fn find(lines: &Lines<'_>, old: &str) -> Vec<String> {
    let told: Vec<String> = old.trim_end_matches('\n').split('\n').map(essence).collect();
    // The longest line says most.
    let Some((at, key)) = told.iter().enumerate().max_by_key(|(_, line)| line.len().min(COMPARED)) else {
        return vec![];
    };
    let wanted = pairs(key);
    let mut scored: Vec<(f64, usize)> = lines
        .all
        .iter()
        .enumerate()
        .map(|(line, text)| (alike(&wanted, &pairs(&essence(text))), line))
        .filter(|(score, _)| *score >= ALIKE)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.truncate(50);
    let mut starts: Vec<usize> = Vec::new();
    for (_, line) in scored {
        let start = line.saturating_sub(at);
        if starts.len() < CANDIDATES
            && starts.iter().all(|other| start.abs_diff(*other) > told.len().min(TOLD))
        {
            starts.push(start);
        }
    }
    let shown = told.len().min(TOLD);
    // The part that was compared must be among what is told.
    let from = |start: usize| if at >= shown { start + at + 1 - shown } else { start };
    starts.into_iter().map(|start| lines.numbered(from(start)..from(start) + shown)).collect()
}

fn pairs(line: &str) -> HashSet<[u8; 2]> {
    let bytes = line.as_bytes();
    bytes[..bytes.len().min(COMPARED)].windows(2).map(|pair| [pair[0], pair[1]]).collect()
}

/// Dice's measure over pairs of letters.
fn alike(a: &HashSet<[u8; 2]>, b: &HashSet<[u8; 2]>) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    2.0 * a.intersection(b).count() as f64 / (a.len() + b.len()) as f64
}
