//! A running server, and ways to knock at it.

use std::process::Stdio;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::Child;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use crate::world::{PATIENCE, World};

pub(super) struct Served {
    pub(super) child: Child,
    pub(super) token: String,
    /// `127.0.0.1:PORT`.
    pub(super) address: String,
}

pub(super) async fn serve(world: &World) -> Served {
    serve_at(world, "127.0.0.1:0").await
}

pub(super) async fn serve_at(world: &World, bind: &str) -> Served {
    serve_with(world, &["--bind", bind]).await
}

pub(super) async fn serve_with(world: &World, words: &[&str]) -> Served {
    let bind: &[&str] = if words.contains(&"--bind") { &[] } else { &["--bind", "127.0.0.1:0"] };
    let words = [&["serve", "--json"], bind, words].concat();
    let mut child = world.command(&words).stderr(Stdio::inherit()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap().unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    let url = told["url"].as_str().unwrap();
    let address = url.strip_prefix("http://").unwrap().strip_suffix('/').unwrap().to_owned();
    Served { child, token: told["token"].as_str().unwrap().to_owned(), address }
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

impl Served {
    /// The session as it is now.
    pub(super) async fn view(&self, session: &Value) -> Value {
        self.ask("GET", &format!("/api/sessions/{}", session.as_str().unwrap()), json!(null)).await.json()
    }

    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends exactly these lines, and the end of the connection's use.
    pub(super) async fn raw(&self, head: &[&str], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let length = format!("Content-Length: {}", body.len());
        let lines = [head, &["Connection: close", &length, "", body]].concat();
        stream.write_all(lines.join("\r\n").as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = if head.contains("chunked") { unchunked(body) } else { body.to_owned() };
        Answer { status, head: head.to_owned(), body }
    }

    /// As a script that has the token.
    pub(super) async fn ask(&self, method: &str, path: &str, body: Value) -> Answer {
        let line = format!("{method} {path} HTTP/1.1");
        let host = format!("Host: {}", self.address);
        let bearer = format!("Authorization: Bearer {}", self.token);
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut head = vec![line.as_str(), &host, &bearer];
        if !body.is_empty() {
            head.push("Content-Type: application/json");
        }
        self.raw(&head, &body).await
    }

    /// As our own page: trades the token for a cookie.
    pub(super) async fn log_in(&self) -> String {
        let (host, origin) = (format!("Host: {}", self.address), format!("Origin: {}", self.origin()));
        let head = ["POST /api/login HTTP/1.1", &host, &origin, "Content-Type: application/json"];
        let answer = self.raw(&head, &json!({"token": self.token}).to_string()).await;
        assert_eq!(answer.status, 204, "{answer:?}");
        let cookie = answer.header("set-cookie").unwrap();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Opens a socket with these headers.
    pub(super) async fn socket_with(&self, headers: &[(&str, &str)]) -> Result<Socket, u16> {
        let mut request = format!("ws://{}/api/socket", self.address).into_client_request().unwrap();
        for (name, value) in headers {
            let name: tungstenite::http::HeaderName = name.parse().unwrap();
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        match tokio_tungstenite::connect_async(request).await {
            Ok((stream, _)) => Ok(Socket { stream, next: 1, news: Vec::new() }),
            Err(tungstenite::Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    pub(super) async fn socket(&self) -> Socket {
        self.socket_with(&[("authorization", &format!("Bearer {}", self.token))]).await.unwrap()
    }
}

fn unchunked(body: &str) -> String {
    let (mut rest, mut out) = (body, String::new());
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if size == 0 {
            break;
        }
        out.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    out
}

/// A front end's end of a socket.
pub(super) struct Socket {
    pub(super) stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    next: u64,
    /// Notifications that came while something else was waited for.
    pub(super) news: Vec<Value>,
}

impl Socket {
    pub(super) async fn send(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.stream.send(Message::text(message.to_string())).await.unwrap();
        id
    }

    /// The next message; none when the socket was closed.
    pub(super) async fn next(&mut self) -> Option<Value> {
        loop {
            match timeout(PATIENCE, self.stream.next()).await.expect("the server says nothing")?.ok()? {
                Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    pub(super) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().await.expect("the socket was closed");
            match message.get("id") {
                Some(found) if found == id => return message,
                Some(_) => {}
                None => self.news.push(message),
            }
        }
    }

    pub(super) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        let answer = self.answer(id).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    pub(super) async fn submit(&mut self, op: Value) -> Value {
        self.call("submit", json!({"op": op})).await
    }

    pub(super) async fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.answer(id).await["error"].clone()
    }

    pub(super) async fn notification(&mut self) -> Value {
        if !self.news.is_empty() {
            return self.news.remove(0);
        }
        loop {
            let message = self.next().await.expect("the socket was closed");
            if message.get("id").is_none() {
                return message;
            }
        }
    }

    /// The events of a subscription until one of this type has come.
    pub(super) async fn events_until(&mut self, subscription: &Value, kind: &str) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let news = self.notification().await;
            if news["method"] != "events" || news["params"]["subscription"] != *subscription {
                continue;
            }
            events.extend(news["params"]["events"].as_array().unwrap().iter().cloned());
            if events.iter().any(|event| event["type"] == kind) {
                return events;
            }
        }
    }

    /// Makes a session in the server's folder.
    pub(super) async fn session(&mut self, world: &World) -> Value {
        self.submit(json!({"type": "create_session", "cwd": world.project, "ephemeral": false})).await["session"].clone()
    }
}

pub(super) fn start(session: &Value, text: &str, key: Option<&str>) -> Value {
    json!({"type": "start_turn", "session": session, "prompt": [{"type": "text", "text": text}], "key": key, "attended": true})
}
