//! Who gets in, and who gets nothing.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::support::*;
use crate::world::{PATIENCE, World, signal};

#[tokio::test]
async fn without_the_token_nobody_gets_anything() {
    let world = World::new("model: hello").await;
    let served = serve(&world).await;
    let host = format!("Host: {}", served.address);
    for path in [
        "/api/health",
        "/api/sessions",
        "/api/openapi.json",
        "/api/nothing",
        "/rag/query",
        "/v1/chat/completions",
    ] {
        let line = format!("GET {path} HTTP/1.1");
        for extra in
            ["X-None: 1", "Authorization: Bearer 0000", "Authorization: Basic YTpi", "Cookie: covey_1=1"]
        {
            let answer = served.raw(&[&line, &host, extra], "").await;
            assert_eq!(answer.status, 401, "{path} {extra}: {answer:?}");
            assert!(!answer.body.contains("version"), "{answer:?}");
        }
    }
    assert_eq!(served.socket_with(&[]).await.err(), Some(401));
    // In the address, where logs would keep it, the token is worth nothing.
    let line = format!("GET /api/health?token={} HTTP/1.1", served.token);
    assert_eq!(served.raw(&[&line, &host], "").await.status, 401);
}

#[tokio::test]
async fn a_page_elsewhere_and_a_rebound_name_get_nothing() {
    let world = World::new("model: hello").await;
    let served = serve(&world).await;
    let cookie = served.log_in().await;
    let cookie_header = format!("Cookie: {cookie}");
    let bearer = format!("Authorization: Bearer {}", served.token);
    let host = format!("Host: {}", served.address);
    let port = served.address.rsplit(':').next().unwrap().to_owned();

    // A name that was made to point here, with everything else right.
    for name in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        &format!("localhost.evil.example:{port}"),
        "",
    ] {
        let name = format!("Host: {name}");
        for credentials in [&cookie_header, &bearer] {
            let answer = served.raw(&["GET /api/sessions HTTP/1.1", &name, credentials], "").await;
            assert!([400, 421].contains(&answer.status), "{name}: {answer:?}");
            assert_eq!(answer.body, "");
        }
    }
    let two = served.raw(&["GET /api/health HTTP/1.1", &host, "Host: evil.example", &bearer], "").await;
    assert_eq!(two.status, 400);
    assert_eq!(served.raw(&["GET /api/health HTTP/1.1", &bearer], "").await.status, 400);

    // A page on another origin, with the cookie that the browser adds.
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "https://evil.example", "file://"] {
        let origin_header = format!("Origin: {origin}");
        for line in [
            "GET /api/sessions HTTP/1.1",
            "POST /api/sessions HTTP/1.1",
            "OPTIONS /api/sessions HTTP/1.1",
            "GET / HTTP/1.1",
        ] {
            let answer = served.raw(&[line, &host, &cookie_header, &origin_header], "").await;
            assert_eq!(answer.status, 403, "{origin} {line}: {answer:?}");
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
        assert_eq!(served.socket_with(&[("cookie", &cookie), ("origin", origin)]).await.err(), Some(403));
    }
    // A form or an image there sends no origin with a GET, but browsers say where it comes from.
    let elsewhere = ["GET /api/sessions HTTP/1.1", &host, &cookie_header, "Sec-Fetch-Site: cross-site"];
    assert_eq!(served.raw(&elsewhere, "").await.status, 401);
    // Whatever changes something needs the origin of our own page; and so does every socket.
    let change = ["POST /api/sessions HTTP/1.1", &host, &cookie_header, "Content-Type: application/json"];
    assert_eq!(served.raw(&change, "{}").await.status, 401);
    assert_eq!(served.socket_with(&[("cookie", &cookie)]).await.err(), Some(401));
    let simple = ["POST /api/sessions HTTP/1.1", &host, &bearer, "Content-Type: text/plain"];
    assert_eq!(served.raw(&simple, "{}").await.status, 415);
    assert!(world.sessions().is_empty());

    // Our own page gets in.
    let own = served.origin();
    assert!(served.socket_with(&[("cookie", &cookie), ("origin", &own)]).await.is_ok());
}

