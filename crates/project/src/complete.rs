//! Completing the path someone is typing.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

#[cfg(test)]
mod tests;

/// How many files and folders are looked at; enough for large projects, and a bound for `/`.
const MAX_VISITED: usize = 50_000;

/// Paths below `root` that `fragment` could mean, best first, folders ending in `/`.
///
/// The letters of `fragment` must occur in this order, in any case. A match in the file's own name, at the
/// start of a word or in one piece ranks higher; a shorter path wins a tie. What ignore files exclude is left
/// out, as are hidden files until the fragment asks for them with a leading dot. Reads the disk: call it where
/// blocking is allowed.
pub fn complete_paths(root: &Path, fragment: &str, limit: usize) -> Vec<String> {
    complete_within(root, fragment, limit, MAX_VISITED)
}

/// Where a path leads that a person typed: from `cwd` on unless it is a whole one, and `~` is their home.
pub fn typed_path(typed: &str, cwd: &Path, home: &Path) -> PathBuf {
    match typed.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(below) if below.starts_with('/') => home.join(below.trim_start_matches('/')),
        _ => cwd.join(typed),
    }
}

/// Folders that `fragment` could become by typing on, by name, each ending in `/`. They may be anywhere. Hidden ones are
/// left out until a dot is typed.
pub fn complete_folders(cwd: &Path, home: &Path, fragment: &str, limit: usize) -> Vec<String> {
    if fragment == "~" {
        return vec!["~/".to_owned()];
    }
    let (above, begun) = fragment.split_at(fragment.rfind('/').map_or(0, |slash| slash + 1));
    let Ok(entries) = typed_path(above, cwd, home).read_dir() else { return vec![] };
    let fits = |name: &String| name.starts_with(begun) && (begun.starts_with('.') || !name.starts_with('.'));
    let mut found: Vec<String> = entries
        .take(MAX_VISITED)
        .flatten()
        // A link to a folder is one to whoever types it.
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(fits)
        .map(|name| format!("{above}{name}/"))
        .collect();
    if begun == ".." {
        found.push(format!("{above}../"));
    }
    found.sort_unstable();
    found.truncate(limit);
    found
}

fn complete_within(root: &Path, fragment: &str, limit: usize, visited: usize) -> Vec<String> {
    let fragment = fragment.strip_prefix("./").unwrap_or(fragment);
    let wanted: Vec<char> = fragment.to_lowercase().chars().collect();
    let wants_hidden = fragment.starts_with('.') || fragment.contains("/.");
    let mut found: Vec<(i64, usize, String)> = Vec::new();
    let entries = WalkBuilder::new(root)
        .hidden(!wants_hidden)
        .require_git(false)
        // Breadth first would be better still; sorted at least makes a cut walk repeatable.
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git")
        .build();
    // What cannot be read cannot be completed; there is nobody to tell while they type.
    for entry in entries.take(visited).flatten().filter(|entry| entry.depth() > 0) {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        // A name that is not UTF-8 cannot be typed into a prompt.
        let Some(path) = entry.path().strip_prefix(root).ok().and_then(Path::to_str) else { continue };
        if let Some(score) = score(path, &wanted) {
            let shown = if is_folder { format!("{path}/") } else { path.to_owned() };
            found.push((-score, path.len(), shown));
        }
    }
    found.sort_unstable();
    found.truncate(limit);
    found.into_iter().map(|(_, _, path)| path).collect()
}

/// How well the wanted letters fit; nothing if they do not occur in order.
fn score(path: &str, wanted: &[char]) -> Option<i64> {
    let letters: Vec<char> = path.chars().flat_map(char::to_lowercase).collect();
    let name_start = letters.iter().rposition(|letter| *letter == '/').map_or(0, |slash| slash + 1);
    // The own name is tried alone first, so `main` finds `main.rs` there and not scattered over its folders.
    let in_name = subsequence(&letters, name_start, wanted).map(|score| score + 20);
    in_name.or_else(|| subsequence(&letters, 0, wanted))
}

fn subsequence(letters: &[char], start: usize, wanted: &[char]) -> Option<i64> {
    // In one piece, wherever that is, beats the first letters that happen to fit.
    let whole = letters[start..].windows(wanted.len().max(1)).position(|window| window == wanted);
    let mut at = whole.map_or(start, |offset| start + offset);
    let mut score = 0;
    let mut previous = None;
    for letter in wanted {
        let position = at + letters[at..].iter().position(|candidate| candidate == letter)?;
        let starts_word = position == 0 || !letters[position - 1].is_alphanumeric();
        score += 1 + if starts_word { 4 } else { 0 };
        score += if previous.is_some_and(|previous| previous + 1 == position) { 5 } else { 0 };
        previous = Some(position);
        at = position + 1;
    }
    Some(score)
}
