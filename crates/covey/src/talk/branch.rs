//! Which branch is checked out, without starting anything.

use std::fs;
use std::path::{Path, PathBuf};

/// The name of the branch, or the beginning of the commit that is checked out instead of one.
pub(super) fn checked_out(root: &Path) -> Option<String> {
    let head = fs::read_to_string(git_dir(root)?.join("HEAD")).ok()?;
    let head = head.trim();
    match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => Some(branch.to_owned()),
        None => head.get(..8).map(str::to_owned),
    }
}

/// A worktree's `.git` is a file that names its folder.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let dot_git = root.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = fs::read_to_string(&dot_git).ok()?;
    Some(root.join(text.trim().strip_prefix("gitdir: ")?))
}
