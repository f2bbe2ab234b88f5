//! What happens to someone who may not do everything.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use project::{ByteRange, Host, HostError, LocalHost, Roots};

use crate::helper::as_ordinary_user;

#[tokio::test]
async fn an_unreadable_file_or_folder_is_denied() {
    if !as_ordinary_user("ordinary_user::an_unreadable_file_or_folder_is_denied") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "x").unwrap();
    fs::create_dir(folder.path().join("closed")).unwrap();
    for path in ["file", "closed"] {
        fs::set_permissions(folder.path().join(path), Permissions::from_mode(0)).unwrap();
    }
    let host = LocalHost::new(Roots::new([folder.path()]).unwrap());
    let read = |path| host.read(Path::new(path), ByteRange::first(10));
    assert!(matches!(read("file").await, Err(HostError::Denied { .. })));
    assert!(matches!(read("closed/file").await, Err(HostError::Denied { .. })));
    assert!(matches!(host.list(Path::new("closed"), 10).await, Err(HostError::Denied { .. })));
    fs::set_permissions(folder.path().join("closed"), Permissions::from_mode(0o700)).unwrap();
}

#[tokio::test]
async fn passing_through_a_folder_needs_no_right_to_list_it() {
    if !as_ordinary_user("ordinary_user::passing_through_a_folder_needs_no_right_to_list_it") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("through")).unwrap();
    fs::write(folder.path().join("through/file"), "x").unwrap();
    fs::set_permissions(folder.path().join("through"), Permissions::from_mode(0o100)).unwrap();
    let host = LocalHost::new(Roots::new([folder.path()]).unwrap());
    assert_eq!(host.read(Path::new("through/file"), ByteRange::first(10)).await.unwrap().bytes, b"x");
    fs::set_permissions(folder.path().join("through"), Permissions::from_mode(0o700)).unwrap();
}
