//! Requests to the port of a login that are not the browser's.

use std::time::Duration;

use auth::{Login, Timing};
use testkit::{OAuthServer, browse};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::*;

/// Sends bytes and returns the status of the answer, 0 if there is none.
async fn send(port: u16, bytes: &[u8]) -> u16 {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    // It may hang up before it has heard everything.
    let _ = socket.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0)
}

#[tokio::test]
async fn nothing_that_others_send_ends_a_login() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::idle());
    let config = config(&server);
    let login = Login::new(&config, &robot).with_timing(timing()).browser();
    let others = async {
        let url = robot.url().await;
        let port: u16 =
            parameter(&url, "redirect_uri").unwrap().split([':', '/']).nth(4).unwrap().parse().unwrap();
        let state = parameter(&url, "state").unwrap();
        let get =
            |target: &str, headers: &str| format!("GET {target} HTTP/1.1\r\n{headers}\r\n").into_bytes();
        let ours = format!("Host: 127.0.0.1:{port}\r\n");
        let good = format!("/callback?code=evil&state={state}");
        let cases: Vec<(&str, Vec<u8>, u16)> = vec![
            ("post", format!("POST {good} HTTP/1.1\r\n{ours}\r\n").into_bytes(), 405),
            ("head", format!("HEAD {good} HTTP/1.1\r\n{ours}\r\n").into_bytes(), 405),
            ("options", format!("OPTIONS {good} HTTP/1.1\r\n{ours}\r\n").into_bytes(), 405),
            ("a name that leads here", get(&good, &format!("Host: evil.example:{port}\r\n")), 421),
            ("another port", get(&good, "Host: 127.0.0.1:1\r\n"), 421),
            ("no host", get(&good, ""), 421),
            ("two hosts", get(&good, &format!("{ours}Host: evil.example\r\n")), 421),
            ("another path", get(&good.replace("/callback", "/"), &ours), 404),
            ("a path with dots", get(&good.replace("/callback", "/x/../callback"), &ours), 404),
            ("a favicon", get("/favicon.ico", &ours), 404),
            ("a whole address", get(&format!("http://127.0.0.1:{port}{good}"), &ours), 404),
            ("a wrong state", get("/callback?code=evil&state=x", &ours), 403),
            ("no state", get("/callback?code=evil", &ours), 403),
            ("a part of the state", get(&format!("/callback?code=evil&state={}", &state[..42]), &ours), 403),
            ("two states", get(&format!("{good}&state=x"), &ours), 400),
            ("an error without a state", get("/callback?error=access_denied", &ours), 403),
            ("two codes", get(&format!("{good}&code=other"), &ours), 400),
            ("no code", get(&format!("/callback?state={state}"), &ours), 400),
            ("an empty code", get(&format!("/callback?code=&state={state}"), &ours), 400),
            ("a long code", get(&format!("/callback?code={}&state={state}", "x".repeat(5000)), &ours), 400),
            ("four words", format!("GET {good} x HTTP/1.1\r\n{ours}\r\n").into_bytes(), 400),
            ("another protocol", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), 400),
            ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(), 400),
            ("nothing but an end", b"\r\n\r\n".to_vec(), 400),
        ];
        for (what, bytes, expected) in cases {
            assert_eq!(send(port, &bytes).await, expected, "{what}");
        }
        // It may reset the connection before its answer is read; it must not read on.
        let endless = send(port, &get(&good, &format!("X: {}\r\n{ours}", "x".repeat(100 << 10)))).await;
        assert!(matches!(endless, 0 | 431), "{endless}");
        assert!(server.requests().is_empty(), "none of them was believed");
        browse(&url).await.unwrap()
    };
    let (grant, page) = tokio::join!(login, others);
    assert_eq!(page.status, 200);
    assert!(server.accepts(grant.unwrap().access.reveal()));
}

#[tokio::test]
async fn those_who_hold_the_line_do_not_hold_the_login() {
    let (server, robot) = (OAuthServer::start().await.unwrap(), Robot::idle());
    let config = config(&server);
    let timing = Timing { callback: Duration::from_millis(200), ..timing() };
    let login = Login::new(&config, &robot).with_timing(timing).browser();
    let others = async {
        let url = robot.url().await;
        let port: u16 =
            parameter(&url, "redirect_uri").unwrap().split([':', '/']).nth(4).unwrap().parse().unwrap();
        let mut held = Vec::new();
        for number in 0..40 {
            let mut socket = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            if number % 2 == 0 {
                socket.write_all(b"GET /callback?code=").await.unwrap();
            }
            held.push(socket);
        }
        let page = browse(&url).await.unwrap();
        drop(held);
        page
    };
    let (grant, page) = tokio::join!(login, others);
    assert_eq!(page.status, 200);
    grant.unwrap();
}
