//! As much HTTP/1.1 as a client of OAuth speaks. The model server's own has faults in every byte, and is its own.

use std::io::{self, ErrorKind};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::answer::Answer;

const LARGEST: usize = 1 << 20;

pub(super) struct Head {
    pub(super) method: String,
    pub(super) target: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
}

/// One client's connection, kept alive from request to request.
pub(super) struct Connection {
    socket: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(super) fn new(socket: TcpStream) -> Self {
        Self { socket, buffer: Vec::new() }
    }

    /// The next request, or `None` when the client went away between two.
    pub(super) async fn request(&mut self) -> io::Result<Option<(Head, Vec<u8>)>> {
        let end = loop {
            if let Some(end) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break end;
            }
            if !self.read().await? {
                return if self.buffer.is_empty() { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) };
            }
        };
        let head = parse(&String::from_utf8_lossy(&self.buffer[..end]))?;
        self.buffer.drain(..end + 4);
        let length = head.headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.map_or(Ok(0), |(_, value)| value.parse()).map_err(io::Error::other)?;
        while self.buffer.len() < length {
            if !self.read().await? {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        let body = self.buffer.drain(..length).collect();
        Ok(Some((head, body)))
    }

    async fn read(&mut self) -> io::Result<bool> {
        if self.buffer.len() > LARGEST {
            return Err(io::Error::other("the request is too large"));
        }
        Ok(self.socket.read_buf(&mut self.buffer).await? > 0)
    }

    pub(super) async fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        let Answer { status, content_type, location, challenge, body } = answer;
        let line = |name: &str, value: &Option<String>| {
            value.as_ref().map(|value| format!("{name}: {value}\r\n")).unwrap_or_default()
        };
        let more = line("location", location) + &line("www-authenticate", challenge);
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: {content_type}\r\n{more}content-length: {length}\r\n\r\n"
        );
        self.socket.write_all((head + body).as_bytes()).await
    }
}

fn parse(head: &str) -> io::Result<Head> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Err(ErrorKind::InvalidData.into());
    };
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()));
    Ok(Head { method: method.to_owned(), target: target.to_owned(), headers: headers.collect() })
}
