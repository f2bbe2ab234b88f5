//! As much of WebSocket as a browser on this machine needs: whole text messages, both ways.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// A screenshot is the largest thing there is.
const MAX_MESSAGE: usize = 64 * 1024 * 1024;

pub(super) struct Socket {
    stream: BufReader<TcpStream>,
}

impl Socket {
    /// Connects to an address such as `ws://127.0.0.1:9222/devtools/browser/…`.
    pub(super) async fn connect(address: &str) -> io::Result<Self> {
        let rest = address.strip_prefix("ws://").ok_or_else(|| broken("it names no address"))?;
        let (host, path) = rest.split_once('/').ok_or_else(|| broken("it names no address"))?;
        let mut stream = TcpStream::connect(host).await?;
        // The key only keeps caches apart from servers, of which there are none in between.
        let request = format!(
            "GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: Y292ZXkgYW5kIGJyb3dzZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut stream = BufReader::new(stream);
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() > 8192 {
                return Err(broken("it talks too much"));
            }
            head.push(stream.read_u8().await?);
        }
        if !head.starts_with(b"HTTP/1.1 101") {
            return Err(broken("it does not talk to us"));
        }
        Ok(Self { stream })
    }

    pub(super) async fn send(&mut self, text: &str) -> io::Result<()> {
        self.frame(0x1, text.as_bytes()).await
    }

    /// One whole frame. It must be masked, and a mask of zeros leaves the bytes as they are.
    async fn frame(&mut self, kind: u8, bytes: &[u8]) -> io::Result<()> {
        let mut frame = vec![0x80 | kind];
        match bytes.len() {
            length @ 0..126 => frame.push(0x80 | length as u8),
            length @ 126..=0xffff => {
                frame.push(0x80 | 126);
                frame.extend((length as u16).to_be_bytes());
            }
            length => {
                frame.push(0x80 | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend_from_slice(bytes);
        self.stream.get_mut().write_all(&frame).await
    }

    /// The next whole message.
    pub(super) async fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut message = Vec::new();
        loop {
            let [first, second] = [self.stream.read_u8().await?, self.stream.read_u8().await?];
            let length = match second & 0x7f {
                126 => u64::from(self.stream.read_u16().await?),
                127 => self.stream.read_u64().await?,
                length => u64::from(length),
            };
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            if length.saturating_add(message.len()) > MAX_MESSAGE {
                return Err(broken("its message is too large"));
            }
            let mut bytes = vec![0; length];
            self.stream.read_exact(&mut bytes).await?;
            match first & 0x0f {
                0x8 => return Err(broken("it closed the connection")),
                0x9 => self.frame(0xa, &bytes).await?,
                0xa => {}
                _ => {
                    message.append(&mut bytes);
                    if first & 0x80 != 0 {
                        return Ok(message);
                    }
                }
            }
        }
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::other(what.to_owned())
}
