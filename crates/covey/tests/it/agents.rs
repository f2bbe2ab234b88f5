//! Agents of other makers, played by a program that obeys its prompt and misbehaves when told to.

mod choices;
mod fallback;
mod handover;
mod leaving;
mod manus;
mod misbehaviour;
mod openclaw;
mod permission;
mod undo;

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::world::{Done, World};

/// The fake agent, which is built with the tests.
pub(crate) fn testkit() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_covey")).with_file_name("covey-testkit")
}

/// A world with the fake agent as `fake`, started with these flags.
pub(crate) async fn world(flags: &[&str]) -> World {
    let world = World::bare("").await;
    configure(&world, "fake", flags, "");
    world
}

pub(crate) fn configure(world: &World, name: &str, flags: &[&str], more: &str) {
    let state = state(world, name);
    std::fs::create_dir_all(&state).unwrap();
    let testkit = testkit();
    let command = [testkit.to_str().unwrap(), "acp-agent", "--state", state.to_str().unwrap()];
    let command = [&command, flags].concat();
    let old = std::fs::read_to_string(world.home.join("config.toml")).unwrap_or_default();
    world.configure(&format!("{old}\n[agents.{name}]\nacp = {command:?}\nstate = [{:?}]\n{more}", state));
}

/// The agent's own folder; Covey's home is hidden from it.
pub(crate) fn state(world: &World, name: &str) -> PathBuf {
    world.project.parent().unwrap().join(format!("state-{name}"))
}

/// What happened, a line each, without what differs from run to run.
pub(crate) fn told(done: &Done) -> String {
    let mut lines = Vec::new();
    let mut messages: Vec<(String, usize)> = Vec::new();
    for event in done.lines() {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        let line = match event["type"].as_str().unwrap() {
            kind @ ("agent_message" | "agent_thought") => {
                let word = if kind == "agent_message" { "says" } else { "thinks" };
                match messages.iter().find(|(id, _)| *id == text("message")) {
                    Some((_, at)) => {
                        let at: usize = *at;
                        let line: &mut String = &mut lines[at];
                        line.push_str(&text("text"));
                        continue;
                    }
                    None => {
                        messages.push((text("message"), lines.len()));
                        format!("{word}: {}", text("text"))
                    }
                }
            }
            "tool_call" => format!("calls {}: {}", text("name"), text("title")),
            "tool_call_update" => {
                let said =
                    event["content"][0]["content"]["text"].as_str().unwrap_or_default().trim().to_owned();
                format!("  {} {said}", text("status"))
            }
            "permission_request" => {
                let title = text("title");
                let place =
                    title.split_whitespace().find(|word| word.contains("/project/")).unwrap_or_default();
                let short = place.rsplit_once("/project/").map(|(_, file)| format!("[project]/{file}"));
                format!("  asks: {}", title.replace(place, short.as_deref().unwrap_or(place)))
            }
            "permission" => format!("  {}: {}", text("outcome"), text("reason")),
            "plan" => format!("plan of {}", event["entries"].as_array().unwrap().len()),
            "commands" => format!("commands: {}", event["commands"][0]["name"].as_str().unwrap()),
            "notice" => format!("notice: {}", text("text")),
            "error" => format!("error: {}", text("message")),
            "file_write" => format!("  wrote {}", Path::new(&text("path")).file_name().unwrap().display()),
            "file_read" => format!("  read {}", Path::new(&text("path")).file_name().unwrap().display()),
            "turn_end" => format!("ends: {}", text("stop")),
            _ => continue,
        };
        lines.push(if event["type"] == "tool_call_update" { line.trim_end().to_owned() } else { line });
    }
    lines.join("\n")
}

pub(crate) async fn run(world: &World, arguments: &[&str]) -> Done {
    world.covey(&[&["run", "--json", "--agent", "fake"], arguments].concat()).await
}

