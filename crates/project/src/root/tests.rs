use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::{Project, ProjectError};

/// A temporary folder with these folders (ending in `/`) and empty files in it.
fn tree(paths: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for path in paths {
        let full = root.join(path);
        if path.ends_with('/') {
            fs::create_dir_all(full).unwrap();
        } else {
            fs::create_dir_all(full.parent().unwrap()).unwrap();
            fs::write(full, "").unwrap();
        }
    }
    (folder, root)
}

fn root_of(start: &Path, ceiling: &Path) -> PathBuf {
    Project::discover_below(start, Some(ceiling)).unwrap().root().to_owned()
}

#[test]
fn a_covey_folder_marks_the_root() {
    let (_folder, top) = tree(&[".git/", "app/.covey/", "app/src/"]);
    assert_eq!(root_of(&top.join("app/src"), &top), top.join("app"));
}

#[test]
fn a_git_folder_or_file_marks_the_root() {
    let (_folder, top) = tree(&["a/.git/", "a/src/", "b/.git", "b/src/"]);
    assert_eq!(root_of(&top.join("a/src"), &top), top.join("a"));
    assert_eq!(root_of(&top.join("b/src"), &top), top.join("b"));
}

#[test]
fn a_covey_folder_above_a_checkout_does_not_swallow_it() {
    let (_folder, top) = tree(&[".covey/", "work/repository/.git/"]);
    assert_eq!(root_of(&top.join("work/repository"), &top), top.join("work/repository"));
}

#[test]
fn a_covey_file_marks_nothing() {
    let (_folder, top) = tree(&["a/.covey", "a/b/"]);
    assert_eq!(root_of(&top.join("a/b"), &top), top.join("a/b"));
}

#[test]
fn the_search_ends_at_the_home_folder() {
    let (_folder, top) = tree(&[".git/", "home/person/x/"]);
    assert_eq!(root_of(&top.join("home/person/x"), &top.join("home/person")), top.join("home/person/x"));
}

#[test]
fn a_home_folder_elsewhere_does_not_matter() {
    let (_folder, top) = tree(&[".git/", "srv/x/", "home/"]);
    assert_eq!(root_of(&top.join("srv/x"), &top.join("home")), top);
}

#[test]
fn links_are_resolved_before_looking_up() {
    let (_folder, top) = tree(&["real/.git/", "real/src/", "other/"]);
    symlink(top.join("real/src"), top.join("other/link")).unwrap();
    assert_eq!(root_of(&top.join("other/link"), &top), top.join("real"));
}

#[test]
fn files_and_missing_folders_are_errors() {
    let (_folder, top) = tree(&["file"]);
    let file = Project::discover_below(&top.join("file"), None).unwrap_err();
    assert!(matches!(file, ProjectError::NotADirectory { .. }));
    let missing = Project::discover_below(&top.join("missing"), None).unwrap_err();
    assert!(matches!(missing, ProjectError::Unreachable { .. }));
}
