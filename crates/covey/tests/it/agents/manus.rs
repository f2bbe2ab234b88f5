//! Manus, played by a task API on a real socket.

use std::sync::{Arc, Mutex};

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

use super::{result, told};
use crate::world::{Done, World, finish, signal};

/// What was asked, in order: method, path, body.
type Asked = Arc<Mutex<Vec<(String, String, Value)>>>;

/// Answers each request in turn; the last answer stands for all that follow.
async fn tasks(answers: Vec<(u16, Value)>) -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked: Asked = Arc::default();
    let hears = asked.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let (hears, answers) = (hears.clone(), answers.clone());
            tokio::spawn(async move {
                let (reader, mut writer) = socket.into_split();
                let mut reader = BufReader::new(reader);
                loop {
                    let (mut line, mut length, mut key) = (String::new(), 0, false);
                    if reader.read_line(&mut line).await.unwrap_or(0) == 0 {
                        return;
                    }
                    loop {
                        let mut header = String::new();
                        reader.read_line(&mut header).await.unwrap();
                        let header = header.trim().to_lowercase();
                        if let Some(value) = header.strip_prefix("content-length:") {
                            length = value.trim().parse().unwrap();
                        }
                        key |= header == "api_key: manus-key";
                        if header.is_empty() {
                            break;
                        }
                    }
                    let mut body = vec![0; length];
                    reader.read_exact(&mut body).await.unwrap();
                    let mut words = line.split(' ').map(str::to_owned);
                    let (method, path) = (words.next().unwrap(), words.next().unwrap());
                    let body = serde_json::from_slice(&body).unwrap_or_default();
                    let at = {
                        let mut asked = hears.lock().unwrap();
                        asked.push((method, path, body));
                        asked.len() - 1
                    };
                    let (status, answer) = match key {
                        true => answers[at.min(answers.len() - 1)].clone(),
                        false => (401, json!({"error": {"message": "no key"}})),
                    };
                    let answer = answer.to_string();
                    let head = format!(
                        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                        answer.len()
                    );
                    writer.write_all(format!("{head}{answer}").as_bytes()).await.unwrap();
                }
            });
        }
    });
    (url, asked)
}

fn task(status: &str, text: &str) -> (u16, Value) {
    let said = json!([{"type": "message", "role": "assistant", "id": "a", "content": [{"type": "output_text", "text": text}]}]);
    let output = if text.is_empty() { json!([]) } else { said };
    (
        200,
        json!({"id": "task-1", "status": status, "output": output, "usage": {"input_tokens": 7, "output_tokens": 3}}),
    )
}

fn configure(world: &World, url: &str, key: &str) {
    world.configure(&format!("[agents.manus]\nurl = {url:?}\nenv = {{ MANUS_API_KEY = {key:?} }}\n"));
}

async fn run(world: &World, arguments: &[&str]) -> Done {
    world.covey(&[&["run", "--json", "--agent", "manus"], arguments].concat()).await
}

#[tokio::test]
async fn a_task_is_made_looked_at_and_gone_on_with() {
    let world = World::bare("").await;
    let answers =
        vec![task("pending", ""), task("running", "Looking"), task("completed", "Looking at it. Done.")];
    let (url, asked) = tasks(answers).await;
    configure(&world, &url, "manus-key");
    let done = run(&world, &["What is it?"]).await;
    assert_eq!(told(&done), "says: Looking at it. Done.\nends: done", "{done:?}");
    assert_eq!(result(&done)["usage"]["input"], 7);
    run(&world, &["--continue", "And now?"]).await;
    let asked = asked.lock().unwrap();
    let made: Vec<&Value> =
        asked.iter().filter(|(method, ..)| method == "POST").map(|(.., body)| body).collect();
    assert_eq!((made.len(), made[0]["task_mode"].as_str()), (2, Some("agent")));
    assert_eq!(made[1]["previous_response_id"], "task-1");
    let text = made[1].pointer("/input/0/content/0/text").unwrap().as_str().unwrap();
    assert_eq!(text, "And now?", "history is not sent twice");
    assert!(asked.iter().any(|(method, path, _)| method == "GET" && path == "/v1/responses/task-1"));
}

#[tokio::test]
async fn a_cancelled_task_is_called_off() {
    let world = World::bare("").await;
    let (url, asked) = tasks(vec![task("running", "Looking")]).await;
    configure(&world, &url, "manus-key");
    let mut child = world.command(&["run", "--json", "--agent", "manus", "Take your time"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("\"agent_message\"") {
            signal(&child, Signal::INT);
        }
    }
    assert_eq!(finish(child).await.code, Some(130));
    assert!(
        asked
            .lock()
            .unwrap()
            .iter()
            .any(|(method, path, _)| method == "DELETE" && path == "/v1/responses/task-1")
    );
}

#[tokio::test]
async fn what_is_wrong_is_told_with_what_to_do() {
    let world = World::bare("").await;
    let done = run(&world, &["hi"]).await;
    assert_eq!(done.code, Some(5), "{done:?}");
    assert!(done.err.contains("hint: export MANUS_API_KEY"), "{done:?}");
    let (url, _) =
        tasks(vec![(200, json!({"id": "t", "status": "failed", "error": {"message": "no credits"}}))]).await;
    configure(&world, &url, "manus-key");
    let done = run(&world, &["hi"]).await;
    assert_eq!((done.code, done.out.contains("no credits")), (Some(1), true), "{done:?}");
    configure(&world, &url, "another-key");
    let done = run(&world, &["hi"]).await;
    assert_eq!((done.code, done.out.contains("does not take the key")), (Some(5), true), "{done:?}");
}