/// The answer that a run came to.
pub(crate) fn result(done: &Done) -> Value {
    done.lines().pop().unwrap()
}

#[tokio::test]
async fn an_agent_that_speaks_acp_answers() {
    let world = world(&["--banner"]).await;
    let done =
        run(&world, &["think what could it be\nsay Hello\nsay  there.\nplan\nunknown\nunknown\nrequest"])
            .await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_snapshot!(told(&done), @r"
    commands: compact
    thinks: what could it be
    says: Hello there.the client answered -32601
    plan of 2
    notice: the agent sent `hologram_update`, which this version does not know
    ends: done
    ");
    assert_eq!(result(&done)["agent"], "fake");
}

#[tokio::test]
async fn a_prompt_goes_on_in_the_agents_own_session() {
    for flags in [&["--load"][..], &["--resume"]] {
        let world = world(flags).await;
        run(&world, &["say one"]).await;
        let done = run(&world, &["--continue", "recall"]).await;
        // The agent was sent each prompt once, and what it tells again while it loads is not recorded again.
        assert_eq!(told(&done), "says: say one | recall\nends: done", "{flags:?}");
    }
}

#[tokio::test]
async fn what_an_agent_counts_is_recorded() {
    let world = world(&[]).await;
    let done = run(&world, &["usage 0.25"]).await;
    assert_eq!(result(&done)["cost_usd"], 0.25, "{done:?}");
    let context = done.lines().into_iter().find(|event| event["type"] == "context").unwrap();
    assert_eq!(
        (context["window"].as_u64(), context["parts"][0]["tokens"].as_u64()),
        (Some(8000), Some(1200))
    );
}

#[tokio::test]
async fn a_budget_stops_another_agent_too() {
    let world = world(&[]).await;
    let done = run(&world, &["--max-cost", "0.1", "usage 0.25\nhang"]).await;
    assert_eq!((done.code, result(&done)["stop"].as_str()), (Some(4), Some("limit")), "{done:?}");
}

#[tokio::test]
async fn who_is_not_there_is_told_with_what_to_do() {
    let world = World::bare("").await;
    let done = world.covey(&["run", "--agent", "gemini", "hello"]).await;
    assert_eq!(
        (done.code, done.err.trim()),
        (Some(5), "error: `gemini` is not installed\nhint: covey agents install gemini")
    );
    let done = world.covey(&["run", "--agent", "nobody", "hello"]).await;
    assert_eq!(done.code, Some(2));
    assert!(
        done.err.contains("there is no agent `nobody`\nhint: there are: native, claude, codex"),
        "{done:?}"
    );
    world.configure("[agents.mine]\nmodel = \"x\"\n");
    let done = world.covey(&["run", "--agent", "mine", "hello"]).await;
    assert!(done.err.contains("hint: agents.mine.acp = "), "{done:?}");
}

#[tokio::test]
async fn those_that_run_are_seen_with_what_they_started() {
    let world = world(&[]).await;
    // Mode full: it runs the command itself, in the background, and then waits.
    let mut child = world
        .command(&[
            "run",
            "--json",
            "--agent",
            "fake",
            "--mode",
            "full",
            "run! sleep 1000 > /dev/null 2>&1 &\nsay there\nhang",
        ])
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("\"agent_message\"") {
            break;
        }
    }
    let done = world.covey(&["agents", "status", "--json"]).await;
    let status: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
    assert_eq!(
        (status["agent"].as_str(), status["state"].as_str()),
        (Some("fake"), Some("busy")),
        "{status}"
    );
    assert!(status["memory"].as_u64() > Some(100_000), "{status}");
    let names: Vec<&str> = status["processes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|process| process["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"covey-testkit"), "{names:?}");
    crate::world::signal(&child, rustix::process::Signal::KILL);
    child.wait().await.unwrap();
    // What a killed Covey left behind is not taken for something that runs.
    assert_eq!(world.covey(&["agents", "status"]).await.out, "no agent runs\n");
}
