//! Reaching other processes, outliving the command, using everything up.

use std::time::{Duration, Instant};

use guard::{Backend, Limits, SandboxNeeds};

use crate::sandbox::stage::{CANARY, PYTHON, Stage};

with_each_backend! {
    nothing_outlives_the_command
    nothing_outlives_a_killed_command
    a_dropped_child_takes_all_with_it
    processes_outside_get_no_signals
    processes_outside_are_not_looked_into
    the_wardens_are_out_of_reach
    secrets_in_the_environment_do_not_pass
    the_exit_status_comes_through
    a_forgotten_command_ends
    too_many_processes_are_refused
    memory_is_bounded
}

/// Leaves its group, its session and its parent, and goes on writing.
const DAEMON: &str = "setsid bash -c '(trap \"\" HUP TERM; while :; do echo x >> beat; sleep 0.02; done) & disown' & \
     (setsid sleep 300 &) ; while [ ! -s beat ]; do sleep 0.02; done";

async fn is_still(stage: &Stage) {
    // Dying takes the system a moment.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let before = stage.read("project/beat").len();
    assert!(before > 0, "it never ran");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(stage.read("project/beat").len(), before, "something lives on");
}

async fn nothing_outlives_the_command(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage.run(DAEMON).await;
    assert!(ran.ok, "{}", ran.text);
    is_still(&stage).await;
}

async fn nothing_outlives_a_killed_command(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let mut enclosed = stage.enclose(&format!("{DAEMON}; sleep 300"), &SandboxNeeds::none());
    let mut child = enclosed.spawn().unwrap();
    wait_for_beat(&stage).await;
    child.kill().await.unwrap();
    is_still(&stage).await;
}

async fn a_dropped_child_takes_all_with_it(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let child = stage.enclose(&format!("{DAEMON}; sleep 300"), &SandboxNeeds::none()).spawn().unwrap();
    wait_for_beat(&stage).await;
    drop(child);
    is_still(&stage).await;
}

async fn wait_for_beat(stage: &Stage) {
    let start = Instant::now();
    while stage.read("project/beat").is_empty() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never started");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn processes_outside_get_no_signals(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let mut victim = project::command("sleep").arg("300").spawn().unwrap();
    let ran = stage
        .run(&format!(
            "kill -9 {0}; kill -9 -- -{0}; kill -9 $OUTER; kill -9 $PPID; kill -9 1; kill -9 -1; true",
            victim.id()
        ))
        .await;
    assert!(victim.try_wait().unwrap().is_none(), "{}", ran.text);
}

async fn processes_outside_are_not_looked_into(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let mut victim = project::command("sleep");
    let victim = victim.arg("300").env("VICTIM", CANARY).stdin(project::Stream::Nothing).spawn().unwrap();
    let pid = victim.id();
    let ran = stage
        .run(&format!(
            "cat /proc/{pid}/environ /proc/{pid}/maps; ls -l /proc/{pid}/fd/ /proc/{pid}/cwd/; dd if=/proc/{pid}/mem bs=1 count=1;
            cat /proc/*/environ; grep -a -l heap /proc/[0-9]*/maps | grep -v self | wc -l"
        ))
        .await;
    assert!(!ran.text.contains("VICTIM"), "{}", ran.text);
    if backend != Backend::Landlock {
        let ran = stage.run("ls -d /proc/[0-9]* | wc -l").await;
        let seen: usize = ran.text.trim().parse().unwrap();
        assert!(seen < 8, "{seen} processes are seen");
    }
}

/// The processes of ours that watch over it hold what Covey holds in memory, keys and all.
async fn the_wardens_are_out_of_reach(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(&format!(
            "for p in /proc/[0-9]*; do n=${{p#/proc/}}; [ $n = $$ ] && continue; [ -r $p/status ] || continue
                tr '\\0' ' ' < $p/cmdline | grep -q deps/it- || continue
                kill -9 $n 2>/dev/null && echo killed $n; head -c1 $p/mem 2>/dev/null && echo memory $n
                grep -q . $p/environ 2>/dev/null && echo environment $n; done
            {PYTHON} -c 'print(40 + 2)'"
        ))
        .await;
    let through = ["killed", "memory", "environment"];
    // To the first process of its own namespace a signal can be sent; it just does nothing.
    let found: Vec<&str> = ran
        .text
        .lines()
        .filter(|line| through.iter().any(|word| line.starts_with(word)) && *line != "killed 1")
        .collect();
    assert_eq!(found, Vec::<&str>::new());
    assert!(ran.text.contains("42"), "{}", ran.text);
}

