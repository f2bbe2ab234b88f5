use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{
    ByteRange, EntryKind, Exit, Expect, Grants, Host, HostError, LocalHost, MAX_READ, Program, Streams, Task,
};
use crate::confine::Roots;

fn host() -> (tempfile::TempDir, Box<dyn Host>) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/main.rs"), "fn main() {}").unwrap();
    let host = LocalHost::new(Roots::new([folder.path()]).unwrap());
    (folder, Box::new(host))
}

async fn read(host: &dyn Host, path: &str, offset: u64, limit: usize) -> Result<String, HostError> {
    let read = host.read(Path::new(path), ByteRange { offset, limit }).await?;
    Ok(String::from_utf8(read.bytes).unwrap())
}

#[tokio::test]
async fn part_of_a_file_is_read() {
    let (_folder, host) = host();
    assert_eq!(read(&*host, "src/main.rs", 0, 100).await.unwrap(), "fn main() {}");
    assert_eq!(read(&*host, "src/main.rs", 3, 4).await.unwrap(), "main");
    assert_eq!(read(&*host, "src/main.rs", 100, 4).await.unwrap(), "");
    let whole = host.read(Path::new("src/main.rs"), ByteRange::first(2)).await.unwrap();
    assert_eq!((whole.bytes.len(), whole.total_len, whole.modified.is_some()), (2, 12, true));
}

#[tokio::test]
async fn a_range_longer_than_a_chunk_is_read_whole() {
    let (folder, host) = host();
    let text: String = ('a'..='z').cycle().take(200_000).collect();
    fs::write(folder.path().join("long"), &text).unwrap();
    assert_eq!(read(&*host, "long", 1, 150_000).await.unwrap(), text[1..150_001]);
}

#[tokio::test]
async fn files_made_up_by_the_system_are_read() {
    let host = LocalHost::new(Roots::new(["/proc"]).unwrap());
    assert!(read(&host, "/proc/version", 0, 1000).await.unwrap().contains("Linux"));
}

#[tokio::test]
async fn a_missing_file_comes_with_names_like_it() {
    let (folder, host) = host();
    let error = read(&*host, "src/mian.rs", 0, 10).await.unwrap_err();
    let path = folder.path().canonicalize().unwrap().join("src/mian.rs");
    assert_eq!(error.to_string(), format!("`{}` does not exist", path.display()));
    assert_eq!(error.hint().unwrap(), "did you mean `main.rs`?");
    assert!(read(&*host, "nowhere/at/all", 0, 10).await.unwrap_err().hint().is_none());
}

#[tokio::test]
async fn each_mistake_has_its_own_error() {
    let (folder, host) = host();
    mknodat(CWD, folder.path().join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    symlink("/etc", folder.path().join("link")).unwrap();
    symlink("loop", folder.path().join("loop")).unwrap();
    assert!(matches!(read(&*host, "src", 0, 10).await, Err(HostError::IsDirectory { .. })));
    assert!(matches!(read(&*host, "pipe", 0, 10).await, Err(HostError::Special { .. })));
    assert!(matches!(read(&*host, "link/passwd", 0, 10).await, Err(HostError::Outside { .. })));
    assert!(matches!(read(&*host, "loop", 0, 10).await, Err(HostError::Unusable { .. })));
    assert!(matches!(read(&*host, "a\0b", 0, 10).await, Err(HostError::Unusable { .. })));
    assert!(matches!(read(&*host, "src/main.rs/x", 0, 10).await, Err(HostError::NotADirectory { .. })));
    assert!(matches!(read(&*host, "src/main.rs", 0, MAX_READ + 1).await, Err(HostError::TooLarge { .. })));
    assert!(matches!(host.list(Path::new("src/main.rs"), 1).await, Err(HostError::NotADirectory { .. })));
    assert!(matches!(host.list(Path::new(".."), 1).await, Err(HostError::Outside { .. })));
}

#[tokio::test]
async fn a_listing_is_sorted_cut_and_counted() {
    let (folder, host) = host();
    for name in ["c", "a", "b"] {
        fs::write(folder.path().join(name), name.repeat(3)).unwrap();
    }
    symlink("a", folder.path().join("z")).unwrap();
    mknodat(CWD, folder.path().join("pipe"), FileType::Fifo, Mode::RUSR, 0).unwrap();
    let odd = OsString::from_vec(b"\xff".to_vec());
    fs::write(folder.path().join(&odd), "").unwrap();
    let listing = host.list(Path::new("."), 100).await.unwrap();
    let seen: Vec<_> = listing.entries.into_iter().map(|entry| (entry.name, entry.kind, entry.len)).collect();
    let entry = |name: &str, kind, len| (OsString::from(name), kind, len);
    assert_eq!(
        seen,
        [
            entry("a", EntryKind::File, 3),
            entry("b", EntryKind::File, 3),
            entry("c", EntryKind::File, 3),
            entry("pipe", EntryKind::Other, 0),
            entry("src", EntryKind::Dir, 0),
            entry("z", EntryKind::Symlink, 0),
            (odd, EntryKind::File, 0),
        ]
    );
    let cut = host.list(Path::new("."), 2).await.unwrap();
    assert_eq!((cut.entries.len(), cut.total, &cut.entries[1].name), (2, 7, &OsString::from("b")));
}

#[tokio::test]
async fn stat_follows_links_inside() {
    let (folder, host) = host();
    symlink("src/main.rs", folder.path().join("link")).unwrap();
    let stat = host.stat(Path::new("link")).await.unwrap();
    assert_eq!((stat.kind, stat.len), (EntryKind::File, 12));
    assert!(matches!(host.stat(Path::new("none")).await, Err(HostError::NotFound { .. })));
}

#[tokio::test]
async fn a_grant_opens_one_place_and_no_other() {
    let (_folder, host) = host();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a"), "granted").unwrap();
    fs::write(outside.path().join("b"), "not granted").unwrap();
    let a = outside.path().join("a").to_string_lossy().into_owned();
    let b = outside.path().join("b").to_string_lossy().into_owned();
    let granted = host.granting(&Grants { reads: vec![(&a).into()], ..Grants::default() }).unwrap();
    assert_eq!(read(&*granted, &a, 0, 100).await.unwrap(), "granted");
    assert!(matches!(read(&*granted, &b, 0, 100).await, Err(HostError::Outside { .. })));
    assert!(matches!(read(&*host, &a, 0, 100).await, Err(HostError::Outside { .. })));
}

#[tokio::test]
async fn a_write_replaces_the_file_and_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, host) = host();
    let script = folder.path().join("run.sh");
    fs::write(&script, "old").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    host.write(Path::new("run.sh"), b"new".to_vec(), Expect::Anything).await.unwrap();
    assert_eq!(fs::read(&script).unwrap(), b"new");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o777, 0o755);
    host.write(Path::new("a/b/c.txt"), b"deep".to_vec(), Expect::Absent).await.unwrap();
    assert_eq!(fs::read(folder.path().join("a/b/c.txt")).unwrap(), b"deep");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".covey-")), "{left:?}");
}

