//! The port that the browser comes back to. Any page and any program on this machine can talk to it, so it believes
//! nothing that does not carry the state, and nothing that it refuses ends the login.

use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use net::Url;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::endpoint::plain;
use super::{Redirect, Timing};
use crate::{AuthError, Secret};

/// More than a browser sends for an address with a code in it.
const LARGEST_HEAD: usize = 16 << 10;

/// Browsers open a few connections on suspicion. More are somebody else's, and wait.
const CONNECTIONS: usize = 32;

/// What the browser is told. It can run nothing, load nothing, and pass nothing on.
const HEADERS: &str = "content-type: text/html; charset=utf-8\r\ncache-control: no-store\r\n\
    content-security-policy: default-src 'none'\r\nreferrer-policy: no-referrer\r\n\
    x-content-type-options: nosniff\r\nconnection: close\r\n";

pub(super) struct Loopback {
    listener: TcpListener,
    port: u16,
}

/// What an answer must carry to be believed.
#[derive(Debug, Clone)]
pub(super) struct Callback {
    pub(super) path: String,
    /// None where the path holds the state.
    pub(super) state: Option<String>,
}

/// Why a request is not the answer that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Method,
    Host,
    Path,
    State,
    NoCode,
    Malformed,
    TooLarge,
    Used,
}

impl Refusal {
    fn status(self) -> &'static str {
        match self {
            Self::Method => "405 Method Not Allowed",
            Self::Host => "421 Misdirected Request",
            Self::Path => "404 Not Found",
            Self::State => "403 Forbidden",
            Self::NoCode | Self::Malformed => "400 Bad Request",
            Self::TooLarge => "431 Request Header Fields Too Large",
            Self::Used => "410 Gone",
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Method => "only GET is answered here",
            Self::Host => "this is not the address that you asked for",
            Self::Path => "there is nothing at this address",
            Self::State => "this answer belongs to another login",
            Self::NoCode => "there is no code in this answer",
            Self::Malformed => "this is no request that can be answered",
            Self::TooLarge => "this request is too large",
            Self::Used => "this login has had its answer",
        }
    }
}

impl Loopback {
    pub(super) async fn bind(redirect: &Redirect) -> Result<Self, AuthError> {
        let no_listener = |error: std::io::Error| AuthError::NoListener { what: error.to_string() };
        let listener = match TcpListener::bind((Ipv4Addr::LOCALHOST, redirect.port)).await {
            Err(error) if error.kind() == ErrorKind::AddrInUse && redirect.exact_port => {
                return Err(AuthError::PortBusy { port: redirect.port });
            }
            Err(error) if error.kind() == ErrorKind::AddrInUse && redirect.port != 0 => {
                TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await
            }
            bound => bound,
        };
        let listener = listener.map_err(no_listener)?;
        let port = listener.local_addr().map_err(no_listener)?.port();
        Ok(Self { listener, port })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The code of the first answer that is to be believed. The port is closed when this returns.
    pub(super) async fn code(self, expected: &Callback, timing: &Timing) -> Result<Secret, AuthError> {
        let desk =
            Arc::new(Desk { port: self.port, expected: expected.clone(), taken: AtomicBool::new(false) });
        let patience = timing.callback;
        // Dropped with this, and every connection with it.
        let mut connections: JoinSet<Option<Result<Secret, AuthError>>> = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                Some(served) = connections.join_next() => {
                    if let Ok(Some(answer)) = served {
                        return answer;
                    }
                }
                accepted = self.listener.accept(), if connections.len() < CONNECTIONS => {
                    let Ok((socket, _)) = accepted else {
                        // Out of file handles, most likely. Others will be closed.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    };
                    let desk = desk.clone();
                    connections.spawn(async move { desk.serve(socket, patience).await });
                }
            }
        }
    }
}

/// What all connections share.
struct Desk {
    port: u16,
    expected: Callback,
    /// The first answer that is to be believed has come.
    taken: AtomicBool,
}

