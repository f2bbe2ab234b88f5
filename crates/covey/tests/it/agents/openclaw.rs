//! OpenClaw, played by a gateway on a real socket and by a script.

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use futures::{SinkExt, StreamExt};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;

use super::{result, told};
use crate::world::{Done, World, finish, signal};

type Asked = Arc<Mutex<Vec<Value>>>;

/// A gateway of the newest protocol that serves others too, and one run of ours.
async fn gateway() -> (String, Asked) {
    gateway_of(4).await
}

async fn gateway_of(protocol: u64) -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let asked: Asked = Arc::default();
    let hears = asked.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let hears = hears.clone();
            tokio::spawn(async move {
                let mut socket = tokio_tungstenite::accept_async(socket).await.unwrap();
                let challenge =
                    json!({"type": "event", "event": "connect.challenge", "payload": {"nonce": "n"}});
                socket.send(Message::text(challenge.to_string())).await.unwrap();
                while let Some(Ok(Message::Text(text))) = socket.next().await {
                    let frame: Value = serde_json::from_str(text.as_str()).unwrap();
                    hears.lock().unwrap().push(frame.clone());
                    for answer in answers(&frame, protocol) {
                        socket.send(Message::text(answer.to_string())).await.unwrap();
                    }
                }
            });
        }
    });
    (url, asked)
}

fn answers(frame: &Value, protocol: u64) -> Vec<Value> {
    let ok = |payload: Value| json!({"type": "res", "id": frame["id"], "ok": true, "payload": payload});
    let event = |run: &str, stream: &str, data: Value| json!({"type": "event", "event": "agent", "payload": {"runId": run, "stream": stream, "data": data}});
    match frame["method"].as_str().unwrap() {
        "connect" if frame["params"]["auth"]["token"] != "claw-token" => {
            vec![json!({"type": "res", "id": frame["id"], "ok": false, "error": {"message": "unauthorized"}})]
        }
        "connect" if frame["params"]["maxProtocol"].as_u64().unwrap() < protocol => {
            vec![
                json!({"type": "res", "id": frame["id"], "ok": false, "error": {"message": "protocol mismatch"}}),
            ]
        }
        "connect" => vec![ok(json!({"protocol": protocol}))],
        "agent" => {
            let mut frames = vec![
                event("theirs", "assistant", json!({"delta": "not for you"})),
                ok(json!({"status": "accepted", "runId": "mine"})),
                event("theirs", "assistant", json!({"delta": "nor this"})),
                event("mine", "thinking", json!({"delta": "hm"})),
                event(
                    "mine",
                    "tool",
                    json!({"phase": "start", "name": "exec", "toolCallId": "c1", "args": {"command": "ls"}}),
                ),
                event(
                    "mine",
                    "tool",
                    json!({"phase": "result", "name": "exec", "toolCallId": "c1", "result": {"content": [{"type": "text", "text": "a.txt"}]}}),
                ),
                event("mine", "assistant", json!({"delta": "There is "})),
                event("mine", "assistant", json!({"delta": "a.txt"})),
            ];
            if frame["params"]["message"].as_str().unwrap().contains("look") {
                let meta = json!({"agentMeta": {"usage": {"input": 9, "output": 4}}});
                let whole = json!({"payloads": [{"text": "There is a.txt"}], "meta": meta});
                frames.push(ok(json!({"status": "ok", "runId": "mine", "result": whole})));
            }
            frames
        }
        _ => vec![ok(json!({}))],
    }
}

fn configure(world: &World, url: &str, token: &str) {
    world.configure(&format!(
        "[agents.openclaw]\nurl = {url:?}\nenv = {{ OPENCLAW_GATEWAY_TOKEN = {token:?} }}\n"
    ));
}

async fn run(world: &World, arguments: &[&str]) -> Done {
    world.covey(&[&["run", "--json", "--agent", "openclaw"], arguments].concat()).await
}

#[tokio::test]
async fn a_gateways_run_is_told_once_and_only_ours() {
    let world = World::bare("").await;
    let (url, asked) = gateway().await;
    configure(&world, &url, "claw-token");
    let done = run(&world, &["--mode", "auto", "look"]).await;
    let expected = "thinks: hm\ncalls exec: ls\n  completed a.txt\nsays: There is a.txt\nends: done";
    assert_eq!(told(&done), expected, "{done:?}");
    assert_eq!(result(&done)["usage"]["input"], 9);
    run(&world, &["--mode", "auto", "--continue", "look again"]).await;
    let asked = asked.lock().unwrap();
    let runs: Vec<&Value> =
        asked.iter().filter(|frame| frame["method"] == "agent").map(|frame| &frame["params"]).collect();
    assert_eq!(runs[0]["sessionKey"], runs[1]["sessionKey"]);
    assert_ne!(runs[0]["idempotencyKey"], runs[1]["idempotencyKey"]);
    assert_eq!(runs[1]["message"], "look again", "history is not sent twice");
    let hello = &asked[0]["params"];
    assert_eq!((hello["minProtocol"].as_u64(), hello["maxProtocol"].as_u64()), (Some(3), Some(4)));
    let made = asked.iter().find(|frame| frame["method"] == "sessions.create").unwrap();
    assert_eq!(made["params"], json!({"key": runs[0]["sessionKey"], "cwd": world.project}));
}

