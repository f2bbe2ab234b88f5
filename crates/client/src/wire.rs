//! What a socket carries: JSON-RPC 2.0, one message a frame or a line.
//!
//! | method | params | result |
//! |---|---|---|
//! | `hello` | | [`Hello`] |
//! | `read` | a [`Request`] | its `Reply` |
//! | `submit` | [`Submit`] | a `Receipt` |
//! | `subscribe` | [`Topic`] | [`Subscribed`] |
//! | `unsubscribe` | [`Subscription`] | `null` |
//! | `answer_host` | [`AnswerHost`] | `null` |
//! | `ping` | | `null` |
//!
//! and, about what was subscribed to, notifications without an id: [`News`].

use protocol::{Event, HostAnswer, HostOffer, HostRequest, Op, Request, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{ClientError, Failure};

/// The version of this conversation. A peer with another one is told so.
pub const VERSION: u32 = 1;

/// The largest message that either side takes.
pub const MAX_MESSAGE: usize = 24 << 20;

/// The answer to `hello`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    /// The server's version.
    pub covey: String,
    /// Where new sessions work if nothing else is said.
    pub cwd: String,
}

/// A change, and a key under which it is made once however often it is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Submit {
    pub op: Op,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// What can be subscribed to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "topic", rename_all = "snake_case")]
pub enum Topic {
    /// The list of sessions: state, then patches.
    Sessions,
    /// A session: its state if `after` is absent, then the events after that.
    Session {
        session: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
    },
    /// What an editor that makes this offer is to do: first what of it was taken (a `HostAccepted`), then requests.
    Host { session: SessionId, offer: HostOffer },
}

/// What an editor did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerHost {
    pub session: SessionId,
    pub request: u64,
    pub answer: HostAnswer,
}

/// The answer to `subscribe`: what there is, and the version of that, in one step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Subscribed {
    pub subscription: u64,
    /// Absent when the events were asked for from a number on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Box<RawValue>>,
    /// Of a list: counts changes. Of a session: the number of the last event in `state`.
    pub version: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Subscription {
    pub subscription: u64,
}

/// What a subscriber is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", content = "params", rename_all = "snake_case")]
pub enum News {
    /// Events of a session, in order and without gaps.
    Events { subscription: u64, events: Vec<Event> },
    /// A change of a list, as JSON Patch (RFC 6902). It applies to version `base` and makes version `version`.
    Patch { subscription: u64, base: u64, version: u64, patch: Value },
    /// All of it again, because changes were missed.
    State { subscription: u64, state: Value, version: u64 },
    /// Something for an editor to do.
    Host { subscription: u64, request: HostRequest },
    /// Nothing more comes.
    End {
        subscription: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<RpcError>,
    },
}

/// A request as it arrives. `id` is whatever the client likes to see again.
#[derive(Debug, Deserialize)]
pub struct Incoming {
    #[serde(default)]
    pub id: Option<Value>,
    pub method: String,
    #[serde(default)]
    pub params: Option<Box<RawValue>>,
}

/// What can be asked, by method.
#[derive(Debug)]
pub enum Call {
    Hello,
    Read(Request),
    Submit(Submit),
    Subscribe(Topic),
    Unsubscribe(Subscription),
    AnswerHost(Box<AnswerHost>),
    Ping,
}

impl Call {
    /// Reads the parameters that the method wants.
    pub fn parse(method: &str, params: Option<&RawValue>) -> Result<Self, RpcError> {
        fn read<T: for<'de> Deserialize<'de>>(params: Option<&RawValue>) -> Result<T, RpcError> {
            let params = params.map_or("null", RawValue::get);
            serde_json::from_str(params).map_err(|error| RpcError::new(RpcError::PARAMS, error.to_string()))
        }
        match method {
            "hello" => Ok(Self::Hello),
            "read" => read(params).map(Self::Read),
            "submit" => read(params).map(Self::Submit),
            "subscribe" => read(params).map(Self::Subscribe),
            "unsubscribe" => read(params).map(Self::Unsubscribe),
            "answer_host" => read(params).map(|answer| Self::AnswerHost(Box::new(answer))),
            "ping" => Ok(Self::Ping),
            _ => {
                let shown: String = method.chars().take(40).collect();
                Err(RpcError::new(RpcError::METHOD, format!("there is no method `{shown}`")))
            }
        }
    }
}

/// An error on the wire.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    pub code: i32,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<ErrorData>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorData {
    /// The name of a [`Failure`].
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl RpcError {
    pub const PARSE: i32 = -32700;
    pub const REQUEST: i32 = -32600;
    pub const METHOD: i32 = -32601;
    pub const PARAMS: i32 = -32602;
    /// What an engine said no to; `data.kind` says how.
    pub const REFUSED: i32 = -32000;

    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

impl From<ClientError> for RpcError {
    fn from(error: ClientError) -> Self {
        let data = ErrorData { kind: error.kind.name().to_owned(), hint: error.hint };
        Self { code: Self::REFUSED, message: error.message, data: Some(data) }
    }
}

impl From<RpcError> for ClientError {
    fn from(error: RpcError) -> Self {
        let kind = error.data.as_ref().and_then(|data| Failure::from_name(&data.kind));
        ClientError {
            kind: kind.unwrap_or(Failure::Invalid),
            message: error.message,
            hint: error.data.and_then(|data| data.hint),
        }
    }
}

/// The text of an answer.
pub fn answer(id: &Value, result: Result<impl Serialize, RpcError>) -> String {
    #[derive(Serialize)]
    struct Answer<'a, T> {
        jsonrpc: &'static str,
        id: &'a Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<T>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<RpcError>,
    }
    let (result, error) = match result {
        Ok(result) => (Some(result), None),
        Err(error) => (None, Some(error)),
    };
    text(&Answer { jsonrpc: "2.0", id, result, error })
}

/// The text of a notification.
pub fn notification(news: &News) -> String {
    #[derive(Serialize)]
    struct Notification<'a> {
        jsonrpc: &'static str,
        #[serde(flatten)]
        news: &'a News,
    }
    text(&Notification { jsonrpc: "2.0", news })
}

/// The text of a request.
pub fn request(id: u64, method: &str, params: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Outgoing<'a, T> {
        jsonrpc: &'static str,
        id: u64,
        method: &'a str,
        params: T,
    }
    text(&Outgoing { jsonrpc: "2.0", id, method, params })
}

fn text(message: &impl Serialize) -> String {
    // Only maps with keys that are no strings can not be written, and there are none here.
    serde_json::to_string(message).unwrap_or_default()
}
