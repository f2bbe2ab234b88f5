//! An editor that runs a session's tools, on the other end of a real socket.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use client::{Address, Client, Editor, Remote, serve_editor};
use protocol::{
    HostAnswer, HostCall, HostDiagnostic, HostExpect, HostFailure, HostKind, HostOffer, HostStamp, SessionId,
    TerminalOffer,
};
use serde_json::{Value, json};

use super::support::*;
use crate::world::World;

/// Buffers that were never saved, and a terminal that only pretends.
#[derive(Default)]
struct Buffers {
    texts: Mutex<HashMap<String, (String, u64)>>,
    /// How often each kind of thing was done.
    done: Mutex<Vec<String>>,
    printed: AtomicUsize,
}

impl Buffers {
    fn with(path: &str, text: &str) -> Arc<Self> {
        let buffers = Self::default();
        buffers.texts.lock().unwrap().insert(path.to_owned(), (text.to_owned(), 1));
        Arc::new(buffers)
    }

    fn done(&self) -> Vec<String> {
        self.done.lock().unwrap().clone()
    }
}

fn failed(why: HostFailure) -> HostAnswer {
    HostAnswer::Failed { why, message: "no".to_owned() }
}

fn stamp(text: &str, version: u64) -> HostStamp {
    HostStamp { len: text.len() as u64, modified_ms: Some(version) }
}

#[async_trait]
impl Editor for Buffers {
    async fn call(&self, call: HostCall) -> HostAnswer {
        let mut texts = self.texts.lock().unwrap();
        let told = serde_json::to_value(&call).unwrap();
        self.done.lock().unwrap().push(told["call"].as_str().unwrap().to_owned());
        match call {
            HostCall::Read { path, offset, limit } => match texts.get(&path) {
                Some((text, version)) => {
                    let bytes: Vec<u8> = text.bytes().skip(offset as usize).take(limit as usize).collect();
                    HostAnswer::Read { bytes: STANDARD.encode(bytes), stamp: stamp(text, *version) }
                }
                None => failed(HostFailure::NotFound),
            },
            HostCall::Stat { path } => match texts.get(&path) {
                Some((text, version)) => {
                    HostAnswer::Stat { kind: HostKind::File, stamp: stamp(text, *version) }
                }
                None => failed(HostFailure::NotFound),
            },
            HostCall::Write { path, bytes, expect } => {
                let text = String::from_utf8(STANDARD.decode(bytes).unwrap()).unwrap();
                let known = texts.get(&path).map(|(text, version)| stamp(text, *version));
                let fits = match expect {
                    HostExpect::Anything => true,
                    HostExpect::Absent => known.is_none(),
                    HostExpect::Unchanged(seen) => known == Some(seen),
                };
                if !fits {
                    return failed(HostFailure::Stale);
                }
                let version = known.and_then(|known| known.modified_ms).unwrap_or(0) + 1;
                let answer = HostAnswer::Written { stamp: stamp(&text, version) };
                texts.insert(path, (text, version));
                answer
            }
            HostCall::Start(task) => {
                assert_eq!(task.shell.as_deref(), Some("make all"));
                HostAnswer::Started { terminal: "term-1".to_owned() }
            }
            HostCall::Output { .. } => match self.printed.fetch_add(1, Ordering::SeqCst) {
                0 => HostAnswer::Output { bytes: STANDARD.encode("built ") },
                1 => HostAnswer::Output { bytes: STANDARD.encode("everything\n") },
                _ => HostAnswer::Ended { code: Some(3), signal: None },
            },
            HostCall::Diagnostics { .. } => HostAnswer::Diagnostics {
                found: vec![HostDiagnostic {
                    line: 1,
                    severity: 1,
                    message: "`the` is not a type".to_owned(),
                    source: Some("rustc".to_owned()),
                }],
            },
            HostCall::List { .. } => HostAnswer::List { entries: vec![], total: 0 },
            _ => HostAnswer::Done,
        }
    }
}

fn offer() -> HostOffer {
    HostOffer {
        host: "window-1".to_owned(),
        name: "Ed".to_owned(),
        files: true,
        terminal: Some(TerminalOffer { confined: true }),
        diagnostics: true,
    }
}

async fn remote(served: &Served) -> Arc<dyn Client> {
    let address = Address::parse(&format!("{}/", served.origin()), Some(&served.token)).unwrap();
    Arc::new(Remote::connect(address).await.unwrap())
}

/// What the calls answered, in order.
fn results(events: &[Value]) -> Vec<String> {
    let text = |event: &Value| {
        let parts = event["content"].as_array()?;
        Some(parts.iter().filter_map(|part| part["content"]["text"].as_str()).collect::<String>())
    };
    events
        .iter()
        .filter(|event| event["type"] == "tool_call_update" && event["status"] == "completed")
        .filter_map(text)
        .collect()
}