#[tokio::test]
async fn a_cookie_ends_with_logging_out_and_with_the_run() {
    let world = World::new("model: hello").await;
    let mut served = serve(&world).await;
    let cookie = served.log_in().await;
    let other = served.log_in().await;
    let origin = served.origin();
    let mut socket = served.socket_with(&[("cookie", &cookie), ("origin", &origin)]).await.unwrap();
    socket.call("ping", json!({})).await;

    let (host, with) = (format!("Host: {}", served.address), format!("Cookie: {cookie}"));
    let from = format!("Origin: {origin}");
    let out = served.raw(&["POST /api/logout HTTP/1.1", &host, &with, &from], "").await;
    assert_eq!(out.status, 204, "{out:?}");
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
    // The socket that it opened is closed, and it opens no other.
    assert_eq!(socket.next().await, None);
    assert_eq!(served.raw(&["GET /api/health HTTP/1.1", &host, &with], "").await.status, 401);
    let with = format!("Cookie: {other}");
    assert_eq!(served.raw(&["GET /api/health HTTP/1.1", &host, &with], "").await.status, 200);

    // The next run, on the same port, knows neither the cookie nor the token.
    signal(&served.child, rustix::process::Signal::TERM);
    served.child.wait().await.unwrap();
    let again = serve_at(&world, &served.address).await;
    assert_eq!(again.raw(&["GET /api/health HTTP/1.1", &host, &with], "").await.status, 401);
    let old = format!("Authorization: Bearer {}", served.token);
    assert_eq!(again.raw(&["GET /api/health HTTP/1.1", &host, &old], "").await.status, 401);
    assert_ne!(served.token, again.token);
}

#[tokio::test]
async fn guessing_is_stopped() {
    let world = World::new("model: hello").await;
    let served = serve(&world).await;
    let host = format!("Host: {}", served.address);
    let guess = ["POST /api/login HTTP/1.1", &host, "Content-Type: application/json"];
    let mut statuses = Vec::new();
    for _ in 0..11 {
        statuses.push(served.raw(&guess, r#"{"token":"0000"}"#).await.status);
    }
    assert_eq!(statuses, [[401; 10].as_slice(), &[429]].concat());
    let answer = served.raw(&guess, &json!({"token": served.token}).to_string()).await;
    assert_eq!(answer.status, 429);
    assert!(answer.header("retry-after").unwrap().parse::<u32>().unwrap() <= 60);
}

#[tokio::test]
async fn every_answer_keeps_the_page_to_itself() {
    let world = World::new("model: hello").await;
    let served = serve(&world).await;
    let host = format!("Host: {}", served.address);
    for path in ["/", "/api/health", "/nothing", "/session/x"] {
        let line = format!("GET {path} HTTP/1.1");
        let answer = served.raw(&[&line, &host], "").await;
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[tokio::test]
async fn what_is_not_http_or_too_much_of_it_is_cut_off() {
    let world = World::new("model: hello").await;
    let served = serve(&world).await;
    let huge = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n", served.address, "a".repeat(1 << 20));
    let many = format!("GET / HTTP/1.1\r\nHost: {}\r\n{}\r\n", served.address, "X: 1\r\n".repeat(500));
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n".to_vec(),
        b"\0\0\0\0\r\n\r\n".to_vec(),
        huge.into_bytes(),
        many.into_bytes(),
    ] {
        let mut stream = TcpStream::connect(&served.address).await.unwrap();
        // The server may hang up before it has read everything.
        let _ = stream.write_all(&bytes).await;
        let mut answer = Vec::new();
        let _ = timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("it waits for more");
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    // A body that says it is larger than anything we take is refused before it is read.
    let (host, bearer) =
        (format!("Host: {}", served.address), format!("Authorization: Bearer {}", served.token));
    let mut stream = TcpStream::connect(&served.address).await.unwrap();
    let head = format!(
        "POST /api/sessions HTTP/1.1\r\n{host}\r\n{bearer}\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{{"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    timeout(PATIENCE, stream.read_exact(&mut start)).await.unwrap().unwrap();
    assert_eq!(&start, b"HTTP/1.1 413");
    assert_eq!(served.ask("GET", "/api/health", json!(null)).await.status, 200);
}

#[tokio::test]
async fn a_name_of_a_proxy_is_let_in_when_it_was_given() {
    let world = World::new("model: hello").await;
    let mut child =
        world.command(&["serve", "--bind", "127.0.0.1:0", "--host", "covey.example.org"]).spawn().unwrap();
    let mut out = tokio::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    tokio::io::AsyncBufReadExt::read_line(&mut out, &mut line).await.unwrap();
    let (url, token) = line.trim().split_once("#token=").unwrap();
    let address = url.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    let served = Served { child, token: token.to_owned(), address };
    let bearer = format!("Authorization: Bearer {}", served.token);
    let head =
        ["GET /api/health HTTP/1.1", "Host: covey.example.org", "Origin: https://covey.example.org", &bearer];
    assert_eq!(served.raw(&head, "").await.status, 200);
    let head = ["GET /api/health HTTP/1.1", "Host: other.example.org", &bearer];
    assert_eq!(served.raw(&head, "").await.status, 421);
}
