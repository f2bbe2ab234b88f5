//! One JSON-RPC message, as it stands on a line.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// What one side calls another's answer by. Ours are numbers; theirs are whatever they like.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    Number(i64),
    Text(String),
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text}"),
        }
    }
}

/// The arguments of a call, not yet looked at.
#[derive(Debug, Clone)]
pub struct Params(Option<Box<RawValue>>);

impl Params {
    /// Reads them as what they should be.
    pub fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.text())
    }

    pub fn value(&self) -> Value {
        self.parse().unwrap_or_default()
    }

    /// As they came.
    pub fn text(&self) -> &str {
        self.0.as_ref().map_or("{}", |raw| raw.get())
    }
}

/// What the other side sent.
#[derive(Debug, Clone)]
pub enum Message {
    Request { id: Id, method: String, params: Params },
    Notification { method: String, params: Params },
    Response { id: Id, result: Result<Value, RpcError> },
}

/// The other side's no, in its own words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}{}", detail(data.as_ref()))]
pub struct RpcError {
    #[serde(default)]
    pub code: i64,
    #[serde(default)]
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    pub const PARSE_ERROR: i64 = -32700;
    pub const INVALID_REQUEST: i64 = -32600;
    pub const METHOD_NOT_FOUND: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL: i64 = -32603;
    /// Of the Agent Client Protocol: log in first.
    pub const AUTH_REQUIRED: i64 = -32000;
    /// Of the Agent Client Protocol: no such file or session.
    pub const NOT_FOUND: i64 = -32002;

    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub fn unknown_method(method: &str) -> Self {
        Self::new(Self::METHOD_NOT_FOUND, format!("`{method}` is not known here"))
    }
}

/// What the data of an error says, where it says something.
fn detail(data: Option<&Value>) -> String {
    let text = match data {
        Some(Value::String(text)) => Some(text.as_str()),
        Some(Value::Object(fields)) => {
            ["details", "message", "error"].iter().find_map(|name| fields.get(*name)?.as_str())
        }
        _ => None,
    };
    text.map(|text| format!(": {}", text.chars().take(500).collect::<String>())).unwrap_or_default()
}

#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    params: Option<Box<RawValue>>,
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

impl Message {
    /// Reads a line. Some speakers leave out `jsonrpc`, so it is not asked for.
    pub fn parse(line: &[u8]) -> Result<Self, String> {
        let raw: Raw = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let id = match raw.id {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(Id::Text(text)),
            Some(value) => {
                Some(Id::Number(value.as_i64().ok_or_else(|| format!("`{value}` is no id for a message"))?))
            }
        };
        let params = Params(raw.params);
        match (raw.method, id) {
            (Some(method), Some(id)) => Ok(Self::Request { id, method, params }),
            (Some(method), None) => Ok(Self::Notification { method, params }),
            (None, Some(id)) => {
                let result = match raw.error {
                    Some(Value::Null) | None => Ok(raw.result.unwrap_or_default()),
                    Some(error) => {
                        let text = error.to_string();
                        Err(serde_json::from_value(error)
                            .unwrap_or_else(|_| RpcError::new(RpcError::INTERNAL, text)))
                    }
                };
                Ok(Self::Response { id, result })
            }
            (None, None) => Err("it is neither a call nor an answer".to_owned()),
        }
    }
}

/// A message to be sent.
#[derive(Serialize)]
pub(crate) struct Outgoing<'a, P: Serialize> {
    /// Codex leaves it out, and others insist on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jsonrpc: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<&'a Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) params: Option<P>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<&'a RpcError>,
}
