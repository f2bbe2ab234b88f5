//! Commands that behave, and those that do not.

use std::time::{Duration, Instant};

use guard::Action;
use serde_json::json;

use crate::folder::Folder;

impl Folder {
    async fn shell(&self, command: &str) -> String {
        self.call("shell", json!({"command": command})).await.unwrap().text
    }

    async fn refused(&self, tool: &str, input: serde_json::Value) -> String {
        self.call(tool, input).await.unwrap_err().0
    }
}

/// Whether a process of that number is there and no zombie.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

/// Waits for something that another process does.
async fn until(mut done: impl FnMut() -> bool) {
    let waiting = async {
        while !done() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap();
}

#[tokio::test]
async fn output_and_exit_code_come_back() {
    let folder = Folder::new();
    assert_eq!(folder.shell("echo out; echo err >&2; exit 3").await, "out\nerr\n[exit code 3]\n");
    assert_eq!(folder.shell("true").await, "(no output)\n[exit code 0]\n");
    assert_eq!(folder.shell("printf 'no newline'").await, "no newline\n[exit code 0]\n");
    assert_eq!(folder.shell("kill -9 $$").await, "(no output)\n[ended by signal 9]\n");
    assert_eq!(folder.shell(r"printf '\033[31mred\033[0m 1%%\r99%%\n caf\351 \000x\n'").await, {
        "99%\n caf\u{fffd} x\n[exit code 0]\n"
    });
    folder.write("sub/here", "");
    let inside = folder.call("shell", json!({"command": "ls", "cwd": "sub"})).await.unwrap();
    assert_eq!((inside.text.as_str(), inside.summary.as_str()), ("here\n[exit code 0]\n", "exit code 0"));
}

#[tokio::test]
async fn what_is_asked_about_is_the_command_and_its_folder() {
    let folder = Folder::new();
    let asked = folder.actions("shell", json!({"command": "rm -rf x", "cwd": "../y"}));
    assert_eq!(asked, [Action::Shell { command: "rm -rf x".into(), cwd: folder.context.cwd.join("../y") }]);
}

#[tokio::test]
async fn commands_that_can_not_be_are_refused() {
    let folder = Folder::new();
    folder.write("file", "");
    for (input, told) in [
        (json!({"command": "  "}), "empty"),
        (json!({"command": "a\0b"}), "NUL"),
        (json!({"command": "ls", "cwd": "a\0b"}), "NUL"),
        (json!({"command": format!("echo {}", "x".repeat(1 << 20))}), "script file"),
        (json!({"command": "cat", "stdin": "x".repeat(1 << 20)}), "redirect"),
        (json!({"command": "ls", "cwd": "file"}), "folder"),
        (json!({"command": "ls", "cwd": "missing"}), "does not exist"),
        (json!({"command": "ls", "cwd": "/"}), "outside"),
        (json!({"command": "ls", "timeout": 0}), "timeout"),
        (json!({"command": "ls", "other": 1}), "other"),
        (json!({}), "command"),
    ] {
        let error = folder.refused("shell", input.clone()).await;
        assert!(error.contains(told), "{told}: {error}");
    }
}

#[tokio::test]
async fn a_command_reads_what_it_is_given_and_never_waits_for_more() {
    let folder = Folder::new();
    assert_eq!(folder.shell("cat; read x; echo \"[$x]\"").await, "[]\n[exit code 0]\n");
    let text = "x".repeat(64 * 1024);
    let echoed = folder.call("shell", json!({"command": "wc -c; cat", "stdin": text})).await.unwrap();
    assert_eq!(echoed.text, "65536\n[exit code 0]\n");
    // One that does not listen is no reason to fail.
    let deaf = folder.call("shell", json!({"command": "exec 0<&-; echo ok", "stdin": "x"})).await.unwrap();
    assert_eq!(deaf.text, "ok\n[exit code 0]\n");
}

#[tokio::test]
async fn a_gigabyte_of_output_has_two_ends_and_the_rest_is_paged() {
    let folder = Folder::new();
    let before = peak_memory();
    let text = folder.shell("echo first; yes 'the same line again' | head -c 1G; echo last").await;
    assert!(text.starts_with("first\nthe same line again\n"), "{}", &text[..100]);
    assert!(text.ends_with("last\n[exit code 0]\n"));
    assert!(text.contains("the first 64 MB are at `output:t1_c1`"), "{}", &text[12_000..12_400]);
    assert!(text.len() < 26_000, "{}", text.len());
    let spool = tools::Desk::outputs(folder.desk.as_ref()).join("t1_c1");
    assert_eq!(spool.metadata().unwrap().len(), 64 << 20);
    assert!(peak_memory() - before < 20_000, "{} kB more", peak_memory() - before);
}

/// In kB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_short_output_leaves_no_file_and_a_long_one_is_whole_in_it() {
    let folder = Folder::new();
    let spool = tools::Desk::outputs(folder.desk.as_ref()).join("t1_c1");
    folder.shell("seq 1 100").await;
    assert!(!spool.exists());
    let text = folder.shell("seq 1 100000").await;
    assert!(text.contains("`read` them at `output:t1_c1`"));
    let whole: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    assert_eq!(std::fs::read_to_string(spool).unwrap(), whole);
}

