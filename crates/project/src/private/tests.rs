use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::{create_private_dir, write_private_atomic};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn created_folders_are_private_and_existing_ones_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let existing = folder.path().join("existing");
    fs::create_dir(&existing).unwrap();
    fs::set_permissions(&existing, fs::Permissions::from_mode(0o755)).unwrap();
    create_private_dir(&existing.join("a/b")).unwrap();
    create_private_dir(&existing.join("a/b")).unwrap();
    assert_eq!(
        (mode(&existing), mode(&existing.join("a")), mode(&existing.join("a/b"))),
        (0o755, 0o700, 0o700)
    );
}

#[test]
fn written_files_are_private_and_nothing_else_stays_behind() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "old").unwrap();
    write_private_atomic(&file, b"new").unwrap();
    assert_eq!((fs::read(&file).unwrap().as_slice(), mode(&file)), (b"new".as_slice(), 0o600));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_link_survives_and_its_target_is_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("dotfiles")).unwrap();
    let link = folder.path().join("config.toml");
    // Relative, and not there yet.
    symlink("dotfiles/covey.toml", &link).unwrap();
    write_private_atomic(&link, b"1").unwrap();
    write_private_atomic(&link, b"2").unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read(folder.path().join("dotfiles/covey.toml")).unwrap(), b"2");
}

#[test]
fn a_loop_of_links_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    symlink("b", folder.path().join("a")).unwrap();
    symlink("a", folder.path().join("b")).unwrap();
    assert!(write_private_atomic(&folder.path().join("a"), b"x").is_err());
}

#[test]
fn a_missing_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(write_private_atomic(&folder.path().join("none/file"), b"x").is_err());
}
