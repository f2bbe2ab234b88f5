use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, BufReader};

use super::before_exec::{LINE, registration};
use super::watcher::{StartError, Watch, start_for_test, watcher_id};
use super::{Child, SpawnError, Stream, command};

/// Polls until `condition` holds; fails when it does not within ten seconds.
fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < deadline, "not within ten seconds: {what}");
        std::thread::yield_now();
    }
}

/// Fields of `/proc/PID/stat` from the state on, or nothing if there is no such process.
fn stat(pid: u32) -> Option<Vec<String>> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}

fn gone(pid: u32) -> bool {
    stat(pid).is_none_or(|fields| fields[0] == "Z" || fields[0] == "X")
}

/// Starts a shell script and reads the process id it prints first.
async fn script_printing_a_pid(script: &str) -> (Child, u32) {
    let mut child = command("sh").args(["-c", script]).stdout(Stream::Piped).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).await.unwrap();
    (child, line.trim().parse().unwrap())
}

#[tokio::test]
async fn terminate_ends_grandchildren_too() {
    let (mut child, grandchild) = script_printing_a_pid("sleep 1000 & echo $!; wait").await;
    let leader = child.id();
    child.terminate(Duration::from_secs(10)).await.unwrap();
    eventually("both gone", || gone(leader) && gone(grandchild));
}

#[tokio::test]
async fn dropping_a_child_ends_grandchildren_too() {
    let (child, grandchild) = script_printing_a_pid("sleep 1000 & echo $!; wait").await;
    let leader = child.id();
    drop(child);
    // Reaped as well: no zombie stays behind.
    eventually("both gone", || stat(leader).is_none() && gone(grandchild));
}

#[tokio::test]
async fn waiting_ends_what_the_child_left_in_the_background() {
    let (mut child, grandchild) = script_printing_a_pid("sleep 1000 & echo $!").await;
    assert!(child.wait().await.unwrap().success());
    eventually("the background process is gone", || gone(grandchild));
}

#[tokio::test]
async fn a_child_that_ignores_sigterm_is_killed_after_the_grace() {
    let (mut child, _) = script_printing_a_pid("trap '' TERM; echo $$; while :; do sleep 1000; done").await;
    let status = child.terminate(Duration::from_millis(50)).await.unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(9));
}

#[tokio::test]
async fn a_child_that_heeds_sigterm_decides_its_own_status() {
    let script = "trap 'kill $sleeper; exit 7' TERM; sleep 1000 & sleeper=$!; echo $$; wait";
    let (mut child, _) = script_printing_a_pid(script).await;
    assert_eq!(child.terminate(Duration::from_secs(10)).await.unwrap().code(), Some(7));
}

#[tokio::test]
async fn the_status_can_be_asked_for_again() {
    let mut child = command("sh").args(["-c", "exit 3"]).spawn().unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(3));
    assert_eq!(child.wait().await.unwrap().code(), Some(3));
    assert_eq!(child.try_wait().unwrap().unwrap().code(), Some(3));
    assert_eq!(child.terminate(Duration::ZERO).await.unwrap().code(), Some(3));
}

#[tokio::test]
async fn try_wait_says_nothing_while_the_child_runs() {
    let mut child = command("cat").stdin(Stream::Piped).spawn().unwrap();
    assert!(child.try_wait().unwrap().is_none());
    // Waiting closes its input.
    assert!(child.wait().await.unwrap().success());
}

#[tokio::test]
async fn output_is_cut_at_the_limit_and_the_child_still_ends() {
    let script = "yes | head -c 300000; echo oops >&2";
    let child = command("sh").args(["-c", script]).stdout(Stream::Piped).stderr(Stream::Piped).spawn();
    let output = child.unwrap().output(1000).await.unwrap();
    assert_eq!((output.stdout.len(), output.truncated), (1000, true));
    assert_eq!(output.stderr, b"oops\n");
}

#[tokio::test]
async fn output_does_not_wait_for_a_background_process_holding_the_pipe() {
    let child = command("sh").args(["-c", "sleep 1000 & echo hi"]).stdout(Stream::Piped).spawn().unwrap();
    let output = child.output(1000).await.unwrap();
    assert_eq!(output.stdout, b"hi\n");
}

#[tokio::test]
async fn a_child_leads_its_own_group_before_it_runs() {
    let child = command("sleep").arg("1000").spawn().unwrap();
    assert_eq!(stat(child.id()).unwrap()[2], child.id().to_string());
}

#[tokio::test]
async fn a_missing_program_and_a_missing_folder_are_told_apart() {
    let missing = command("covey-no-such-program").spawn().unwrap_err();
    assert!(matches!(&missing, SpawnError::NotFound { program } if program == "covey-no-such-program"));
    let folder = command("true").cwd("/covey/no/such/folder").spawn().unwrap_err();
    assert!(matches!(folder, SpawnError::NoFolder { .. }), "{folder}");
    let not_a_program = command("/etc/passwd").spawn().unwrap_err();
    assert!(matches!(not_a_program, SpawnError::Failed { .. }), "{not_a_program}");
}