#[tokio::test]
async fn one_that_takes_too_long_is_ended_with_all_it_started() {
    let folder = Folder::new();
    let command =
        "trap '' TERM; (trap '' TERM; exec sleep 1000) & echo $! > pid; echo started; sleep 1000; sleep 1000";
    let start = Instant::now();
    let output = folder.call("shell", json!({"command": command, "timeout": 1})).await.unwrap();
    assert!(output.text.starts_with("started\n[timed out after 1 s]\n"), "{}", output.text);
    assert!(output.text.contains("`background`"));
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    until(|| !is_alive(&folder.text("pid"))).await;
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let folder = Folder::new();
    let start = Instant::now();
    let text = folder.shell("sleep 1000 & echo $! > pid; echo done").await;
    assert_eq!(text, "done\n[exit code 0]\n");
    assert!(start.elapsed() < Duration::from_secs(8));
    until(|| !is_alive(&folder.text("pid"))).await;
}

#[tokio::test]
async fn dropping_a_call_ends_the_command() {
    let folder = Folder::new();
    {
        let call = folder.call("shell", json!({"command": "echo $$ > pid; sleep 1000; sleep 1"}));
        tokio::pin!(call);
        let started =
            until(|| std::fs::read_to_string(folder.path().join("pid")).is_ok_and(|pid| pid.ends_with('\n')));
        tokio::select! {
            _ = &mut call => unreachable!(),
            () = started => {}
        }
        assert!(is_alive(&folder.text("pid")));
    }
    until(|| !is_alive(&folder.text("pid"))).await;
}

#[tokio::test]
async fn somebody_who_watches_sees_the_end_of_it_a_few_times_a_second() {
    let folder = Folder::new();
    folder
        .shell("for i in $(seq 1 300); do echo line $i; done; sleep 0.5; printf 'half a li'; sleep 0.5")
        .await;
    let progress = folder.desk.progress.lock().unwrap();
    // Not for each line.
    assert!((2..30).contains(&progress.len()), "{}", progress.len());
    assert!(progress.iter().all(|text| text.len() <= 2048));
    assert!(progress.iter().any(|text| text.ends_with("line 300\n")), "{progress:?}");
    assert!(progress.last().unwrap().ends_with("line 300\nhalf a li"));
}

#[tokio::test]
async fn a_job_runs_on_and_is_looked_at_and_ended() {
    let folder = Folder::new();
    let job = json!({"command": "echo one; read -r x < go; echo two; exec sleep 1000", "background": true});
    assert_eq!(folder.call("shell", json!({"command": "mkfifo go"})).await.unwrap().summary, "exit code 0");
    assert_eq!(folder.call("shell", job).await.unwrap().summary, "job 1");
    let look = async || {
        tokio::task::yield_now().await;
        folder.call("job_output", json!({"job": 1})).await.unwrap().text
    };
    let mut text = look().await;
    while !text.contains("one") {
        text = look().await;
    }
    assert_eq!(text, "one\n[running]\n");
    assert_eq!(look().await, "(nothing new)\n[running]\n");
    folder.write("go", "\n");
    let mut text = look().await;
    while !text.contains("two") {
        text = look().await;
    }
    assert_eq!(text, "two\n[running]\n");
    let all = folder.call("job_output", json!({"job": 1, "all": true})).await.unwrap().text;
    assert_eq!(all, "one\ntwo\n[running]\n");
    let list = folder.call("job_list", json!({})).await.unwrap();
    assert!(
        list.text.starts_with("1  running  echo one; read") && list.summary == "1 running",
        "{}",
        list.text
    );
    assert_eq!(
        folder.call("job_kill", json!({"job": 1})).await.unwrap().text,
        "job 1 is no more: ended by signal 15\n"
    );
    assert!(folder.call("job_kill", json!({"job": 1})).await.unwrap().text.contains("already ended"));
    assert!(folder.refused("job_output", json!({"job": 7})).await.contains("no job 7, only 1"));
    assert!(folder.refused("job_kill", json!({"job": -1})).await.contains("job"));
}

#[tokio::test]
async fn a_job_that_ended_is_told_of_once() {
    let folder = Folder::new();
    assert!(folder.refused("job_kill", json!({"job": 1})).await.contains("none was started"));
    folder.call("shell", json!({"command": "exit 4", "background": true})).await.unwrap();
    let mut news = None;
    until(|| {
        news = tools::job_news(&folder.context.state);
        news.is_some()
    })
    .await;
    assert_eq!(news.unwrap(), "job 1 (`exit 4`) ended: exit code 4");
    assert_eq!(tools::job_news(&folder.context.state), None);
}

#[tokio::test]
async fn jobs_end_with_the_session_and_are_not_without_number() {
    let folder = Folder::new();
    for n in 0..16 {
        let command = format!("echo $$ > pid{n}; exec sleep 1000");
        folder.call("shell", json!({"command": command, "background": true})).await.unwrap();
    }
    let error = folder.refused("shell", json!({"command": "true", "background": true})).await;
    assert!(error.contains("job_kill"), "{error}");
    let path = folder.path().to_owned();
    let pid = |n: usize| std::fs::read_to_string(path.join(format!("pid{n}"))).unwrap_or_default();
    until(|| (0..16).all(|n| pid(n).ends_with('\n'))).await;
    let pids: Vec<String> = (0..16).map(pid).collect();
    drop(folder);
    until(|| pids.iter().all(|pid| !is_alive(pid))).await;
}
