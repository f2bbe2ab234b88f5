//! A full disk, a limit on file size, a folder that may not be written.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::processes::{again, prepare};
use crate::support::*;

fn check_filled(place: &Place, session: &protocol::SessionId, output: std::process::Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.lines().any(|line| line == "full"), "{text}");
    let last: u64 =
        text.lines().filter_map(|line| line.strip_prefix("recorded ")).next_back().unwrap().parse().unwrap();

    let report = place.store.verify(session).unwrap();
    assert!(report.is_sound(), "{report:?}");
    assert_eq!(report.events, last);
    // With room again, it goes on where it was.
    let mut opened = place.store.open_writer(session, at(50)).unwrap();
    assert_eq!(opened.repaired, None);
    assert_eq!(opened.writer.append(vec![notice("more")], at(51)).unwrap()[0].seq, last + 1);
}

#[test]
fn a_limit_on_file_size_harms_nothing_that_was_written() {
    let place = place();
    let session = place.session(1, vec![]);
    // `ulimit -f` counts 512-byte blocks in sh; the signal that would kill the process is ignored, as `covey` does.
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -f 80; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap());
    prepare(&mut command, "fill", &place, &session);
    check_filled(&place, &session, command.output().unwrap());
}

/// A real file system of 64 KiB, in a mount namespace of its own. Where mounting is not allowed there is nothing to
/// see, and the test above stands for it.
#[test]
fn a_full_disk_harms_nothing_that_was_written() {
    let place = place();
    let session = place.session(1, vec![]);
    let disk = place.folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let script = "mount -t tmpfs -o size=64k none \"$0\" || exit 77
        cp -a \"$COVEY_TEST_ROOT\" \"$0/sessions\" && COVEY_TEST_ROOT=\"$0/sessions\" \"$@\" || exit 1
        cp -a \"$0/sessions/.\" \"$COVEY_TEST_ROOT\"";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]).arg(&disk).arg(std::env::current_exe().unwrap());
    prepare(&mut command, "fill", &place, &session);
    match command.output() {
        Ok(output) if matches!(output.status.code(), Some(77 | 1)) && output.stdout.is_empty() => {
            println!("skipped: mounting is not allowed here");
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => println!("skipped: no unshare here"),
        output => check_filled(&place, &session, output.unwrap()),
    }
}

#[test]
fn a_folder_that_may_not_be_written_can_be_read() {
    let place = place();
    let session = place.session(1, vec![prompt("hello"), notice("one")]);
    let open = |mode| Permissions::from_mode(mode);
    // Readable for the user the other process runs as, when this one is root.
    for entry in std::fs::read_dir(place.store.dir(&session)).unwrap() {
        std::fs::set_permissions(entry.unwrap().path(), open(0o444)).unwrap();
    }
    std::fs::set_permissions(place.store.dir(&session), open(0o555)).unwrap();
    std::fs::set_permissions(place.store.root(), open(0o555)).unwrap();
    std::fs::set_permissions(place.folder.path(), open(0o755)).unwrap();

    let mut command = again("read only", &place, &session);
    if rustix::process::geteuid().is_root() {
        // The test program itself may lie where an ordinary user can not reach.
        let copy = place.folder.path().join("tests");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        command = Command::new(copy);
        prepare(&mut command, "read only", &place, &session);
        command.uid(65534).gid(65534).current_dir("/");
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.lines().any(|line| line == "read"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for folder in [place.store.dir(&session), place.store.root().to_owned()] {
        std::fs::set_permissions(folder, open(0o755)).unwrap();
    }
}
