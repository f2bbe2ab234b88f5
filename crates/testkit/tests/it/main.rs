//! The scripted model server, seen from the other end of a socket.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use serde_json::{Value, json};
use testkit::{Fault, ModelServer, Reply, Tokens, WireFormat};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends one request and reads until the server closes or, for a complete answer, until its last byte.
async fn ask(server: &ModelServer, path: &str, body: Value) -> String {
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    send(&mut socket, path, body).await;
    receive(&mut socket).await
}

async fn send(socket: &mut TcpStream, path: &str, body: Value) {
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: test\r\nX-Case: Kept\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await.unwrap();
}

async fn receive(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let complete = match length {
                Some(length) => body.len() == length.parse::<usize>().unwrap(),
                None => body.ends_with("0\r\n\r\n"),
            };
            if complete {
                return text.into_owned();
            }
        }
        match socket.read(&mut buffer).await.unwrap() {
            0 => return text.into_owned(),
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

/// The JSON of every `data:` line. Frames are HTTP chunks here, so chunk sizes are lines of their own.
fn frames(answer: &str) -> Vec<Value> {
    let data = answer.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn rich() -> Reply {
    Reply::new().think("Hm.").then_text("one two").call("read", json!({"path": "a"})).usage(Tokens {
        input: 10,
        output: 7,
        cache_read: 4,
        cache_write: 1,
        reasoning: 2,
    })
}

fn user(path: &str, stream: bool) -> Value {
    if path.contains("Content") {
        return json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]});
    }
    if path.ends_with("responses") {
        return json!({"model": "m", "stream": stream, "input": [{"role": "user", "content": "hi"}]});
    }
    json!({"model": "m", "stream": stream, "stream_options": {"include_usage": true},
        "messages": [{"role": "user", "content": "hi"}]})
}

