//! Folders that programs make again. They are too large to keep, so no checkpoint brings them back, and who deletes one is
//! asked first.

use std::path::{Path, PathBuf};

/// What such folders are called.
pub const GENERATED: &[&str] = &[
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".next",
    ".nuxt",
    ".gradle",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    ".terraform",
    ".cache",
    "dist",
    "build",
    "out",
    ".turbo",
    ".parcel-cache",
    "bower_components",
    "Pods",
    "DerivedData",
];

/// A question about more than this names the first few.
const NAMED: usize = 4;
/// So much is looked at before a question; deeper ones are found by a checkpoint, which says that it left them out.
const MAX_ENTRIES: usize = 2_000;
const MAX_DEPTH: usize = 3;

/// Generated folders that go when `path` goes, as far as they are quickly found.
pub(crate) fn lost_with(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut ahead = vec![(path.to_owned(), 0)];
    let mut seen = 0;
    while let Some((folder, depth)) = ahead.pop() {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if GENERATED.contains(&name.as_str()) {
            found.push(folder);
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && depth < MAX_DEPTH && seen < MAX_ENTRIES && entry.file_name() != ".git" {
                ahead.push((entry.path(), depth + 1));
            }
        }
    }
    found.sort_unstable();
    found
}

/// Why a person should know before these go.
pub(crate) fn because(lost: &[PathBuf], root: &Path) -> String {
    let names: Vec<String> = lost
        .iter()
        .take(NAMED)
        .map(|path| format!("`{}/`", path.strip_prefix(root).unwrap_or(path).display()))
        .collect();
    let more = match lost.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("it deletes {}{more}, which no checkpoint keeps: undo does not bring that back", names.join(", "))
}
