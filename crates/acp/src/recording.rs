//! A conversation on disk: a line each, who said what and when.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One end of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    Client,
    Agent,
}

impl Side {
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Agent,
            Self::Agent => Self::Client,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Agent => "agent",
        }
    }
}

/// One line that was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub by: Side,
    /// Milliseconds since the beginning.
    pub at: u64,
    pub said: Said,
}

/// What was said.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    Message(Value),
    /// No JSON: a banner, a log line, half a message.
    Noise(String),
}

/// As it is written: `{"dir":"client->agent","t":5,"msg":{…}}`.
#[derive(Serialize, Deserialize)]
struct Line {
    dir: String,
    #[serde(default)]
    t: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    msg: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
}

impl Record {
    pub fn new(by: Side, at: u64, line: &[u8]) -> Self {
        let said = match serde_json::from_slice(line) {
            Ok(value @ Value::Object(_)) => Said::Message(value),
            _ => Said::Noise(String::from_utf8_lossy(line).into_owned()),
        };
        Self { by, at, said }
    }

    /// Without its end.
    pub fn to_line(&self) -> String {
        let dir = format!("{}->{}", self.by.as_str(), self.by.other().as_str());
        let (msg, raw) = match &self.said {
            Said::Message(value) => (Some(value.clone()), None),
            Said::Noise(text) => (None, Some(text.clone())),
        };
        serde_json::to_string(&Line { dir, t: self.at, msg, raw }).unwrap_or_default()
    }

    /// The error says what is wrong with the line.
    pub fn parse(line: &str) -> Result<Self, String> {
        let line: Line = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let by = match line.dir.as_str() {
            "client->agent" => Side::Client,
            "agent->client" => Side::Agent,
            other => return Err(format!("`{other}` is no direction")),
        };
        let said = match (line.msg, line.raw) {
            (Some(message), _) => Said::Message(message),
            (None, Some(text)) => Said::Noise(text),
            (None, None) => return Err("it says nothing".to_owned()),
        };
        Ok(Self { by, at: line.t, said })
    }
}

/// All of a recording. The error names the line.
pub fn read_recording(text: &str) -> Result<Vec<Record>, String> {
    let numbered = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    numbered.map(|(at, line)| Record::parse(line).map_err(|why| format!("line {}: {why}", at + 1))).collect()
}
