use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

fn url(text: &str) -> Url {
    text.parse().unwrap()
}

/// Answers one request with these bytes and returns the head it got.
async fn serve(listener: TcpListener, answer: String) -> String {
    let (mut socket, _) = listener.accept().await.unwrap();
    let mut head = vec![0; 4096];
    let read = socket.read(&mut head).await.unwrap();
    socket.write_all(answer.as_bytes()).await.unwrap();
    String::from_utf8_lossy(&head[..read]).into_owned()
}

#[test]
fn this_machine_is_recognised() {
    for here in [
        "http://localhost:1",
        "http://127.0.0.1",
        "http://127.9.9.9",
        "http://[::1]:2",
        "https://a.localhost",
    ] {
        assert!(is_loopback(&url(here)), "{here}");
    }
    for there in ["http://192.168.0.1", "https://example.org", "http://localhost.example.org", "http://[::2]"]
    {
        assert!(!is_loopback(&url(there)), "{there}");
    }
}

#[test]
fn only_http_has_clients() {
    assert_eq!(client(&url("ftp://example.org")).unwrap_err().to_string(), "`ftp` is not http or https");
    // Without a provider this would panic: none was installed before.
    client(&url("https://example.org")).unwrap();
    client(&url("http://example.org")).unwrap();
}

#[tokio::test]
async fn says_who_it_is_and_follows_no_redirect() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = url(&format!("http://{}", listener.local_addr().unwrap()));
    let redirect =
        "HTTP/1.1 307 T\r\nlocation: http://example.invalid/\r\ncontent-length: 0\r\n\r\n".to_owned();
    let (head, answer) = tokio::join!(serve(listener, redirect), client(&base).unwrap().get(base).send());
    assert_eq!(answer.unwrap().status(), 307);
    let agent = head.lines().find_map(|line| line.strip_prefix("user-agent: ")).unwrap().to_owned();
    assert_eq!(agent, format!("covey/{}", env!("CARGO_PKG_VERSION")));
}

#[tokio::test]
async fn errors_do_not_carry_what_is_secret() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let base = url(&format!("http://user:pass@127.0.0.1:{port}/v1?key=hidden"));
    let error = client(&base).unwrap().get(base.clone()).send().await.unwrap_err();
    let text = crate::describe(&error);
    assert!(text.to_lowercase().contains("connection refused"), "{text}");
    assert!(!text.contains("pass") && !text.contains("hidden") && !text.contains("http://"), "{text}");
    assert_eq!(crate::shown(&base), format!("http://127.0.0.1:{port}/v1"));
}
