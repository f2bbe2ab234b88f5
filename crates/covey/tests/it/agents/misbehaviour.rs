//! Agents that die, flood, lie and do not listen.

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::{configure, result, run, told, world};
use crate::world::{World, finish, signal};

#[tokio::test]
async fn an_agent_that_dies_is_told_with_its_last_words() {
    let world = world(&[]).await;
    let done = run(&world, &["say so far\nstderr out of luck\ndie"]).await;
    assert_eq!(done.code, Some(1));
    assert_snapshot!(told(&done), @r"
    commands: compact
    says: so far
    error: `fake` ended in the middle of its work; it said: out of luck
    ends: error
    ");
}

#[tokio::test]
async fn one_that_dies_at_once_could_not_be_reached() {
    let world = world(&["--die"]).await;
    let done = run(&world, &["hello"]).await;
    assert_eq!(done.code, Some(5));
    assert!(told(&done).contains("it said: covey-testkit: this agent dies at once"), "{done:?}");
}

#[tokio::test]
async fn one_that_wants_a_login_says_how() {
    let world = world(&["--locked"]).await;
    let done = world.covey(&["run", "--agent", "fake", "hello"]).await;
    assert_eq!(done.code, Some(5));
    assert!(
        done.err.contains("wants you to log in") && done.err.contains("covey agents login fake"),
        "{done:?}"
    );
}

#[tokio::test]
async fn noise_is_passed_over_and_named() {
    let world = world(&["--banner"]).await;
    let done = run(&world, &["garbage\nstranger\nduplicate\nsay still here"]).await;
    assert_snapshot!(told(&done), @r"
    commands: compact
    notice: the agent sent what is no message: expected value at line 1 column 30
    notice: the agent sent what is no message: it is neither a call nor an answer
    calls read: first
      completed first
    calls read: second
      completed second
    says: still here
    ends: done
    ");
}

#[tokio::test]
async fn a_line_of_100_megabytes_is_passed_over_in_little_memory() {
    let world = world(&[]).await;
    let prompt = format!("long {}\nsay still here", 100 << 20);
    let child = world.command(&["run", "--json", "--agent", "fake", &prompt]).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id().unwrap());
    let watching = tokio::spawn(async move {
        let mut peak = 0;
        // Until the process is gone.
        while let Ok(text) = tokio::fs::read_to_string(&status).await {
            let line = text.lines().find(|line| line.starts_with("VmHWM:"));
            peak = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(peak);
            tokio::task::yield_now().await;
        }
        peak
    });
    let done = finish(child).await;
    let told = told(&done);
    assert!(told.contains("which was passed over") && told.contains("says: still here"), "{told}");
    let peak = watching.await.unwrap();
    assert!(peak < 150 * 1024, "{peak} KB");
}

#[tokio::test]
async fn a_flood_arrives_whole() {
    let world = world(&[]).await;
    let done = run(&world, &["flood 20000\nsay end"]).await;
    let text = result(&done)["text"].as_str().unwrap().to_owned();
    assert_eq!((text.matches("word ").count(), text.ends_with("end")), (20000, true));
}

/// Starts a prompt and cancels it as soon as it said something.
async fn cancelled(world: &World, prompt: &str) -> (crate::world::Done, Duration) {
    let mut child = world.command(&["run", "--json", "--agent", "fake", prompt]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut out = String::new();
    let mut at = None;
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("agent_message") && at.is_none() {
            at = Some(Instant::now());
            signal(&child, Signal::INT);
        }
        out.push_str(&line);
        out.push('\n');
    }
    let done = finish(child).await;
    (crate::world::Done { out, ..done }, at.unwrap().elapsed())
}

#[tokio::test]
async fn cancelling_is_heard_and_the_session_goes_on() {
    let world = world(&["--load"]).await;
    let (done, _) = cancelled(&world, "say working\nhang").await;
    assert_eq!((done.code, result(&done)["stop"].as_str()), (Some(130), Some("cancelled")));
    let done = run(&world, &["--continue", "recall"]).await;
    assert!(told(&done).contains("says: say working\nhang | recall"), "{done:?}");
}

#[tokio::test]
async fn who_does_not_listen_is_ended() {
    let world = world(&[]).await;
    let (done, took) = cancelled(&world, "say working\nhang!").await;
    assert_eq!((done.code, result(&done)["stop"].as_str()), (Some(130), Some("cancelled")));
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[tokio::test]
async fn a_question_after_the_cancel_is_answered_with_cancelled() {
    let world = world(&[]).await;
    let (done, _) = cancelled(&world, "say working\nlate").await;
    let told = told(&done);
    assert!(told.contains("late and refused") && !told.contains("asks:"), "{told}");
    assert!(!world.project.join("late.txt").exists());
}

#[tokio::test]
async fn a_time_limit_holds_for_an_agent_that_hangs() {
    let world = world(&[]).await;
    let done = run(&world, &["--timeout", "1s", "hang!"]).await;
    assert_eq!((done.code, result(&done)["stop"].as_str()), (Some(4), Some("limit")));
}

/// It is started, and says nothing at all.
#[tokio::test]
async fn a_time_limit_holds_for_an_agent_that_never_answers() {
    let world = world(&["--mute"]).await;
    let done = run(&world, &["--timeout", "1s", "say hello"]).await;
    assert_eq!((done.code, result(&done)["stop"].as_str()), (Some(4), Some("limit")), "{done:?}");
    assert_eq!(world.covey(&["agents", "status"]).await.out, "no agent runs\n");
}

#[tokio::test]
async fn what_is_not_known_is_named() {
    let world = world(&[]).await;
    let done = run(&world, &["notify\nnotify\nsay still here"]).await;
    assert_snapshot!(told(&done), @r"
    commands: compact
    notice: the agent sent `session/update`, which this version does not know
    notice: the agent sent `hologram/shown`, which this version does not know
    says: still here
    ends: done
    ");
}

#[tokio::test]
async fn nothing_is_left_when_covey_is_killed() {
    let world = world(&[]).await;
    let marker = world.project.join("pid");
    let prompt = format!("run! sh -c 'sleep 1000 & echo $! > {}; wait'", marker.display());
    let child = world
        .command(&["run", "--sandbox", "off", "--mode", "full", "--agent", "fake", &prompt])
        .spawn()
        .unwrap();
    let pid = loop {
        match std::fs::read_to_string(&marker).ok().and_then(|text| text.trim().parse::<u32>().ok()) {
            Some(pid) => break pid,
            None => tokio::task::yield_now().await,
        }
    };
    signal(&child, Signal::KILL);
    finish(child).await;
    let gone =
        || std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "));
    let until = Instant::now() + Duration::from_secs(20);
    while !gone() {
        assert!(Instant::now() < until, "process {pid} outlived Covey");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn pictures_and_files_reach_an_agent() {
    let world = world(&[]).await;
    world.write("dot.png", [0x89, b'P', b'N', b'G', 13, 10, 26, 10]);
    configure(&world, "other", &[], "");
    let done = world.covey(&["run", "--json", "--agent", "fake", "--image", "dot.png", "blocks"]).await;
    assert!(told(&done).contains("text image") || told(&done).contains("image"), "{done:?}");
}

/// The same inside the walls, where its processes have numbers of their own.
#[tokio::test]
async fn nothing_is_left_inside_the_walls_either() {
    let world = world(&[]).await;
    let mut child = world
        .command(&[
            "run",
            "--json",
            "--mode",
            "full",
            "--agent",
            "fake",
            "run! sleep 1000 > /dev/null 2>&1 &\nsay there\nhang!",
        ])
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("\"agent_message\"") {
            break;
        }
    }
    let status = world.covey(&["agents", "status", "--json"]).await;
    let status: serde_json::Value = serde_json::from_str(&status.out).unwrap();
    let pids: Vec<u64> = status["processes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|process| process["pid"].as_u64().unwrap())
        .collect();
    assert!(pids.len() > 1, "{status}");
    signal(&child, Signal::KILL);
    child.wait().await.unwrap();
    let gone = |pid: &u64| {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "))
    };
    let until = Instant::now() + Duration::from_secs(20);
    while !pids.iter().all(gone) {
        assert!(Instant::now() < until, "one of {pids:?} outlived Covey");
        tokio::task::yield_now().await;
    }
}