impl Desk {
    /// Answers one request; returns what it says if it is the one that is waited for.
    async fn serve(&self, mut socket: TcpStream, patience: Duration) -> Option<Result<Secret, AuthError>> {
        // Whoever takes too long is not told so; it would not listen either.
        let head = tokio::time::timeout(patience, read_head(&mut socket)).await.ok()?;
        let found = match head {
            Ok(head) => request(&head, self.port, &self.expected),
            Err(refusal) => Err(refusal?),
        };
        let found = found.and_then(|answer| {
            if self.taken.swap(true, Ordering::Relaxed) { Err(Refusal::Used) } else { Ok(answer) }
        });
        let (status, title, text) = match &found {
            Err(refusal) => (refusal.status(), "Not this one", refusal.text()),
            Ok(Err(_)) => ("200 OK", "Not logged in", "the login was refused; you can close this page"),
            Ok(Ok(_)) => {
                ("200 OK", "Received", "go back to where you began the login; you can close this page")
            }
        };
        let page = format!("<!doctype html><title>{title}</title><h1>{title}</h1><p>{text}</p>\n");
        let answer = format!("HTTP/1.1 {status}\r\n{HEADERS}content-length: {}\r\n\r\n{page}", page.len());
        let write = async {
            // The browser may be gone already. That is its affair.
            let _ = socket.write_all(answer.as_bytes()).await;
            let _ = socket.shutdown().await;
        };
        let _ = tokio::time::timeout(patience, write).await;
        found.ok()
    }
}

/// Everything up to the empty line. `None` as error when the other side is gone.
async fn read_head(socket: &mut TcpStream) -> Result<String, Option<Refusal>> {
    let mut bytes = Vec::with_capacity(2048);
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            bytes.truncate(end);
            return String::from_utf8(bytes).map_err(|_| Some(Refusal::Malformed));
        }
        if bytes.len() > LARGEST_HEAD {
            return Err(Some(Refusal::TooLarge));
        }
        if !matches!(socket.read_buf(&mut bytes).await, Ok(read) if read > 0) {
            return Err(None);
        }
    }
}

/// What a request says, if it is one that may say something.
fn request(head: &str, port: u16, expected: &Callback) -> Result<Result<Secret, AuthError>, Refusal> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Refusal::Malformed);
    };
    if !version.starts_with("HTTP/1.") {
        return Err(Refusal::Malformed);
    }
    if method != "GET" {
        return Err(Refusal::Method);
    }
    // A page elsewhere whose name leads to this machine has its own name here.
    let mut hosts =
        lines.filter_map(|line| line.split_once(':')).filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host = hosts.next().map(|(_, host)| host.trim());
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")];
    if hosts.next().is_some()
        || !host.is_some_and(|host| ours.iter().any(|name| name.eq_ignore_ascii_case(host)))
    {
        return Err(Refusal::Host);
    }
    if !target.starts_with('/') {
        return Err(Refusal::Path);
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    answer(path, query, expected)
}

/// What an answer says: a code, or that there is none.
pub(super) fn answer(
    path: &str,
    query: &str,
    expected: &Callback,
) -> Result<Result<Secret, AuthError>, Refusal> {
    if path != expected.path {
        return Err(Refusal::Path);
    }
    let mut url: Url = "http://localhost/".parse().map_err(|_| Refusal::Malformed)?;
    url.set_query(Some(query));
    let values = |name: &str| {
        let mut found = url.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        match (found.next(), found.next()) {
            (value, None) => Ok(value),
            // Of two, which one did the vendor mean?
            _ => Err(Refusal::Malformed),
        }
    };
    let state = values("state")?;
    if expected.state.is_some() && state != expected.state {
        return Err(Refusal::State);
    }
    match (values("error")?, values("code")?) {
        (Some(error), _) if error == "access_denied" => Ok(Err(AuthError::Denied)),
        (Some(error), _) => {
            Ok(Err(AuthError::Refused { who: "the provider".to_owned(), code: plain(&error) }))
        }
        (None, Some(code)) if !code.is_empty() && code.len() <= 4096 => Ok(Ok(Secret::new(code))),
        (None, _) => Err(Refusal::NoCode),
    }
}
