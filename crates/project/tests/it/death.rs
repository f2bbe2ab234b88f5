//! What becomes of our children when we are killed.

use std::io::{BufRead, BufReader, Write};

use tokio::io::AsyncReadExt;

use crate::helper::{eventually, gone, plays, start_again};

const FAMILY: &str = "sleep 1000 & echo $$ $!; sleep 1000";

/// Starts a child with a grandchild and prints the process ids of both.
async fn start_a_family() -> project::Child {
    let mut child =
        project::command("sh").args(["-c", FAMILY]).stdout(project::Stream::Piped).spawn().unwrap();
    let mut pids = Vec::new();
    while !pids.ends_with(b"\n") {
        child.stdout.as_mut().unwrap().read_buf(&mut pids).await.unwrap();
    }
    let mut out = std::io::stdout();
    write!(out, "pids {}", String::from_utf8(pids).unwrap()).unwrap();
    out.flush().unwrap();
    child
}

/// Runs `role` in a process of its own, kills that with SIGKILL and waits for every process it printed to go.
fn kill_and_expect_nobody_left(test: &str, families: usize) {
    let mut parent = start_again(test, "parent").spawn().unwrap();
    let mut lines = BufReader::new(parent.stdout.take().unwrap()).lines().map(|line| line.unwrap());
    let mut pids = Vec::new();
    while pids.len() < 2 * families {
        let line = lines.next().expect("the helper ended early");
        // libtest prints the test's name on the same line.
        if let Some((_, numbers)) = line.split_once("pids ") {
            pids.extend(numbers.split(' ').map(|pid| pid.parse::<u32>().unwrap()));
        }
    }
    assert!(pids.iter().all(|pid| !gone(*pid)));
    parent.kill().unwrap();
    parent.wait().unwrap();
    eventually("every child and grandchild is gone", || pids.iter().all(|pid| gone(*pid)));
}

#[tokio::test]
async fn grandchildren_die_when_we_are_killed() {
    if plays("parent") {
        let _child = start_a_family().await;
        return std::future::pending().await;
    }
    kill_and_expect_nobody_left("death::grandchildren_die_when_we_are_killed", 1);
}

/// Our watcher, found the way a person who looks at the process list would.
fn watcher() -> Option<u32> {
    let ours = std::process::id().to_string();
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .find_map(|pid| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.to_owned();
            let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let is_watcher = parent == ours && words.ends_with(b"covey-watcher\0");
            if is_watcher { pid.parse().ok() } else { None }
        })
}

fn send(signal: &str, pid: u32) {
    let status = std::process::Command::new("kill").args(["-s", signal, &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

#[tokio::test]
async fn a_new_watcher_takes_over_the_children_of_a_killed_one() {
    if plays("parent") {
        let _before = start_a_family().await;
        let first = watcher().unwrap();
        send("KILL", first);
        eventually("the watcher is dead", || gone(first));
        let _after = start_a_family().await;
        return std::future::pending().await;
    }
    kill_and_expect_nobody_left("death::a_new_watcher_takes_over_the_children_of_a_killed_one", 2);
}

/// Bits of a signal mask in `/proc/PID/status`: HUP, INT and TERM.
fn ignores_polite_signals(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
    [1, 2, 15].iter().all(|signal| mask & (1 << (signal - 1)) != 0)
}

#[tokio::test]
async fn the_watcher_stays_through_hangup_interrupt_and_terminate() {
    if plays("parent") {
        let first = project::command("sleep").arg("1000").spawn().unwrap();
        let watcher = watcher().unwrap();
        eventually("it set its traps", || ignores_polite_signals(watcher));
        ["HUP", "INT", "TERM"].iter().for_each(|signal| send(signal, watcher));
        drop(first);
        let _child = start_a_family().await;
        assert_eq!(self::watcher(), Some(watcher));
        return std::future::pending().await;
    }
    kill_and_expect_nobody_left("death::the_watcher_stays_through_hangup_interrupt_and_terminate", 1);
}
