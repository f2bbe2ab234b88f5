use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::{complete_folders, complete_paths, complete_within};

fn project(files: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    folder
}

#[test]
fn the_own_name_counts_most() {
    let folder = project(&["main/other.rs", "src/main.rs", "src/domain.rs", "m/a/i/n"]);
    let found = complete_paths(folder.path(), "main", 10);
    assert_eq!(found, ["main/", "src/main.rs", "src/domain.rs", "main/other.rs", "m/a/i/n"]);
}

#[test]
fn letters_may_be_spread_and_in_any_case() {
    let folder = project(&["crates/project/src/lib.rs", "README.md"]);
    assert_eq!(complete_paths(folder.path(), "crprolib", 10), ["crates/project/src/lib.rs"]);
    assert_eq!(complete_paths(folder.path(), "./readme", 10), ["README.md"]);
    assert!(complete_paths(folder.path(), "zzz", 10).is_empty());
}

#[test]
fn ignored_and_hidden_files_are_left_out() {
    let folder = project(&["target/out.rs", "src/out.rs", ".github/out.yml", ".git/out"]);
    fs::write(folder.path().join(".gitignore"), "target/\n").unwrap();
    assert_eq!(complete_paths(folder.path(), "out", 10), ["src/out.rs"]);
    assert_eq!(complete_paths(folder.path(), ".g", 10), [".github/", ".gitignore", ".github/out.yml"]);
}

#[test]
fn nothing_typed_lists_the_shortest_first() {
    let folder = project(&["bb", "a", "ccc"]);
    assert_eq!(complete_paths(folder.path(), "", 2), ["a", "bb"]);
}

#[test]
fn the_walk_is_bounded() {
    let folder = project(&["a", "b", "c", "d"]);
    // The root itself is the first entry.
    assert_eq!(complete_within(folder.path(), "", 10, 3), ["a", "b"]);
}

#[test]
fn odd_names_and_missing_folders_do_no_harm() {
    let folder = project(&["fine"]);
    fs::write(folder.path().join(OsStr::from_bytes(b"bad\xff")), "").unwrap();
    assert_eq!(complete_paths(folder.path(), "", 10), ["fine"]);
    assert!(complete_paths(&folder.path().join("none"), "", 10).is_empty());
}

#[test]
fn folders_are_completed_anywhere_as_they_are_typed() {
    let folder = project(&["work/shop/a", "work/shelf/a", "work/.hidden/a", "work/sheet", "home/lib/a"]);
    std::os::unix::fs::symlink(folder.path().join("home"), folder.path().join("work/shortcut")).unwrap();
    let (cwd, home) = (folder.path().join("work/shop"), folder.path().join("home"));
    let found = |fragment: &str| complete_folders(&cwd, &home, fragment, 10);
    assert_eq!(found("../sh"), ["../shelf/", "../shop/", "../shortcut/"]);
    assert_eq!(found("../."), ["../.hidden/"]);
    assert_eq!(found(".."), ["../"]);
    assert_eq!(found("~"), ["~/"]);
    assert_eq!(found("~/"), ["~/lib/"]);
    let whole = format!("{}/work/she", folder.path().display());
    assert_eq!(found(&whole), [format!("{whole}lf/")]);
    assert_eq!(found("nowhere/"), Vec::<String>::new());
}