#[tokio::test]
async fn openai_chat_streams_deltas_then_stop_then_usage() {
    let server = ModelServer::start(rich()).await.unwrap();
    let answer = ask(&server, "/v1/chat/completions", user("", true)).await;
    assert!(answer.contains("content-type: text/event-stream"), "{answer}");
    assert!(answer.contains("data: [DONE]\n\n"));
    let frames = frames(&answer);
    let content: String =
        frames.iter().filter_map(|frame| frame["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(content, "one two");
    let call = frames.iter().find(|frame| frame["choices"][0]["delta"]["tool_calls"].is_array()).unwrap();
    assert_eq!(call["choices"][0]["delta"]["tool_calls"][0]["id"], "call_1");
    let [.., stop, usage] = &frames[..] else { panic!("{frames:?}") };
    assert_eq!(stop["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["prompt_tokens_details"]["cached_tokens"], 4);
}

#[tokio::test]
async fn anthropic_counts_cached_tokens_apart_and_closes_every_block() {
    let server = ModelServer::start(rich()).await.unwrap();
    let frames = frames(&ask(&server, "/v1/messages", user("", true)).await);
    let kinds: Vec<_> = frames.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.first(), Some(&"message_start"));
    assert_eq!(kinds.last(), Some(&"message_stop"));
    assert_eq!(kinds.iter().filter(|kind| **kind == "content_block_stop").count(), 3);
    assert_eq!(frames[0]["message"]["usage"]["input_tokens"], 5);
    let stop = &frames[frames.len() - 2];
    assert_eq!(stop["delta"]["stop_reason"], "tool_use");
    assert_eq!(stop["usage"]["output_tokens"], 7);
}

#[tokio::test]
async fn responses_end_with_the_whole_response() {
    let server = ModelServer::start(rich()).await.unwrap();
    let frames = frames(&ask(&server, "/v1/responses", user("responses", true)).await);
    let numbers: Vec<_> = frames.iter().map(|frame| frame["sequence_number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..frames.len() as u64).collect::<Vec<_>>());
    let last = frames.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    let kinds: Vec<_> =
        last["response"]["output"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["reasoning", "message", "function_call"]);
}

#[tokio::test]
async fn gemini_is_asked_by_path_and_sends_calls_whole() {
    let server = ModelServer::start([rich(), rich()]).await.unwrap();
    let stream = "/v1beta/models/g:streamGenerateContent?alt=sse";
    let streamed = frames(&ask(&server, stream, user("Content", true)).await);
    assert_eq!(streamed.last().unwrap()["candidates"][0]["finishReason"], "STOP");
    let whole = ask(&server, "/v1beta/models/g:generateContent", user("Content", false)).await;
    let whole: Value = serde_json::from_str(whole.split_once("\r\n\r\n").unwrap().1).unwrap();
    let parts = &whole["candidates"][0]["content"]["parts"];
    assert_eq!(parts[1]["text"], "one two");
    assert_eq!(parts[2]["functionCall"]["args"]["path"], "a");
    assert_eq!(server.requests()[0].wire, Some(WireFormat::Gemini));
}

#[tokio::test]
async fn whole_answers_say_the_same_as_streams() {
    for (path, text) in [
        ("/v1/chat/completions", "/choices/0/message/content"),
        ("/v1/messages", "/content/1/text"),
        ("/v1/responses", "/output/1/content/0/text"),
    ] {
        let server = ModelServer::start(rich()).await.unwrap();
        let answer = ask(&server, path, user(path, false)).await;
        let whole: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(whole.pointer(text), Some(&json!("one two")), "{path}");
    }
}

#[tokio::test]
async fn one_connection_serves_many_requests_and_keeps_them() {
    let server = ModelServer::play("model: first").await;
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    for expected in ["first", "You said: hi"] {
        send(&mut socket, "/v1/chat/completions", user("", false)).await;
        assert!(receive(&mut socket).await.contains(expected));
    }
    assert_eq!(server.connections(), 1);
    let second = server.request(1).await;
    assert_eq!(second.header("x-case"), Some("Kept"));
    assert_eq!(second.json["messages"][0]["content"], "hi");
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn faults_do_what_they_say() {
    let server = ModelServer::play(
        "
        reply
          fault: 429 retry-after=7
        reply
          fault: close
        reply
          text: a b c d
          fault: cut after=3
        reply
          text: a
          fault: malformed after=1
        ",
    )
    .await;
    let mut answers = Vec::new();
    for _ in 0..4 {
        answers.push(ask(&server, "/v1/chat/completions", user("", true)).await);
    }
    assert!(answers[0].starts_with("HTTP/1.1 429 ") && answers[0].contains("retry-after: 7\r\n"));
    assert_eq!(answers[1], "");
    assert_eq!(frames(&answers[2]).len(), 3);
    assert!(!answers[2].ends_with("0\r\n\r\n"));
    let broken = answers[3].lines().filter_map(|line| line.strip_prefix("data: ")).nth(1).unwrap();
    assert!(serde_json::from_str::<Value>(broken).is_err());
}

#[tokio::test]
async fn it_notices_a_client_that_leaves() {
    for fault in [Fault::Never, Fault::Stall { after: 1 }, Fault::Flood { bytes: None }] {
        let server = ModelServer::start(Reply::text("a").fault(fault)).await.unwrap();
        let mut socket = TcpStream::connect(server.address()).await.unwrap();
        send(&mut socket, "/v1/chat/completions", user("", true)).await;
        server.request(0).await;
        drop(socket);
        server.aborted(0).await;
    }
}

#[tokio::test]
async fn without_a_script_it_obeys_the_prompt() {
    let server = ModelServer::obedient(0).await.unwrap();
    let mut body = json!({"messages": [{"role": "user", "content": "go [[think]] [[tool:read {\"a\":[[1]]}]]"}],
        "tools": [{"type": "function", "function": {"name": "read_file"}}]});
    let call = ask(&server, "/v1/chat/completions", body.clone()).await;
    assert!(call.contains(r#""name":"read_file","arguments":"{\"a\":[[1]]}""#), "{call}");
    body["messages"].as_array_mut().unwrap().push(json!({"role": "tool", "content": "42"}));
    let text = ask(&server, "/v1/chat/completions", body).await;
    assert!(text.contains("The tool answered: 42"), "{text}");
    let error =
        ask(&server, "/v1/messages", json!({"messages": [{"role": "user", "content": "[[error:529]]"}]}))
            .await;
    assert!(error.starts_with("HTTP/1.1 529 ") && error.contains("overloaded_error"));
}

#[tokio::test]
async fn a_strict_server_refuses_what_vendors_refuse() {
    let server = ModelServer::start(Reply::text("fine")).await.unwrap().strict();
    let odd = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}], "frobnicate": 1});
    let answer = ask(&server, "/v1/chat/completions", odd).await;
    assert!(
        answer.contains("400") && answer.contains("body.frobnicate: Extra inputs are not permitted"),
        "{answer}"
    );
    let call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let lonely = json!({"model": "m", "messages": [
        {"role": "user", "content": "hi"}, {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "user", "content": "well?"},
    ]});
    let answer = ask(&server, "/v1/chat/completions", lonely).await;
    assert!(answer.contains("must be followed by their results"), "{answer}");
    // No version header, and the vendor's own shape.
    let answer = ask(&server, "/v1/messages", user("", true)).await;
    assert!(answer.contains("\"type\":\"invalid_request_error\""), "{answer}");
    // What was refused took no reply.
    let good = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    assert!(ask(&server, "/v1/chat/completions", good).await.contains("fine"));
}
