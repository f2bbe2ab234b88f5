//! Finding what someone meant to type.

#[cfg(test)]
mod tests;

/// The candidates a slip or two away from `word`, nearest first, at most `limit`.
pub(crate) fn nearest(word: &str, candidates: impl IntoIterator<Item = String>, limit: usize) -> Vec<String> {
    let word = word.to_lowercase();
    // A third of the letters wrong is a different word.
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<((usize, usize), String)> = candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= 4 * allowed)
        // Of two as near, the one as long is likelier meant: letters are swapped more often than lost.
        .map(|candidate| {
            let likeness = (distance(&word, &candidate.to_lowercase()), candidate.len().abs_diff(word.len()));
            (likeness, candidate)
        })
        .filter(|((distance, _), _)| *distance <= allowed)
        .collect();
    near.sort();
    near.truncate(limit);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// How many letters to insert, drop, replace or swap with their neighbor.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for i in 1..=left.len() {
        let mut row = vec![i; right.len() + 1];
        for j in 1..=right.len() {
            let replaced = above[j - 1] + usize::from(left[i - 1] != right[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[right.len()]
}
