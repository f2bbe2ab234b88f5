use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use insta::assert_snapshot;

use super::SECTIONS;
use crate::config::edit::lock;
use crate::config::{ConfigError, set_in_file, unset_in_file};

fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn set(path: &Path, key: &str, value: &str) -> Result<(), ConfigError> {
    set_in_file(path, key, value, SECTIONS)
}

#[test]
fn comments_and_layout_stay() {
    let (_folder, path) = file(
        "# mine\nmodel = \"a\"   # the good one\n\n[router]\n# seconds\ntimeout = \"5s\"\n\n[providers]\nlocal = { wire = \"anthropic\" } # here\n",
    );
    set(&path, "model", "b").unwrap();
    set(&path, "router.timeout", "1m").unwrap();
    set(&path, "router.chains.main", "[\"x\", \"y\"]").unwrap();
    set(&path, "providers.local.base_url", "http://x").unwrap();
    set(&path, "providers.other.models.\"a.b\".context", "10").unwrap();
    set(&path, "mode", "plan").unwrap();
    assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
    # mine
    model = "b"   # the good one
    mode = "plan"

    [router]
    # seconds
    timeout = "1m"

    [router.chains]
    main = ["x", "y"]

    [providers]
    local = { wire = "anthropic", base_url = "http://x" } # here

    [providers.other.models."a.b"]
    context = 10
    "#);
}

#[test]
fn what_looks_like_something_else_is_text_where_text_is_wanted() {
    let (_folder, path) = file("");
    for (value, written) in [
        ("5", "\"5\""),
        ("true", "\"true\""),
        ("\"quoted\"", "\"quoted\""),
        ("a \"b", "'a \"b'"),
        ("", "\"\""),
    ] {
        set(&path, "model", value).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("model = {written}\n"));
    }
    set(&path, "extra", "{ a = 1 }").unwrap();
    set(&path, "extra.b", "free text").unwrap();
    assert!(fs::read_to_string(&path).unwrap().ends_with("extra = { a = 1, b = \"free text\" }\n"));
}

#[test]
fn wrong_keys_and_values_change_nothing() {
    let (_folder, path) = file("model = \"a\"\n");
    assert!(matches!(set(&path, "modle", "b"), Err(ConfigError::UnknownKey { .. })));
    assert!(matches!(set(&path, "mode", "yolo"), Err(ConfigError::WrongChoice { .. })));
    assert!(matches!(set(&path, "limits.steps", "many"), Err(ConfigError::BadValue { .. })));
    assert!(matches!(set(&path, "limits.steps", "0"), Err(ConfigError::OutOfRange { .. })));
    assert!(matches!(set(&path, "limits", "3"), Err(ConfigError::WrongType { .. })));
    assert!(matches!(set(&path, "a b", "3"), Err(ConfigError::BadKey { .. })));
    assert!(matches!(set(&path, "limits.steps", "1\nmode = \"full\""), Err(ConfigError::BadValue { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "model = \"a\"\n");
}

#[test]
fn a_file_that_does_not_parse_is_not_touched() {
    let (_folder, path) = file("model = \"a\"\nmode = [\n");
    let error = set(&path, "model", "b").unwrap_err();
    assert!(error.to_string().contains("config.toml` line 2 is not valid TOML: "), "{error}");
    assert!(unset_in_file(&path, "model").is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "model = \"a\"\nmode = [\n");
    let (_folder, path) = file("limits = 3\n");
    assert!(set(&path, "limits.steps", "3").is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "limits = 3\n");
}

#[test]
fn a_new_file_is_private_and_an_old_one_keeps_its_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/config.toml");
    set(&path, "model", "x").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    set(&path, "model", "y").unwrap();
    assert_eq!(mode(&path), 0o644);
}

#[test]
fn a_link_stays_a_link() {
    let (folder, path) = file("");
    let link = folder.path().join("link.toml");
    symlink("config.toml", &link).unwrap();
    set(&link, "model", "x").unwrap();
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(path).unwrap(), "model = \"x\"\n");
}

#[test]
fn unset_removes_one_key_and_says_whether_it_was_there() {
    let (folder, path) = file("# top\nmodel = \"a\" # x\nmode = \"ask\"\n[limits]\nsteps = 3\n");
    assert!(unset_in_file(&path, "model").unwrap());
    assert!(!unset_in_file(&path, "model").unwrap());
    assert!(!unset_in_file(&path, "mode.x.y").unwrap());
    assert!(unset_in_file(&path, "limits.steps").unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "mode = \"ask\"\n[limits]\n");
    assert!(!unset_in_file(&folder.path().join("none/config.toml"), "model").unwrap());
    assert!(!folder.path().join("none").exists());
}

#[test]
fn changes_made_at_once_are_all_kept() {
    let (_folder, path) = file("");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let path = &path;
            scope.spawn(move || {
                for number in 0..10 {
                    set(path, &format!("extra.t{thread}n{number}"), "1").unwrap();
                }
            });
        }
    });
    assert_eq!(fs::read_to_string(&path).unwrap().matches(" = 1").count(), 40);
}

#[test]
fn someone_holding_the_lock_for_good_is_reported() {
    let (folder, path) = file("");
    let held = fs::File::open(folder.path()).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert!(matches!(lock(folder.path(), &path, Duration::ZERO), Err(ConfigError::Busy { .. })));
    drop(held);
    assert!(lock(folder.path(), &path, Duration::ZERO).is_ok());
}
