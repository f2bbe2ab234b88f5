use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::io::Errno;

use super::{open_without_links, walk_without_links};
use crate::confine::{ResolvedPath, Roots};
use crate::host::HostError;

struct Yard {
    folder: tempfile::TempDir,
    roots: Roots,
}

fn yard() -> Yard {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("in/src")).unwrap();
    fs::create_dir_all(folder.path().join("out")).unwrap();
    fs::write(folder.path().join("in/src/file"), "inside").unwrap();
    fs::write(folder.path().join("out/file"), "secret").unwrap();
    let roots = Roots::new([folder.path().join("in")]).unwrap();
    Yard { folder, roots }
}

impl Yard {
    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn resolve(&self, path: &str) -> ResolvedPath {
        self.roots.resolve(path, "").unwrap()
    }
}

#[test]
fn a_file_opens_where_it_was_resolved() {
    let yard = yard();
    let mut text = String::new();
    yard.resolve("src/file").open_read().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "inside");
}

#[test]
fn a_file_swapped_for_a_link_is_refused() {
    let yard = yard();
    let resolved = yard.resolve("src/file");
    fs::remove_file(yard.path("in/src/file")).unwrap();
    symlink(yard.path("out/file"), yard.path("in/src/file")).unwrap();
    assert!(matches!(resolved.open_read(), Err(HostError::Changed { .. })));
}

#[test]
fn a_folder_swapped_for_a_link_is_refused() {
    let yard = yard();
    let (file, folder) = (yard.resolve("src/file"), yard.resolve("src"));
    fs::rename(yard.path("in/src"), yard.path("in/old")).unwrap();
    symlink(yard.path("out"), yard.path("in/src")).unwrap();
    assert!(matches!(file.open_read(), Err(HostError::Changed { .. })));
    assert!(matches!(folder.open_dir(), Err(HostError::Changed { .. })));
}

#[test]
fn walking_and_asking_the_kernel_agree() {
    let yard = yard();
    symlink("src", yard.path("in/link")).unwrap();
    symlink("file", yard.path("in/src/last")).unwrap();
    let root = yard.roots.main();
    for (path, expected) in [
        ("src/file", None),
        ("link/file", Some(Errno::LOOP)),
        ("src/last", Some(Errno::LOOP)),
        ("src/none", Some(Errno::NOENT)),
        ("src/file/x", Some(Errno::NOTDIR)),
    ] {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        assert_eq!(open_without_links(&root.join(path), flags).err(), expected, "{path}");
        assert_eq!(walk_without_links(&root.join(path), flags).err(), expected, "{path}");
    }
    assert!(walk_without_links("/".as_ref(), OFlags::RDONLY | OFlags::DIRECTORY).is_ok());
}

#[test]
fn pipes_and_devices_are_refused_without_waiting() {
    let yard = yard();
    mknodat(CWD, yard.path("in/pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let pipe = yard.resolve("pipe").open_read().unwrap_err();
    assert!(matches!(pipe, HostError::Special { what: "a pipe", .. }), "{pipe}");
    let devices = Roots::new(["/dev"]).unwrap();
    let zero = devices.resolve("zero", "").unwrap().open_read().unwrap_err();
    assert!(matches!(zero, HostError::Special { what: "a device", .. }), "{zero}");
    let socket = std::os::unix::net::UnixListener::bind(yard.path("in/socket")).unwrap();
    assert!(matches!(yard.resolve("socket").open_read(), Err(HostError::Special { what: "a socket", .. })));
    drop(socket);
}