async fn secrets_in_the_environment_do_not_pass(backend: Backend) {
    let secrets =
        ["MY_API_KEY", "DB_PASSWORD", "SSH_AUTH_SOCK", "AWS_PROFILE", "SOME_TOKEN", "ALLOWED_TOKEN"];
    if std::env::var_os("SOME_TOKEN").is_none() {
        // Once more as a process that has them.
        let test = std::thread::current().name().unwrap().to_owned();
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", &test, "--nocapture"]).envs(secrets.map(|name| (name, CANARY)));
        again.env("ADDRESS", format!("postgres://me:{CANARY}@db/x")).env("PLAIN", "seen");
        let output = again.env("COVEY_HOME", CANARY).output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage.run("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'").await;
    assert!(
        ran.text.contains("PLAIN=seen") && !ran.text.contains("TOKEN") && !ran.text.contains("ADDRESS"),
        "{}",
        ran.text
    );
    let needs = SandboxNeeds { variables: vec!["ALLOWED_TOKEN".into()], ..SandboxNeeds::none() };
    let ran = stage.run_with("env | cut -d= -f1", &needs).await;
    assert!(ran.text.contains("ALLOWED_TOKEN") && !ran.text.contains("SOME_TOKEN"), "{}", ran.text);
}

async fn the_exit_status_comes_through(backend: Backend) {
    use std::os::unix::process::ExitStatusExt;
    let Some(stage) = Stage::new(backend) else { return };
    assert_eq!(stage.run("exit 7").await.status.code(), Some(7));
    let status = stage.run("kill -SEGV $$").await.status;
    let signal = status.signal().or_else(|| status.code().map(|code| code - 128));
    assert_eq!(signal, Some(11), "{status:?}");
    // A request to end reaches the program, which may take its time; but it ends `bwrap` at once, and all with it.
    if backend == Backend::Bubblewrap {
        return;
    }
    let mut enclosed = stage.enclose(
        "trap 'echo bye > end; exit 3' TERM; touch beat; echo x > beat; while :; do sleep 0.02; done",
        &SandboxNeeds::none(),
    );
    let mut child = enclosed.spawn().unwrap();
    wait_for_beat(&stage).await;
    let status = child.terminate(Duration::from_secs(10)).await.unwrap();
    assert_eq!(stage.read("project/end"), "bye\n", "{status:?}");
}

async fn a_forgotten_command_ends(backend: Backend) {
    if backend != Backend::Namespaces {
        return; // Whoever waits for it counts the time.
    }
    let limits = Limits { time: Some(Duration::from_millis(300)), ..Limits::default() };
    let Some(stage) = Stage::with(backend, |policy| policy.limits = limits) else { return };
    let start = Instant::now();
    let ran = stage.run("sleep 60").await;
    assert!(!ran.ok && start.elapsed() < Duration::from_secs(20));
}

async fn too_many_processes_are_refused(backend: Backend) {
    if backend != Backend::Namespaces {
        return; // Not bounded, and the grade says so.
    }
    let limits = Limits { processes: Some(512), ..Limits::default() };
    let Some(stage) = Stage::with(backend, |policy| policy.limits = limits) else { return };
    let host = std::fs::read_to_string("/proc/sys/kernel/pid_max").unwrap();
    let bomb = format!(
        "{PYTHON} -c \"
import os, time
n = 0
try:
    while n < 3000:
        if os.fork() == 0:
            time.sleep(60); os._exit(0)
        n += 1
    print('all of them')
except OSError:
    print('stopped')
\""
    );
    let ran = stage.run(&bomb).await;
    assert!(ran.text.contains("stopped"), "{}", ran.text);
    assert_eq!(
        std::fs::read_to_string("/proc/sys/kernel/pid_max").unwrap(),
        host,
        "the machine's own limit was changed"
    );
}

async fn memory_is_bounded(backend: Backend) {
    let limits = Limits { memory: Some(256 << 20), ..Limits::default() };
    let Some(stage) = Stage::with(backend, |policy| policy.limits = limits) else { return };
    let ran = stage.run(&format!("{PYTHON} -c \"x = b'a' * (1 << 30); print('got it')\"")).await;
    assert!(!ran.ok && !ran.text.contains("got it"), "{}", ran.text);
}
