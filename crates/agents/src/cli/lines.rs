//! A program that is talked to in lines of JSON.

use std::sync::Arc;

use acp::{Line, Lines};
use project::HostError;
use protocol::AgentId;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::fleet::{FleetOptions, Trouble};
use crate::process::{Process, Start, Tail};
use crate::roll::OnRoll;

/// Lines that may wait to be read; beyond that the program waits.
const WAITING: usize = 256;

/// What a program says.
pub(crate) enum Spoken {
    Json(Value),
    TooLong { bytes: u64 },
}

/// A running program, its input and what it says.
pub(crate) struct LineProcess {
    stdin: Option<ChildStdin>,
    spoken: mpsc::Receiver<Spoken>,
    tail: Tail,
    reading: AbortHandle,
    process: Process,
}

impl LineProcess {
    pub(crate) fn start(start: &Start, options: &FleetOptions, id: &AgentId) -> Result<Self, Trouble> {
        Self::start_as(start, options, id, Form::Lines)
    }

    /// One that may also print a single document, over as many lines as it likes.
    pub(crate) fn start_whole(start: &Start, options: &FleetOptions, id: &AgentId) -> Result<Self, Trouble> {
        Self::start_as(start, options, id, Form::Document)
    }

    fn start_as(start: &Start, options: &FleetOptions, id: &AgentId, form: Form) -> Result<Self, Trouble> {
        let failed =
            |error: HostError| Trouble::unreachable(format!("`{id}` could not be started: {error}"), None);
        let (process, stdin, stdout) = Process::start(start, options, id).map_err(failed)?;
        let tail = process.tail();
        let (sender, spoken) = mpsc::channel(WAITING);
        let reading = tokio::spawn(read(stdout, sender, tail.clone(), form)).abort_handle();
        Ok(Self { stdin: Some(stdin), spoken, tail, reading, process })
    }

    pub(crate) fn on_roll(&self) -> &Arc<OnRoll> {
        self.process.on_roll()
    }

    /// The next thing that it says; none when it has ended.
    pub(crate) async fn next(&mut self) -> Option<Spoken> {
        self.spoken.recv().await
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.spoken.is_closed() && self.spoken.is_empty()
    }

    /// Says something to it; false when it does not listen any more.
    pub(crate) async fn say(&mut self, message: &Value) -> bool {
        self.write(format!("{message}\n").as_bytes()).await
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> bool {
        let Some(stdin) = &mut self.stdin else { return false };
        stdin.write_all(bytes).await.is_ok() && stdin.flush().await.is_ok()
    }

    pub(crate) fn close_input(&mut self) {
        drop(self.stdin.take());
    }

    /// The last that it said where errors go, to be added to a message.
    pub(crate) async fn last_words(&self) -> String {
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

/// How a program prints its JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Lines,
    Document,
}

/// No document is longer than this.
const DOCUMENT: usize = 16 << 20;

async fn read(stdout: ChildStdout, sender: mpsc::Sender<Spoken>, tail: Tail, form: Form) {
    let mut lines = Lines::new(stdout);
    let mut document = Vec::new();
    while let Ok(Some(line)) = lines.next().await {
        let spoken = match line {
            Line::TooLong { bytes } => Spoken::TooLong { bytes },
            Line::Whole(line) => match serde_json::from_slice::<Value>(&line) {
                Ok(value @ Value::Object(_)) if document.is_empty() => Spoken::Json(value),
                _ if form == Form::Document && (!document.is_empty() || line.starts_with(b"{")) => {
                    if document.len() + line.len() < DOCUMENT {
                        document.extend_from_slice(&line);
                        document.push(b'\n');
                    }
                    continue;
                }
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
    if let Some(value) =
        serde_json::Deserializer::from_slice(&document).into_iter::<Value>().find_map(Result::ok)
    {
        // Whoever stopped listening does not want it.
        let _ = sender.send(Spoken::Json(value)).await;
    }
}
