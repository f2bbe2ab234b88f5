//! The file: whose it is, and what happens when it is not what it should be.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::Duration;

use auth::{AuthError, Notice, Secret, SecretStore};
use rustix::fs::{FlockOperation, flock};

use crate::support::*;

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

async fn add(home: &Home, label: &str) -> Vec<Notice> {
    let credentials = home.credentials();
    credentials.add_key("p", Some(label), &Secret::new("sk-a-key")).await.unwrap();
    credentials.take_notices()
}

#[tokio::test]
async fn everything_is_the_owners_alone() {
    let home = Home::new();
    assert_eq!(add(&home, "a").await, []);
    let folder = home.path().parent().unwrap().to_owned();
    assert_eq!((mode(&folder), mode(&home.path())), (0o700, 0o600));
    for entry in std::fs::read_dir(&folder).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
}

#[tokio::test]
async fn a_file_that_others_could_read_is_closed_and_reported() {
    let home = Home::new();
    add(&home, "a").await;
    set_mode(&home.path(), 0o644);
    let credentials = home.credentials();
    assert_eq!(account(credentials.resolve("p", &no_key()).await), "a");
    assert_eq!(mode(&home.path()), 0o600);
    let notices = credentials.take_notices();
    assert_eq!(notices, [Notice::WasReadable { path: home.path(), mode: 0o644 }]);
    assert!(notices[0].to_string().contains("consider new keys"), "{}", notices[0]);
    assert_eq!(credentials.take_notices(), []);

    let folder = home.path().parent().unwrap().to_owned();
    set_mode(&folder, 0o777);
    credentials.resolve("p", &no_key()).await.unwrap();
    assert_eq!(credentials.take_notices(), [Notice::OpenFolder { path: folder, mode: 0o777 }]);
}

#[tokio::test]
async fn a_link_stays_and_what_it_points_to_is_replaced() {
    let home = Home::new();
    add(&home, "a").await;
    let real = home.folder.path().join("real.json");
    std::fs::rename(home.path(), &real).unwrap();
    symlink(&real, home.path()).unwrap();
    add(&home, "b").await;
    assert!(home.path().is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().contains("\"b\""));
    assert_eq!(mode(&real), 0o600);
}

#[tokio::test]
async fn what_is_damaged_is_named_and_kept() {
    let deep = format!(r#"{{"v":1,"x":{}"#, "[".repeat(100_000));
    let huge = format!(r#"{{"v":1,"x":"{}"}}"#, "x".repeat(1 << 20));
    let cases: [(&[u8], &str); 6] = [
        (b"", "it ends too early at line 1, column 0"),
        (b"{\"v\":1,", "it ends too early at line 1, column 7"),
        (b"sk-secret-of-mine", "it is not JSON at line 1, column 1"),
        (b"\xff\xfe{}", "it is not UTF-8"),
        (huge.as_bytes(), "it is larger than 1 MB"),
        (deep.as_bytes(), "it is not JSON at line 1, column 138"),
    ];
    for (bytes, expected) in cases {
        let home = Home::new();
        home.change(|_| ());
        std::fs::write(home.path(), bytes).unwrap();
        let credentials = home.credentials();
        for error in [
            credentials.resolve("p", &no_key()).await.unwrap_err(),
            credentials.logout("p", None).await.unwrap_err(),
            credentials.activate("p", "a").await.unwrap_err(),
        ] {
            let AuthError::StoreDamaged { path, what } = &error else { panic!("{error:?}") };
            assert_eq!((path, what.as_str()), (&home.path(), expected));
            assert!(!format!("{error} {error:?}").contains("secret"));
        }
        assert_eq!(std::fs::read(home.path()).unwrap(), bytes, "nobody touched it");

        // A login begins anew, and what was there is still there.
        let notices = add(&home, "a").await;
        let [Notice::SetAside { to, .. }] = &notices[..] else { panic!("{notices:?}") };
        assert!(to.to_str().unwrap().contains("auth.json.damaged-"), "{}", to.display());
        assert_eq!(std::fs::read(to).unwrap(), bytes);
        assert_eq!(account(home.credentials().resolve("p", &no_key()).await), "a");
    }
}

#[tokio::test]
async fn what_is_no_file_is_damaged_too() {
    let home = Home::new();
    std::fs::create_dir_all(home.path().join("inside")).unwrap();
    let error = home.store().read().unwrap_err();
    assert!(error.to_string().ends_with("is damaged: it is a folder"), "{error}");
    add(&home, "a").await;
    assert!(home.path().is_file());

    let home = Home::new();
    home.change(|_| ());
    std::fs::remove_file(home.path()).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, home.path(), rustix::fs::Mode::RUSR).unwrap();
    let error = home.store().read().unwrap_err();
    assert!(error.to_string().ends_with("is damaged: it is no file"), "{error}");
}

#[tokio::test]
async fn a_newer_format_is_left_alone() {
    let home = Home::new();
    home.change(|_| ());
    std::fs::write(home.path(), r#"{"v":2}"#).unwrap();
    let credentials = home.credentials();
    let error = credentials.add_key("p", None, &Secret::new("a-key")).await.unwrap_err();
    assert!(matches!(error, AuthError::StoreNewer { version: 2, .. }), "{error:?}");
    assert_eq!(std::fs::read_to_string(home.path()).unwrap(), r#"{"v":2}"#);
}

#[tokio::test]
async fn nothing_is_written_that_could_not_be_read_again() {
    let home = Home::new();
    let credentials = home.credentials();
    let key = |number: usize| Secret::new(format!("{number}-{}", "x".repeat(16_000)));
    let mut kept = 0;
    let error = loop {
        match credentials.add_key("p", Some(&kept.to_string()), &key(kept)).await {
            Ok(_) => kept += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, AuthError::StoreFailed { .. }), "{error:?}");
    assert_eq!(home.book().accounts("p").len(), kept);
}

#[tokio::test]
async fn one_at_a_time() {
    let home = Home::new();
    add(&home, "a").await;
    let lock = std::fs::File::open(home.path().with_extension("lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let store = home.store().with_patience(Duration::from_millis(20));
    let credentials = auth::Credentials::new(store, |_| None);
    let error = credentials.add_key("p", Some("b"), &Secret::new("a-key")).await.unwrap_err();
    assert!(matches!(error, AuthError::StoreBusy { .. }), "{error:?}");
    assert_eq!(account(credentials.resolve("p", &no_key()).await), "a", "reading waits for nobody");
    drop(lock);
    credentials.add_key("p", Some("b"), &Secret::new("a-key")).await.unwrap();
}

#[tokio::test]
async fn what_a_crash_left_is_swept_away() {
    let home = Home::new();
    add(&home, "a").await;
    let folder = home.path().parent().unwrap().to_owned();
    let left = folder.join(".auth.json.tmp-Xy12Zz");
    std::fs::write(&left, "half of a key").unwrap();
    std::fs::write(folder.join(".auth-mine"), "not ours").unwrap();
    add(&home, "b").await;
    assert!(!left.exists());
    assert!(folder.join(".auth-mine").exists());
}