#[tokio::test]
async fn a_write_that_expects_something_else_changes_nothing() {
    let (folder, host) = host();
    let path = Path::new("src/main.rs");
    let stamp = host.read(path, ByteRange::first(100)).await.unwrap().stamp();
    fs::write(folder.path().join(path), "somebody else's work").unwrap();
    let error = host.write(path, b"mine".to_vec(), Expect::Unchanged(stamp)).await.unwrap_err();
    assert!(matches!(error, HostError::Stale { .. }), "{error:?}");
    let error = host.write(path, b"mine".to_vec(), Expect::Absent).await.unwrap_err();
    assert!(matches!(error, HostError::Exists { .. }), "{error:?}");
    assert_eq!(fs::read(folder.path().join(path)).unwrap(), b"somebody else's work");
    // The stamp of our own write is what the next one may expect.
    let stamp = host.write(path, b"mine".to_vec(), Expect::Anything).await.unwrap();
    host.write(path, b"mine again".to_vec(), Expect::Unchanged(stamp)).await.unwrap();
}

#[tokio::test]
async fn changes_stay_inside_and_links_are_not_followed_out() {
    let (folder, host) = host();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("kept"), "kept").unwrap();
    symlink(outside.path(), folder.path().join("out")).unwrap();
    for path in ["out/new", "../new", "/etc/covey-test"] {
        let error = host.write(Path::new(path), vec![], Expect::Anything).await.unwrap_err();
        assert!(matches!(error, HostError::Outside { .. }), "{path}: {error:?}");
    }
    assert!(matches!(host.remove(Path::new("out/kept")).await.unwrap_err(), HostError::Outside { .. }));
    // The link itself is ours to take away; what it leads to is not.
    host.remove(Path::new("out")).await.unwrap();
    assert!(outside.path().join("kept").exists());
    assert!(host.remove(Path::new(".")).await.is_err());
    assert!(folder.path().exists());
}

#[tokio::test]
async fn folders_are_made_moved_and_taken_away() {
    let (folder, host) = host();
    host.make_dir(Path::new("x/y")).await.unwrap();
    fs::write(folder.path().join("x/y/f"), "1").unwrap();
    symlink("/etc", folder.path().join("x/link")).unwrap();
    host.rename(Path::new("x"), Path::new("deep/z")).await.unwrap();
    assert_eq!(fs::read(folder.path().join("deep/z/y/f")).unwrap(), b"1");
    let error = host.rename(Path::new("deep"), Path::new("src")).await.unwrap_err();
    assert!(matches!(error, HostError::Exists { .. }), "{error:?}");
    host.remove(Path::new("deep")).await.unwrap();
    assert!(!folder.path().join("deep").exists());
    assert!(Path::new("/etc/passwd").exists());
}

#[tokio::test]
async fn a_program_is_heard_and_its_end_is_known() {
    let (folder, host) = host();
    let task = |line: &str| Task {
        program: Program::Shell(line.to_owned()),
        cwd: folder.path().to_owned(),
        env: vec![("GREETING".to_owned(), "hello".to_owned())],
        streams: Streams::Out,
    };
    let mut running = host.start(task("echo $GREETING; echo oops >&2; exit 3")).await.unwrap();
    let mut heard = Vec::new();
    while let Some(piece) = running.output().await {
        heard.extend(piece);
    }
    let heard = String::from_utf8(heard).unwrap();
    assert!(heard.contains("hello\n") && heard.contains("oops\n"), "{heard}");
    assert_eq!(running.exit().await, Exit::Code(3));

    // What is left in the background does not hold up the end.
    let mut running = host.start(task("sleep 1000 & echo done")).await.unwrap();
    assert_eq!(running.output().await.unwrap(), b"done\n");
    assert_eq!(running.output().await, None);
    assert_eq!(running.exit().await, Exit::Code(0));

    let mut running = host.start(task("trap '' TERM; echo up; while :; do sleep 1; done")).await.unwrap();
    assert_eq!(running.output().await.unwrap(), b"up\n");
    running.stop(std::time::Duration::from_millis(10)).await;
    assert_eq!(running.exit().await, Exit::Signal(9));
}
