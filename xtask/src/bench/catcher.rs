//! A model that notes when a request came and how long it was, and says hello.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use crate::run::Failure;

/// One request for an answer.
pub(super) struct Caught {
    /// When its last byte was here.
    pub(super) at: Instant,
    pub(super) body: Vec<u8>,
}

pub(super) struct Catcher {
    address: SocketAddr,
    caught: Receiver<Caught>,
}

impl Catcher {
    pub(super) fn start() -> Result<Self, Failure> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (sender, caught) = mpsc::channel();
        // It listens as long as this program runs.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream);
                // A client that breaks off shows as a measure that is missing.
                let Ok(body) = request(&mut reader) else { continue };
                let at = Instant::now();
                let answered = reader.get_mut().write_all(answer().as_bytes());
                if sender.send(Caught { at, body }).is_err() || answered.is_err() {
                    continue;
                }
            }
        });
        Ok(Self { address, caught })
    }

    pub(super) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(super) fn next(&self) -> Result<Caught, Failure> {
        let caught = self.caught.recv_timeout(Duration::from_secs(10));
        caught.map_err(|_| Failure::new("covey made no request"))
    }
}

fn request(reader: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(body)
}

fn answer() -> String {
    let frame = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"scripted\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let body = frame("{\"role\":\"assistant\",\"content\":\"Hello.\"}", "null")
        + &frame("{}", "\"stop\"")
        + "data: [DONE]\n\n";
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}