/// It can not be told where to work.
#[tokio::test]
async fn an_older_gateway_works_in_a_folder_of_its_own_and_that_is_told() {
    let world = World::bare("").await;
    let (url, asked) = gateway_of(3).await;
    configure(&world, &url, "claw-token");
    let done = run(&world, &["--mode", "auto", "look"]).await;
    assert!(done.out.contains("works in its own folder, not in this project"), "{done:?}");
    assert!(told(&done).ends_with("says: There is a.txt\nends: done"), "{done:?}");
    assert!(asked.lock().unwrap().iter().all(|frame| frame["method"] != "sessions.create"));
}

#[tokio::test]
async fn a_cancelled_run_is_stopped_and_no_other() {
    for (protocol, word) in [(3, "agent.stop"), (4, "chat.abort")] {
        stops(protocol, word).await;
    }
}

async fn stops(protocol: u64, word: &str) {
    let world = World::bare("").await;
    let (url, asked) = gateway_of(protocol).await;
    configure(&world, &url, "claw-token");
    let mut child =
        world.command(&["run", "--json", "--agent", "openclaw", "--mode", "auto", "wait"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("\"agent_message\"") {
            signal(&child, Signal::INT);
        }
    }
    assert_eq!(finish(child).await.code, Some(130));
    let asked = asked.lock().unwrap();
    let stop = asked.iter().find(|frame| frame["method"] == word).unwrap();
    assert_eq!(stop["params"]["runId"], "mine");
}

#[tokio::test]
async fn a_token_that_is_not_taken_is_told() {
    let world = World::bare("").await;
    let (url, _) = gateway().await;
    configure(&world, &url, "wrong");
    let done = run(&world, &["--mode", "auto", "look"]).await;
    assert_eq!((done.code, done.out.contains("unauthorized")), (Some(5), true), "{done:?}");
    assert!(done.out.contains("set OPENCLAW_GATEWAY_TOKEN"), "{done:?}");
}

/// In a mode that asks, the gateway is not used: it would act outside the walls.
#[tokio::test]
async fn without_a_gateway_its_program_does_it_inside_the_walls() {
    let world = World::bare("").await;
    let (url, asked) = gateway().await;
    let folder = world.project.parent().unwrap().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("openclaw");
    // An older one, which does not know the word for one run in a folder.
    let script = "#!/bin/sh\nif [ \"$2\" = exec ]; then echo 'error: too many arguments for agent' >&2; exit 1; fi\necho starting >&2\ntouch written.txt 2>/dev/null\ncat <<E\n{\n  \"payloads\": [{\"text\": \"Hello\"}],\n  \"meta\": {\"agentMeta\": {\"usage\": {\"input\": 5, \"output\": 1}}}\n}\nE\n";
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.configure(&format!("[agents.openclaw]\nurl = {url:?}\ncommand = {program:?}\n"));
    let done = run(&world, &["--mode", "plan", "look"]).await;
    assert!(told(&done).contains("says: Hello\nends: done"), "{done:?}");
    assert!(!world.project.join("written.txt").exists());
    assert_eq!(result(&done)["usage"]["input"], 5);
    assert!(asked.lock().unwrap().is_empty());
}

/// An agent that can not make its conversation smaller begins a new one, and is told what happened.
#[tokio::test]
async fn compact_means_a_new_session_that_knows_the_old_one() {
    let world = World::bare("").await;
    let (url, asked) = gateway().await;
    configure(&world, &url, "claw-token");
    run(&world, &["--mode", "auto", "look"]).await;
    let done = run(&world, &["--mode", "auto", "--continue", "/compact"]).await;
    assert!(told(&done).ends_with("told what happened in short\nends: done"), "{done:?}");
    run(&world, &["--mode", "auto", "--continue", "look again"]).await;
    let asked = asked.lock().unwrap();
    let runs: Vec<&Value> =
        asked.iter().filter(|frame| frame["method"] == "agent").map(|frame| &frame["params"]).collect();
    assert_eq!(runs.len(), 2, "the command itself goes to nobody");
    assert_ne!(runs[0]["sessionKey"], runs[1]["sessionKey"]);
    let message = runs[1]["message"].as_str().unwrap();
    assert!(message.contains("<conversation>") && message.contains("There is a.txt"), "{message}");
}