#[tokio::test]
async fn a_command_can_be_spawned_twice() {
    let mut sleep = command("sleep");
    sleep.arg("1000");
    let (one, two) = (sleep.spawn().unwrap(), sleep.spawn().unwrap());
    for child in [&one, &two] {
        assert_eq!(stat(child.id()).unwrap()[2], child.id().to_string());
    }
}

#[tokio::test]
async fn many_children_at_once_are_each_noticed() {
    let mut children: Vec<_> =
        (0..40).map(|code| command("sh").args(["-c", &format!("exit {code}")]).spawn().unwrap()).collect();
    for (code, child) in children.iter_mut().enumerate().rev() {
        assert_eq!(child.wait().await.unwrap().code(), Some(code as i32));
    }
}

/// What a process has open: descriptor and target.
fn descriptors(pid: u32) -> Vec<(String, String)> {
    let mut open: Vec<_> = std::fs::read_dir(format!("/proc/{pid}/fd"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            let target = std::fs::read_link(entry.path()).unwrap_or_default();
            (entry.file_name().into_string().unwrap(), target.to_string_lossy().into_owned())
        })
        .collect();
    open.sort();
    open
}

#[tokio::test]
async fn children_and_watcher_hold_nothing_of_ours() {
    let child = command("sleep").arg("1000").spawn().unwrap();
    let mut control = std::process::Command::new("sleep");
    control.arg("1000").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut control = control.spawn().unwrap();
    // The loader opens and closes libraries at first.
    eventually("both hold the same", || descriptors(child.id()) == descriptors(control.id()));
    control.kill().unwrap();
    control.wait().unwrap();

    let watcher = watcher_id().unwrap();
    let ours: Vec<_> = [1, 2].map(|fd| std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap()).into();
    for (descriptor, target) in descriptors(watcher) {
        match descriptor.as_str() {
            "0" => assert!(target.starts_with("pipe:"), "{target}"),
            "1" | "2" => assert_eq!(target, "/dev/null"),
            _ => assert!(!ours.contains(&target.clone().into()), "{descriptor} is {target}"),
        }
    }
    let stat = stat(watcher).unwrap();
    assert_eq!((&stat[3], &stat[4]), (&watcher.to_string(), &"0".to_string()), "own session, no terminal");
    assert_eq!(std::fs::read_link(format!("/proc/{watcher}/cwd")).unwrap(), Path::new("/"));
    assert_eq!(std::fs::read(format!("/proc/{watcher}/environ")).unwrap(), b"");
}

/// A process that leads its own group but that nobody watches.
fn loner() -> std::process::Child {
    std::process::Command::new("sleep").arg("1000").process_group(0).spawn().unwrap()
}

#[test]
fn the_watcher_kills_the_groups_still_listed_when_its_pipe_ends() {
    let (mut kept, mut struck, mut other) = (loner(), loner(), loner());
    let (mut shell, mut pipe) = start_for_test();
    // Tokens that are prefixes of each other must not be mixed up.
    writeln!(pipe, "+ 1 {}", kept.id()).unwrap();
    writeln!(pipe, "+ 11 {}", struck.id()).unwrap();
    writeln!(pipe, "+ 111 {}", other.id()).unwrap();
    writeln!(pipe, "- 11\n- 5").unwrap();
    drop(pipe);
    shell.wait().unwrap();
    kept.wait().unwrap();
    other.wait().unwrap();
    assert!(struck.try_wait().unwrap().is_none());
    struck.kill().unwrap();
    struck.wait().unwrap();
}

#[test]
fn without_a_shell_nothing_starts() {
    let refused = Watch::new().spawn(&mut |_, _| panic!("started all the same"), Path::new("/covey/no/sh"));
    assert!(matches!(refused, Err(StartError::Watcher(_))));
}

#[tokio::test]
async fn a_killed_watcher_is_replaced() {
    let _first = command("sleep").arg("1000").spawn().unwrap();
    let watcher = watcher_id().unwrap();
    let raw = rustix::process::Pid::from_raw(watcher.cast_signed()).unwrap();
    rustix::process::kill_process(raw, rustix::process::Signal::KILL).unwrap();
    eventually("the watcher is dead", || gone(watcher));
    let mut second = command("true").spawn().unwrap();
    assert!(second.wait().await.unwrap().success());
    assert_ne!(watcher_id().unwrap(), watcher);
}

#[test]
fn registrations_are_formatted_without_allocating() {
    let mut buffer = [0; LINE];
    assert_eq!(registration(&mut buffer, 0, 1), b"+ 0 1\n");
    let longest = format!("+ {} {}\n", u64::MAX, u32::MAX);
    assert_eq!(registration(&mut buffer, u64::MAX, u32::MAX), longest.as_bytes());
}