#[tokio::test]
async fn an_editor_does_what_tools_want_done() {
    let script = "reply\n  call: read {\"path\": \"a.txt\"}\nreply\n  call: edit {\"path\": \"a.txt\", \"old\": \"teh\", \"new\": \"the\"}\n\
                  reply\n  call: shell {\"command\": \"make all\"}\nmodel: Done.";
    let world = World::new(script).await;
    world.write("a.txt", "what the disk says\n");
    let served = serve(&world).await;
    let mut socket = served.socket().await;
    let made = json!({"type": "create_session", "cwd": world.project, "mode": "full", "ephemeral": false});
    let session = socket.submit(made).await["session"].clone();
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;

    let path = world.project.join("a.txt").to_str().unwrap().to_owned();
    let buffers = Buffers::with(&path, "teh buffer\n");
    let (accepted, told) = tokio::sync::oneshot::channel();
    let id: SessionId = session.as_str().unwrap().parse().unwrap();
    let serving = tokio::spawn(serve_editor(remote(&served).await, id, offer(), buffers.clone(), accepted));
    let accepted = told.await.unwrap();
    assert!(accepted.files && accepted.terminal && accepted.diagnostics, "{accepted:?}");
    assert_eq!(accepted.roots, [world.project.to_str().unwrap()]);
    // One at a time.
    let second = json!({"topic": "host", "session": session, "offer": {"host": "window-2", "name": "Other"}});
    let refused = socket.refused("subscribe", second).await;
    assert!(refused["message"].as_str().unwrap().contains("`Ed` runs the tools"), "{refused}");

    socket.submit(start(&session, "go", None)).await;
    let events = socket.events_until(&watch["subscription"], "turn_end").await;
    let results = results(&events);
    assert!(results[0].contains("teh buffer"), "{results:?}");
    assert!(results[1].contains("a.txt:1: error: `the` is not a type (rustc)"), "{results:?}");
    assert!(results[2].contains("built everything") && results[2].contains('3'), "{results:?}");
    assert_eq!(buffers.texts.lock().unwrap()[&path].0, "the buffer\n");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "what the disk says\n");
    assert_eq!(buffers.done().iter().filter(|call| *call == "write").count(), 1);
    assert!(events.iter().any(|event| event["type"] == "notice"
        && event["text"].as_str().unwrap().contains("files, programs, diagnostics in Ed")));
    serving.abort();
}

#[tokio::test]
async fn a_lost_connection_costs_nothing_and_nothing_is_done_twice() {
    let script = "reply\n  call: write {\"path\": \"new.txt\", \"content\": \"once\"}\nmodel: Done.";
    let world = World::new(script).await;
    let served = serve(&world).await;
    let mut socket = served.socket().await;
    let made = json!({"type": "create_session", "cwd": world.project, "mode": "full", "ephemeral": false});
    let session = socket.submit(made).await["session"].clone();
    let watch = socket.call("subscribe", json!({"topic": "session", "session": session})).await;
    let topic = json!({"topic": "host", "session": session, "offer": {"host": "window-1", "name": "Ed", "files": true}});

    let mut editor = served.socket().await;
    editor.call("subscribe", topic.clone()).await;
    socket.submit(start(&session, "go", None)).await;
    let buffers = Buffers::default();
    let mut writes = Vec::new();
    // Does everything but the write, whose answer is lost with the socket after it was done.
    let lost = loop {
        let news = editor.notification().await;
        let request = news["params"]["request"].clone();
        let answer = buffers.call(serde_json::from_value(request.clone()).unwrap()).await;
        if request["call"] == "write" {
            writes.push(request["request"].clone());
            break json!({"session": session, "request": request["request"], "answer": answer});
        }
        editor
            .call("answer_host", json!({"session": session, "request": request["request"], "answer": answer}))
            .await;
    };
    drop(editor);
    let mut editor = served.socket().await;
    editor.call("subscribe", topic).await;
    let again = editor.notification().await["params"]["request"].clone();
    assert_eq!((&again["call"], &again["request"]), (&json!("write"), &lost["request"]));
    // It was done, so it is only answered; twice, for good measure.
    editor.call("answer_host", lost.clone()).await;
    editor.call("answer_host", lost).await;
    let events = socket.events_until(&watch["subscription"], "turn_end").await;
    let end = events.iter().find(|event| event["type"] == "turn_end").unwrap();
    assert_eq!(end["stop"], "done");
    assert_eq!(buffers.done().iter().filter(|call| *call == "write").count(), 1);
    assert!(!world.project.join("new.txt").exists());
}
