//! A program that is talked to in lines of JSON.

use acp::{Line, Lines};
use project::HostError;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::fleet::{FleetOptions, Trouble};
use crate::process::{Process, Start, Tail};

/// Lines that may wait to be read; beyond that the program waits.
const WAITING: usize = 256;

/// What a program says.
pub(super) enum Spoken {
    Json(Value),
    TooLong { bytes: u64 },
}

/// A running program, its input and what it says.
pub(super) struct LineProcess {
    stdin: Option<ChildStdin>,
    spoken: mpsc::Receiver<Spoken>,
    tail: Tail,
    reading: AbortHandle,
    _process: Process,
}

impl LineProcess {
    pub(super) fn start(start: &Start, options: &FleetOptions, name: &str) -> Result<Self, Trouble> {
        let failed =
            |error: HostError| Trouble::unreachable(format!("`{name}` could not be started: {error}"), None);
        let (process, stdin, stdout) = Process::start(start, &options.launcher).map_err(failed)?;
        let tail = process.tail();
        let (sender, spoken) = mpsc::channel(WAITING);
        let reading = tokio::spawn(read(stdout, sender, tail.clone())).abort_handle();
        Ok(Self { stdin: Some(stdin), spoken, tail, reading, _process: process })
    }

    /// The next thing that it says; none when it has ended.
    pub(super) async fn next(&mut self) -> Option<Spoken> {
        self.spoken.recv().await
    }

    pub(super) fn has_ended(&self) -> bool {
        self.spoken.is_closed() && self.spoken.is_empty()
    }

    /// Says something to it; false when it does not listen any more.
    pub(super) async fn say(&mut self, message: &Value) -> bool {
        let Some(stdin) = &mut self.stdin else { return false };
        let line = format!("{message}\n");
        stdin.write_all(line.as_bytes()).await.is_ok() && stdin.flush().await.is_ok()
    }

    pub(super) fn close_input(&mut self) {
        drop(self.stdin.take());
    }

    /// The last that it said where errors go, to be added to a message.
    pub(super) async fn last_words(&self) -> String {
        for _ in 0..10 {
            if let Some(words) = self.tail.words() {
                return format!("; it said: {words}");
            }
            // It closes its pipes in any order; the words may come a moment later.
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        String::new()
    }
}

impl Drop for LineProcess {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

async fn read(stdout: ChildStdout, sender: mpsc::Sender<Spoken>, tail: Tail) {
    let mut lines = Lines::new(stdout);
    while let Ok(Some(line)) = lines.next().await {
        let spoken = match line {
            Line::TooLong { bytes } => Spoken::TooLong { bytes },
            Line::Whole(line) => match serde_json::from_slice::<Value>(&line) {
                Ok(value @ Value::Object(_)) => Spoken::Json(value),
                // Banners and warnings are what a person reads when it fails.
                _ => {
                    tail.push(&String::from_utf8_lossy(&line));
                    continue;
                }
            },
        };
        if sender.send(spoken).await.is_err() {
            return;
        }
    }
}
