//! Standard input ends: what was asked before is answered, and what was started comes to its end.

use std::process::Stdio;

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::world;
use crate::world::{Done, World, finish, signal};

/// Longer than a test has patience.
const SLOW: &str = "[[slow]] [[say:";

fn request(id: u32, method: &str, params: &Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn initialize() -> String {
    request(1, "initialize", &json!({"protocolVersion": 1}))
}

fn prompt(id: u32, session: &str, text: &str) -> String {
    let prompt = json!([{"type": "text", "text": text}]);
    request(id, "session/prompt", &json!({"sessionId": session, "prompt": prompt}))
}

/// The answer to a request.
fn answer(done: &Done, id: u32) -> Value {
    let lines = done.lines();
    let found = lines.iter().find(|line| line["id"] == id && line.get("method").is_none());
    found.unwrap_or_else(|| panic!("{id} was not answered: {done:?}")).clone()
}

/// Somebody who writes and reads lines.
struct Talk {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    session: String,
}

impl Talk {
    /// With a session that is open.
    async fn open(world: &World, arguments: &[&str]) -> Self {
        let mut command = world.command(&[&["acp"], arguments].concat());
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut talk = Self { child, stdin, lines, session: String::new() };
        let new = json!({"cwd": world.project, "mcpServers": []});
        talk.write(&(initialize() + &request(2, "session/new", &new))).await;
        let opened = talk.until(|line| line["id"] == 2).await;
        talk.session = opened["result"]["sessionId"].as_str().unwrap().to_owned();
        talk
    }

    async fn write(&mut self, text: &str) {
        self.stdin.write_all(text.as_bytes()).await.unwrap();
    }

    async fn ask(&mut self, text: &str) {
        let line = prompt(3, &self.session, text);
        self.write(&line).await;
    }

    async fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        while let Some(line) = self.lines.next_line().await.unwrap() {
            let line: Value = serde_json::from_str(&line).unwrap();
            if is_it(&line) {
                return line;
            }
        }
        panic!("it did not come")
    }

    async fn until_it_speaks(&mut self) {
        self.until(|line| line["params"]["update"]["sessionUpdate"] == "agent_message_chunk").await;
    }
}

#[tokio::test]
async fn everything_that_was_asked_is_answered() {
    let world = world().await;
    let place = json!({"cwd": world.project, "mcpServers": []});
    let asked = [
        initialize(),
        request(2, "session/new", &place),
        request(3, "session/list", &json!({})),
        request(4, "no/such", &json!({})),
        prompt(5, "20200101-000000-00000000", "hello"),
    ];
    let done = world.covey_with_stdin(&["acp"], asked.concat().as_bytes()).await;
    assert_eq!(done.code, Some(0), "{done:?}");
    assert!(answer(&done, 2)["result"]["sessionId"].is_string());
    assert!(answer(&done, 3)["result"]["sessions"].is_array());
    assert_eq!(answer(&done, 4)["error"]["code"], -32601);
    assert!(answer(&done, 5)["error"]["message"].as_str().unwrap().contains("is not open"));
}

#[tokio::test]
async fn a_prompt_right_behind_its_session_is_worked_on_to_its_end() {
    let world = world().await;
    let first = world.covey(&["run", "--json", "Say hello"]).await.lines();
    let session = first[0]["session"].as_str().unwrap();
    let place = json!({"sessionId": session, "cwd": world.project, "mcpServers": []});
    let asked = [
        initialize(),
        request(2, "session/resume", &place),
        prompt(3, session, r#"Do it. [[tool:read {"path":"a.txt"}]]"#),
    ];
    world.write("a.txt", "read to its end");
    let done = world.covey_with_stdin(&["acp"], asked.concat().as_bytes()).await;
    assert_eq!((done.code, &answer(&done, 3)["result"]["stopReason"]), (Some(0), &json!("end_turn")));
    assert!(done.out.contains("read to its end"), "{done:?}");
    // What waits for a session that can not be opened is answered too.
    let gone = json!({"sessionId": "20200101-000000-00000000", "cwd": world.project, "mcpServers": []});
    let asked =
        [initialize(), request(2, "session/load", &gone), prompt(3, "20200101-000000-00000000", "hello")];
    let done = world.covey_with_stdin(&["acp"], asked.concat().as_bytes()).await;
    assert!(answer(&done, 2)["error"].is_object() && answer(&done, 3)["error"].is_object(), "{done:?}");
}

#[tokio::test]
async fn a_question_that_nobody_can_answer_any_more_is_a_no() {
    let world = world().await;
    let mut talk = Talk::open(&world, &[]).await;
    talk.ask(r#"Do it. [[tool:shell {"command":"touch made.txt"}]]"#).await;
    let Talk { child, stdin, mut lines, .. } = talk;
    drop(stdin);
    let mut last = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        last = line;
    }
    let last: Value = serde_json::from_str(&last).unwrap();
    let done = finish(child).await;
    assert_eq!((done.code, &last["result"]["stopReason"]), (Some(0), &json!("end_turn")), "{last}");
    assert!(!world.project.join("made.txt").exists());
}

#[tokio::test]
async fn what_takes_too_long_is_cancelled_and_its_answer_says_so() {
    let world = world().await;
    for by_signal in [false, true] {
        let mut talk = Talk::open(&world, &["--grace", "0"]).await;
        talk.ask(&format!("{SLOW}{}]]", "word ".repeat(2000))).await;
        talk.until_it_speaks().await;
        let Talk { child, stdin, mut lines, .. } = talk;
        let stdin = by_signal.then_some(stdin);
        if by_signal {
            signal(&child, Signal::TERM);
        }
        let mut last = String::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            last = line;
        }
        drop(stdin);
        let last: Value = serde_json::from_str(&last).unwrap();
        let done = finish(child).await;
        assert_eq!((done.code, &last["result"]["stopReason"]), (Some(0), &json!("cancelled")), "{last}");
    }
}

#[tokio::test]
async fn an_editor_that_is_gone_is_not_worked_for() {
    let world = world().await;
    let mut talk = Talk::open(&world, &[]).await;
    talk.ask(&format!("{SLOW}{}]]", "word ".repeat(2000))).await;
    talk.until_it_speaks().await;
    let Talk { child, stdin, lines, .. } = talk;
    drop((stdin, lines));
    let done = finish(child).await;
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[tokio::test]
async fn a_build_is_waited_for() {
    let world = crate::agents::world(&[]).await;
    let mut talk = Talk::open(&world, &["--agent", "fake", "--mode", "full"]).await;
    talk.ask(
        "run! (while [ ! -e enough ]; do :; done; echo built > built.txt) > /dev/null 2>&1 &\nsay started",
    )
    .await;
    talk.until(|line| line["id"] == 3).await;
    let Talk { mut child, stdin, lines, .. } = talk;
    drop(stdin);
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    while let Some(line) = told.next_line().await.unwrap() {
        if line.contains("`fake` still runs sh; waiting for that") {
            world.write("enough", "");
        }
    }
    let done = finish(child).await;
    drop(lines);
    assert_eq!((done.code, world.project.join("built.txt").exists()), (Some(0), true), "{done:?}");
}
