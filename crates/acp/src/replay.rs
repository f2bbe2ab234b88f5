//! One side of a recorded conversation, played to a live other side.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use crate::line::{Line, Lines};
use crate::message::RpcError;
use crate::recording::{Record, Said, Side};

/// How a recording is played.
pub struct Replay {
    /// Whose part is played.
    pub side: Side,
    pub records: Vec<Record>,
    /// With the pauses that there were.
    pub timed: bool,
    /// What stands for another in our part: a folder that is elsewhere now.
    pub instead: Vec<(String, String)>,
}

/// How far it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Played {
    Whole,
    /// The other side left before this was said.
    Left {
        waiting_for: String,
    },
}

struct Play<R, W> {
    lines: Lines<R>,
    writer: W,
    /// What came before it was waited for.
    early: VecDeque<Value>,
    /// The ids of the live side's questions, by those of the recorded side's.
    ids: HashMap<String, Value>,
    instead: Vec<(String, String)>,
}

impl Replay {
    pub async fn play<R, W>(self, reader: R, writer: W) -> std::io::Result<Played>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let known: Vec<String> =
            self.records.iter().filter(|record| record.by != self.side).filter_map(method).collect();
        let mut play = Play {
            lines: Lines::new(reader),
            writer,
            early: VecDeque::new(),
            ids: HashMap::new(),
            instead: self.instead,
        };
        let mut before = 0;
        for record in &self.records {
            if record.by == self.side {
                if self.timed {
                    tokio::time::sleep(Duration::from_millis(record.at.saturating_sub(before))).await;
                }
                before = record.at;
                play.say(&record.said).await?;
                continue;
            }
            before = record.at;
            let Said::Message(wanted) = &record.said else { continue };
            if let Some(waiting_for) = play.await_one(wanted, &known).await? {
                return Ok(Played::Left { waiting_for });
            }
        }
        match self.side {
            // An agent stays until its client is gone.
            Side::Agent => while play.lines.next().await?.is_some() {},
            Side::Client => play.writer.shutdown().await?,
        }
        Ok(Played::Whole)
    }
}

fn method(record: &Record) -> Option<String> {
    match &record.said {
        Said::Message(message) => message.get("method")?.as_str().map(str::to_owned),
        Said::Noise(_) => None,
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Play<R, W> {
    async fn say(&mut self, said: &Said) -> std::io::Result<()> {
        let line = match said {
            Said::Noise(text) => text.clone(),
            Said::Message(message) => {
                let mut message = message.clone();
                // An answer goes to whoever asks now, by the id that is used now.
                if message.get("method").is_none()
                    && let Some(id) = message.get("id").and_then(|id| self.ids.get(&id.to_string()))
                {
                    message["id"] = id.clone();
                }
                self.instead.iter().for_each(|(old, new)| replace(&mut message, old, new));
                message.to_string()
            }
        };
        self.writer.write_all(format!("{line}\n").as_bytes()).await?;
        self.writer.flush().await
    }

    /// Waits for what answers to a recorded message of the other side: the same question, or the answer to the same one.
    /// What else it tells is passed over. What it waited for, if the other side left.
    async fn await_one(&mut self, wanted: &Value, known: &[String]) -> std::io::Result<Option<String>> {
        let method = wanted.get("method").and_then(Value::as_str);
        let id = wanted.get("id").filter(|id| !id.is_null());
        // Notifications come or do not; only a cancel changes what is said next.
        if id.is_none() && method != Some("session/cancel") {
            return Ok(None);
        }
        let fits = |message: &Value| match method {
            Some(method) => message.get("method").and_then(Value::as_str) == Some(method),
            None => message.get("method").is_none() && message.get("id") == id,
        };
        loop {
            if let Some(at) = self.early.iter().position(fits) {
                if let Some(message) = self.early.remove(at) {
                    self.met(wanted, &message);
                }
                return Ok(None);
            }
            let Some(line) = self.lines.next().await? else {
                return Ok(Some(method.map_or_else(|| "an answer".to_owned(), str::to_owned)));
            };
            let Line::Whole(line) = line else { continue };
            let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
            let asks = message.get("method").and_then(Value::as_str).filter(|_| message.get("id").is_some());
            match asks {
                Some(asked) if !known.iter().any(|known| known == asked) => {
                    let error = RpcError::unknown_method(asked);
                    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
                    self.writer.write_all(format!("{answer}\n").as_bytes()).await?;
                    self.writer.flush().await?;
                }
                _ => self.early.push_back(message),
            }
        }
    }

    /// Learns what things are called now.
    fn met(&mut self, recorded: &Value, live: &Value) {
        if let (Some(old), Some(new)) = (recorded.get("id"), live.get("id"))
            && recorded.get("method").is_some()
        {
            self.ids.insert(old.to_string(), new.clone());
        }
        for name in ["/result/sessionId", "/result/terminalId"] {
            if let (Some(Value::String(old)), Some(Value::String(new))) =
                (recorded.pointer(name), live.pointer(name))
                && old != new
            {
                self.instead.push((old.clone(), new.clone()));
            }
        }
    }
}

/// Replaces a text wherever it stands for itself or begins a path.
fn replace(value: &mut Value, old: &str, new: &str) {
    match value {
        Value::String(text) if text == old => new.clone_into(text),
        Value::String(text) if text.starts_with(&format!("{old}/")) => {
            *text = format!("{new}{}", &text[old.len()..])
        }
        Value::Array(all) => all.iter_mut().for_each(|one| replace(one, old, new)),
        Value::Object(all) => all.values_mut().for_each(|one| replace(one, old, new)),
        _ => {}
    }
}
