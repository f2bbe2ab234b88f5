//! The fetched model as a server on loopback.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use super::fetch::{Parts, ProgressLine};
use crate::run::Failure;
use crate::scratch::Scratch;

const PATIENCE: Duration = Duration::from_secs(90);

/// A running server. It ends when its standard input does, so it can not outlive this program.
pub(super) struct Server {
    child: Child,
    /// `http://127.0.0.1:PORT`
    pub(super) url: String,
}

impl Server {
    pub(super) fn start(scratch: &mut Scratch, parts: &Parts) -> Result<Self, Failure> {
        let script = scratch.path().join("serve.py");
        fs::write(&script, include_str!("serve.py"))?;
        let log = scratch.path().join("server.log");
        // Its threads wait by spinning, so on a small machine a second one only takes time from the first.
        let threads = if thread::available_parallelism().map_or(1, usize::from) >= 4 { "2" } else { "1" };
        let mut command = Command::new(&parts.python);
        command.arg(&script).arg(&parts.weights).arg(threads);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&log)?);
        let mut child = scratch.start(&mut command)?;
        let url = wait_for_url(&mut child);
        match url {
            Ok(url) => Ok(Self { child, url }),
            Err(why) => {
                scratch.stop(&mut child);
                let said = fs::read_to_string(&log).unwrap_or_default();
                let said: Vec<&str> = said.lines().collect();
                let tail = said[said.len().saturating_sub(5)..].join("\n    ");
                Err(Failure::new(format!("the model server {why}; its last words:\n    {tail}")))
            }
        }
    }

    pub(super) fn stop(mut self, scratch: &mut Scratch) {
        scratch.stop(&mut self.child);
    }
}

/// It says where it listens once the model is loaded.
fn wait_for_url(child: &mut Child) -> Result<String, String> {
    let started = Instant::now();
    let mut line = ProgressLine::new("loading the model");
    let output = child.stdout.take().ok_or("has no output")?;
    let (sender, said) = mpsc::channel();
    thread::spawn(move || {
        // Nobody listens any more once the time is over.
        BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
    });
    let url = loop {
        match said.recv_timeout(Duration::from_millis(200)) {
            Ok(text) if text.starts_with("http://") => break text,
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) if started.elapsed() < PATIENCE => {
                line.show("", started.elapsed())
            }
            Err(RecvTimeoutError::Timeout) => {
                line.break_off();
                return Err(format!("was not ready after {} s", PATIENCE.as_secs()));
            }
            Err(RecvTimeoutError::Disconnected) => {
                line.break_off();
                return Err("ended at once".to_owned());
            }
        }
    };
    while !is_healthy(&url) {
        if started.elapsed() > PATIENCE {
            line.break_off();
            return Err(format!("did not become healthy in {} s", PATIENCE.as_secs()));
        }
        line.show("", started.elapsed());
        thread::sleep(Duration::from_millis(100));
    }
    line.finish("", started.elapsed());
    Ok(url)
}

fn is_healthy(url: &str) -> bool {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        write!(stream, "GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.take(4096).read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}
