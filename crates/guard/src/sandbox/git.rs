//! The parts of git's own data that run code later, and where they really are.

use std::fs;
use std::path::{Path, PathBuf};

/// What must stay as it is below one project folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Protected {
    /// Files and folders that are there.
    pub(super) present: Vec<PathBuf>,
    /// What is not there and must not come to be.
    pub(super) absent: Vec<PathBuf>,
    /// Folders that must stay where they are, so that nothing is put in their place. What is in them may change.
    pub(super) pinned: Vec<PathBuf>,
    /// Git's data that lies outside the project and must be writable for commits: a linked worktree's.
    pub(super) outside: Vec<PathBuf>,
}

/// In every git folder. `commondir` makes git read its configuration elsewhere; `config.worktree` is more of it.
const IN_GIT: &[&str] = &["hooks", "config", "config.worktree", "commondir"];
/// Ours, and those of editors and agents that start what is written there.
const IN_PROJECT: &[&str] = &[".covey"];
const MOST_MODULES: usize = 500;

/// Looks at `root` and the git folder that it belongs to.
pub(super) fn protected(root: &Path) -> Protected {
    let mut found = Protected::default();
    for name in IN_PROJECT {
        found.sort_in(root.join(name));
    }
    let dot_git = root.join(".git");
    match dot_git.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => {
            found.pinned.push(dot_git.clone());
            found.git_folder(&dot_git);
        }
        // A linked worktree or a submodule: a file that names the folder.
        Ok(metadata) if metadata.is_file() => {
            found.present.push(dot_git.clone());
            if let Some(folder) = pointed_to(&dot_git, "gitdir:").filter(|folder| belongs(folder, root)) {
                found.elsewhere(root, &folder);
            }
        }
        // A link could lead anywhere, and nothing there says that it belongs here: no commits, then.
        Ok(_) => found.present.push(dot_git.clone()),
        // `git init` is ordinary work, but what comes to be must not run anything.
        Err(_) => {
            found.absent.extend(["hooks", "config.worktree", "commondir"].map(|name| dot_git.join(name)))
        }
    }
    for path in submodules(root) {
        let pointer = root.join(path).join(".git");
        if pointer.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
            found.present.push(pointer);
        }
    }
    found
}

impl Protected {
    fn sort_in(&mut self, path: PathBuf) {
        match path.symlink_metadata() {
            Ok(_) => self.present.push(path),
            Err(_) => self.absent.push(path),
        }
    }

    fn elsewhere(&mut self, root: &Path, folder: &Path) {
        if !folder.is_dir() {
            return;
        }
        self.git_folder(folder);
        let common = pointed_to(&folder.join("commondir"), "");
        let common =
            common.filter(|common| is_git_folder(common) && folder.starts_with(common.join("worktrees")));
        if let Some(common) = &common {
            self.git_folder(common);
        }
        for folder in common.iter().map(PathBuf::as_path).chain([folder]) {
            if !folder.starts_with(root) && !self.outside.iter().any(|outer| folder.starts_with(outer)) {
                self.outside.push(folder.to_owned());
            }
        }
    }

    fn git_folder(&mut self, folder: &Path) {
        for name in IN_GIT {
            self.sort_in(folder.join(name));
        }
        let mut modules = 0;
        self.modules(&folder.join("modules"), &mut modules);
        for worktree in entries(&folder.join("worktrees")) {
            self.sort_in(worktree.join("config.worktree"));
            self.sort_in(worktree.join("commondir"));
            self.sort_in(worktree.join("gitdir"));
        }
    }

    /// Submodules keep their data here, in folders named as their paths are.
    fn modules(&mut self, folder: &Path, seen: &mut usize) {
        for entry in entries(folder) {
            *seen += 1;
            if *seen > MOST_MODULES || !entry.is_dir() {
                continue;
            }
            if entry.join("HEAD").is_file() {
                self.pinned.push(entry.clone());
                for name in IN_GIT {
                    self.sort_in(entry.join(name));
                }
                self.modules(&entry.join("modules"), seen);
            } else {
                self.modules(&entry, seen);
            }
        }
    }
}

/// Whether the git folder that `root/.git` names says the same of `root`. Anybody can write a file that names a
/// folder of somebody else's; only who can write there can make it answer.
fn belongs(folder: &Path, root: &Path) -> bool {
    if !folder.join("HEAD").is_file() {
        return false;
    }
    let back = pointed_to(&folder.join("gitdir"), "");
    let worktree = || {
        let config = fs::read_to_string(folder.join("config")).ok()?;
        let named = config.lines().find_map(|line| value_of(line, "worktree").map(PathBuf::from))?;
        folder.join(named).canonicalize().ok()
    };
    back.is_some_and(|back| back == root.join(".git")) || worktree().is_some_and(|worktree| worktree == root)
}

fn is_git_folder(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir()
}

/// `key = value`
fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.trim().strip_prefix(key)?.trim_start().strip_prefix('=').map(str::trim)
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The path that a small file of git's names, from where the file is.
fn pointed_to(file: &Path, label: &str) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    let path = text.lines().next()?.strip_prefix(label)?.trim();
    file.parent()?.join(path).canonicalize().ok()
}

fn submodules(root: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(root.join(".gitmodules")).unwrap_or_default();
    let path = |line: &str| value_of(line, "path").map(PathBuf::from);
    let inside =
        |path: &PathBuf| path.is_relative() && !path.components().any(|part| part.as_os_str() == "..");
    text.lines().filter_map(path).filter(inside).take(MOST_MODULES).collect()
}
