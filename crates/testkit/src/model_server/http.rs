//! HTTP/1.1 by hand, because faults need every byte under control.

use std::io::{self, ErrorKind};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

const HEAD_LIMIT: usize = 64 << 10;
const BODY_LIMIT: usize = 256 << 20;

#[derive(Debug)]
pub(super) struct Head {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
}

impl Head {
    fn get(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// One client's connection, kept alive from request to request.
pub(super) struct Connection {
    reader: OwnedReadHalf,
    pub(super) writer: OwnedWriteHalf,
    buffer: BytesMut,
}

impl Connection {
    pub(super) fn new(socket: tokio::net::TcpStream) -> Self {
        let (reader, writer) = socket.into_split();
        Self { reader, writer, buffer: BytesMut::with_capacity(16 << 10) }
    }

    /// The next request, or `None` when the client went away between two.
    pub(super) async fn request(&mut self) -> io::Result<Option<(Head, Bytes)>> {
        let end = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end;
            }
            if self.buffer.len() > HEAD_LIMIT {
                return Err(broken("the head of the request is too large"));
            }
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return if self.buffer.is_empty() { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) };
            }
        };
        let head = parse(&self.buffer[..end])?;
        self.buffer.advance(end + 4);
        if head.get("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            self.writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        let body = if head.get("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            self.chunked().await?
        } else {
            let length = head.get("content-length").map_or(Ok(0), str::parse);
            self.exactly(length.map_err(|_| broken("content-length is not a number"))?).await?
        };
        Ok(Some((head, body)))
    }

    async fn exactly(&mut self, length: usize) -> io::Result<Bytes> {
        if length > BODY_LIMIT {
            return Err(broken("the body of the request is too large"));
        }
        while self.buffer.len() < length {
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(self.buffer.split_to(length).freeze())
    }

    async fn chunked(&mut self) -> io::Result<Bytes> {
        let mut body = BytesMut::new();
        loop {
            let end = loop {
                if let Some(end) = find(&self.buffer, b"\r\n") {
                    break end;
                }
                if self.reader.read_buf(&mut self.buffer).await? == 0 {
                    return Err(ErrorKind::UnexpectedEof.into());
                }
            };
            let line = String::from_utf8_lossy(&self.buffer[..end]).into_owned();
            let digits = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(digits, 16).map_err(|_| broken("a chunk has no size"))?;
            self.buffer.advance(end + 2);
            if body.len() + size > BODY_LIMIT {
                return Err(broken("the body of the request is too large"));
            }
            let piece = self.exactly(size + 2).await?;
            body.extend_from_slice(&piece[..size]);
            if size == 0 {
                return Ok(body.freeze());
            }
        }
    }

    /// Returns when the client has closed its side, whatever it sends before.
    pub(super) async fn gone(&mut self) {
        let mut scrap = [0; 1024];
        while matches!(self.reader.read(&mut scrap).await, Ok(read) if read > 0) {}
    }

    /// A whole answer with a length.
    pub(super) async fn answer(
        &mut self,
        status: u16,
        content_type: &str,
        extra: &[(&str, &str)],
        body: &[u8],
    ) -> io::Result<()> {
        let mut head = format!(
            "HTTP/1.1 {status} {}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n",
            reason(status),
            body.len()
        );
        for (name, value) in extra {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(body);
        self.writer.write_all(&bytes).await
    }

    /// The head of an answer that comes in chunks.
    pub(super) async fn begin(&mut self, content_type: &str) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n"
        );
        self.writer.write_all(head.as_bytes()).await
    }

    /// One chunk, in one write. `scratch` is reused from chunk to chunk.
    pub(super) async fn chunk(&mut self, scratch: &mut Vec<u8>, parts: &[&[u8]]) -> io::Result<()> {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        scratch.clear();
        scratch.extend_from_slice(format!("{length:x}\r\n").as_bytes());
        for part in parts {
            scratch.extend_from_slice(part);
        }
        scratch.extend_from_slice(b"\r\n");
        self.writer.write_all(scratch).await
    }

    pub(super) async fn end(&mut self) -> io::Result<()> {
        self.writer.write_all(b"0\r\n\r\n").await
    }
}

fn parse(head: &[u8]) -> io::Result<Head> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Err(broken("the request line has no path"));
    };
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    Ok(Head { method: method.to_owned(), path: path.to_owned(), headers: headers.collect() })
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn broken(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "Scripted",
    }
}
