//! What happens to someone who may not do everything.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use project::{
    ByteRange, Config, Home, Host, HostError, LoadOptions, LocalHost, NobodyTrusted, Roots, set_in_file,
};

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
        fs::set_permissions(folder.path().join(path), Permissions::from_mode(0o000)).unwrap();
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

#[test]
fn an_unreadable_config_file_is_named_and_left_alone() {
    if !as_ordinary_user("ordinary_user::an_unreadable_config_file_is_named_and_left_alone") {
        return;
    }
    const MODEL: project::Key = project::Key::text("model");
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    fs::write(home.config_file(), "model = \"a\"").unwrap();
    fs::set_permissions(home.config_file(), Permissions::from_mode(0o000)).unwrap();
    let (env, sections) = (|_: &str| None, [&MODEL]);
    let options = LoadOptions {
        home: &home,
        project: None,
        sections: &sections,
        env: &env,
        flags: &[],
        trust: &NobodyTrusted,
    };
    let expected = format!("cannot read `{}`: permission denied", home.config_file().display());
    assert_eq!(Config::load(&options).unwrap_err().to_string(), expected);
    // Replacing what cannot be read would lose it.
    assert_eq!(set_in_file(&home.config_file(), "model", "b", &sections).unwrap_err().to_string(), expected);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    if !as_ordinary_user("ordinary_user::a_folder_that_cannot_be_written_is_an_error") {
        return;
    }
    let error =
        set_in_file(Path::new("/etc/covey-test/config.toml"), "model", "b", &[&project::Key::text("model")]);
    assert_eq!(error.unwrap_err().to_string(), "cannot write `/etc/covey-test/config.toml`");
}
