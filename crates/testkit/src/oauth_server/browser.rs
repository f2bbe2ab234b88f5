//! The person's browser, as far as a login needs one.

use std::io::{self, ErrorKind};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What the browser shows in the end.
#[derive(Debug, Clone)]
pub struct BrowserPage {
    pub status: u16,
    /// Every address that it went to, the last one last.
    pub visited: Vec<String>,
    pub head: String,
    pub body: String,
}

/// Opens an address on this machine and follows redirects, as a person's browser does.
pub async fn browse(url: &str) -> io::Result<BrowserPage> {
    let mut page = visit(url).await?;
    while page.status / 100 == 3 {
        let location = page.head.lines().find_map(|line| line.strip_prefix("location: "));
        let next = location.ok_or(ErrorKind::InvalidData)?.to_owned();
        if page.visited.len() > 5 {
            return Err(io::Error::other("the redirects go round in a circle"));
        }
        let mut visited = page.visited;
        page = visit(&next).await?;
        visited.extend(page.visited);
        page.visited = visited;
    }
    Ok(page)
}

/// Opens one address on this machine.
pub async fn visit(url: &str) -> io::Result<BrowserPage> {
    let rest = url.strip_prefix("http://").ok_or(ErrorKind::InvalidInput)?;
    let (host, target) = rest.split_once('/').unwrap_or((rest, ""));
    // `localhost` is where we are, and no name needs to be looked up for it.
    let address = host.replace("localhost", "127.0.0.1");
    let mut socket = TcpStream::connect(&address).await?;
    let request = format!("GET /{target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).await?;
    let mut bytes = Vec::new();
    // A length says when it is complete: not every server closes.
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if length.and_then(|length| length.parse().ok()).is_some_and(|length: usize| body.len() >= length)
            {
                let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
                let (head, body) = (head.to_owned(), body.to_owned());
                return Ok(BrowserPage { status, visited: vec![url.to_owned()], head, body });
            }
        }
        if socket.read_buf(&mut bytes).await? == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
}
