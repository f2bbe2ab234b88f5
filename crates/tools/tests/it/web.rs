//! Pages from a server of our own, good and bad.

use std::net::SocketAddr;

use guard::Action;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tools::{SearchProvider, WebSettings, set_web};

use crate::folder::Folder;

/// Answers each request by its first line and body; what it says is sent as it is.
pub(crate) async fn serve(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            while !is_whole(&request) {
                match socket.read(&mut buffer).await {
                    Ok(read @ 1..) => request.extend_from_slice(&buffer[..read]),
                    _ => break,
                }
            }
            socket.write_all(&answer(&String::from_utf8_lossy(&request))).await.ok();
        }
    });
    address
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

pub(crate) fn page(kind: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn elsewhere(location: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .into_bytes()
}

impl Folder {
    /// One that may fetch from this machine.
    fn at_home() -> Self {
        let folder = Self::new();
        set_web(&folder.context.state, WebSettings { allow_private: true, search: None });
        folder
    }

    async fn fetched(&self, url: &str) -> String {
        let output = self.call("web_fetch", json!({"url": url})).await;
        output.map_or_else(|error| format!("error: {error}"), |output| output.text)
    }
}

#[tokio::test]
async fn a_page_comes_as_markdown_and_is_nobodys_word() {
    let folder = Folder::at_home();
    let server = serve(|request| match request.split(' ').nth(1).unwrap() {
        "/a" => elsewhere("/b"),
        "/b" => page("text/html; charset=utf-8", "<title>T</title><h1>Hi</h1><p>there</p>"),
        "/json" => page("application/json", "{\"a\": 1}"),
        "/latin" => page("text/plain; charset=iso-8859-1", b"caf\xe9"),
        "/empty" => page("text/html", ""),
        _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
    })
    .await;
    let output = folder.call("web_fetch", json!({"url": format!("http://{server}/a")})).await.unwrap();
    assert_eq!(output.text, format!("http://{server}/b\nTitle: T\n\n# Hi\n\nthere\n"));
    assert!(output.is_foreign);
    assert!(folder.fetched(&format!("http://{server}/json")).await.ends_with("{\"a\": 1}"));
    assert!(folder.fetched(&format!("http://{server}/latin")).await.ends_with("café"));
    assert!(folder.fetched(&format!("http://{server}/empty")).await.ends_with("(the page has no text)\n"));
    assert!(
        folder
            .fetched(&format!("http://{server}/none?key=s3cret"))
            .await
            .ends_with("/none` answers 404 Not Found")
    );
    let asked = folder.actions("web_fetch", json!({"url": "https://example.org/x"}));
    assert_eq!(asked, [Action::Fetch { url: "https://example.org/x".into() }]);
}

#[tokio::test]
async fn a_long_page_goes_on_in_a_file() {
    let folder = Folder::at_home();
    let server = serve(|_| page("text/plain", "line of text\n".repeat(10_000))).await;
    let text = folder.fetched(&format!("http://{server}/")).await;
    assert!(text.len() < 25_000 && text.contains("at `output:t1_c1`"), "{}", &text[text.len() - 200..]);
    let spool = tools::Desk::outputs(folder.desk.as_ref()).join("t1_c1");
    assert_eq!(spool.metadata().unwrap().len(), 130_000);
}

#[tokio::test]
async fn what_is_at_home_is_not_fetched() {
    let folder = Folder::new();
    let server = serve(|_| page("text/plain", "secret")).await;
    for url in [
        format!("http://{server}/"),
        format!("http://localhost:{}/", server.port()),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://[::1]/".to_owned(),
        "http://0x7f000001/".to_owned(),
    ] {
        let text = folder.fetched(&url).await;
        assert!(text.contains("not a public address"), "{url}: {text}");
    }
}

#[tokio::test]
async fn bad_addresses_and_bad_servers_are_answers() {
    let folder = Folder::at_home();
    let server = serve(|request| match request.split(' ').nth(1).unwrap() {
        "/circle" => elsewhere("/circle"),
        "/away" => elsewhere("http://example.org/x"),
        "/file" => elsewhere("file:///etc/passwd"),
        "/nowhere" => b"HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n".to_vec(),
        "/png" => page("image/png", [0u8; 10]),
        "/torn" => b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nhalf".to_vec(),
        "/huge" => page("text/plain", vec![b'x'; 6 << 20]),
        _ => b"nonsense\r\n\r\n".to_vec(),
    })
    .await;
    let at = |path: &str| format!("http://{server}{path}");
    for (url, told) in [
        (at("/circle"), "in circles"),
        (at("/away"), "leads to `http://example.org/x`"),
        (at("/file"), "leads to `file:///etc/passwd`"),
        (at("/nowhere"), "does not say where"),
        (at("/png"), "image/png of 10 bytes"),
        (at("/torn"), "broke off"),
        (at("/huge"), "too large to be read"),
        (at("/"), "could not be fetched"),
        ("file:///etc/passwd".to_owned(), "not http"),
        ("nonsense".to_owned(), "not an address"),
        ("http://user:pass@example.org/".to_owned(), "a password"),
        ("http://127.0.0.1:1/".to_owned(), "could not be fetched"),
        ("http://exa\0mple.org/".to_owned(), "not an address"),
    ] {
        let text = folder.fetched(&url).await;
        assert!(text.contains(told), "{url}: {text}");
    }
}

#[tokio::test]
async fn each_search_service_is_asked_in_its_own_words() {
    let hit = json!({"title": "A\nB", "url": "https://a.org", "content": "text", "description": "text", "highlights": ["text"]});
    let answer = json!({"results": [hit, {"title": "no address"}], "web": {"results": [hit]}}).to_string();
    let (sender, mut requests) = tokio::sync::mpsc::unbounded_channel::<String>();
    let server = serve(move |request| {
        sender.send(request.to_owned()).unwrap();
        page("application/json", &answer)
    })
    .await;
    let url: net::Url = format!("http://{server}/find").parse().unwrap();
    let key = "k3y".to_owned();
    for (provider, asked) in [
        (SearchProvider::SearXng { url: url.clone() }, "GET /search?q=rust+%26+go&format=json "),
        (SearchProvider::Brave { key: key.clone(), url: Some(url.clone()) }, "x-subscription-token: k3y"),
        (SearchProvider::Exa { key: key.clone(), url: Some(url.clone()) }, "\"numResults\":3"),
        (SearchProvider::Tavily { key: key.clone(), url: Some(url.clone()) }, "authorization: Bearer k3y"),
    ] {
        assert!(!format!("{provider:?}").contains("k3y"));
        let folder = Folder::new();
        set_web(&folder.context.state, WebSettings { search: Some(provider), allow_private: false });
        let output = folder.call("web_search", json!({"query": "rust & go", "limit": 3})).await.unwrap();
        assert_eq!(output.text, "1. A B\n   https://a.org\n   text\n");
        assert!(output.is_foreign);
        let request = requests.recv().await.unwrap();
        assert!(request.contains(asked), "{request}");
        assert!(matches!(&folder.actions("web_search", json!({"query": "x"}))[..], [Action::Fetch { .. }]));
    }
}

#[tokio::test]
async fn a_search_that_fails_keeps_its_key() {
    let folder = Folder::new();
    let nobody = folder.call("web_search", json!({"query": "x"})).await.unwrap_err();
    assert!(nobody.0.contains("no search service"), "{nobody}");
    let server = serve(|_| b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n".to_vec()).await;
    let url: net::Url = format!("http://{server}/?key=s3cret").parse().unwrap();
    let provider = SearchProvider::Brave { key: "k3y".to_owned(), url: Some(url) };
    set_web(&folder.context.state, WebSettings { search: Some(provider), allow_private: false });
    let error = folder.call("web_search", json!({"query": "x"})).await.unwrap_err();
    assert_eq!(error.0, "Brave could not be asked: it answers 401 Unauthorized");
}
