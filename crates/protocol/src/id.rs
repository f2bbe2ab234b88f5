//! Names of things. Each is its own type, so a call can not be passed where a turn is meant.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Timestamp;

macro_rules! id {
    ($(#[$docs:meta])* $name:ident) => {
        $(#[$docs])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS, JsonSchema)]
        #[serde(transparent)]
        #[ts(type = "string")]
        pub struct $name(Arc<str>);

        impl $name {
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(text.as_ref().into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }
    };
}

id! {
    /// One exchange: a prompt and all that an agent did about it. Unique within its session (`t1`, `t2`, …).
    TurnId
}
id! {
    /// One message of an agent, streamed in pieces. Unique within its session (`t1.m1`).
    MessageId
}
id! {
    /// One tool call. Unique within its session, whatever the model called it.
    CallId
}
id! {
    /// A question put to the person. Unique within its session.
    RequestId
}
id! {
    /// An agent as a person names it: `native`, `claude`, `codex`, …
    AgentId
}
id! {
    /// A model as a person names it: `PROVIDER/MODEL`.
    ModelRef
}
id! {
    /// The content hash of something kept in a session's `blobs/`.
    BlobId
}

impl ModelRef {
    /// Splits `openrouter/meta/llama` into `openrouter` and `meta/llama`: a model's own name may hold slashes.
    pub fn split(&self) -> Option<(&str, &str)> {
        self.as_str().split_once('/').filter(|(provider, model)| !provider.is_empty() && !model.is_empty())
    }
}

/// A session's name and folder: `YYYYMMDD-HHMMSS-xxxxxxxx`, in UTC, ending in 8 hex digits.
///
/// It becomes a path, so it can only be made from a time or from text that has exactly this form.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[ts(type = "string")]
pub struct SessionId(#[schemars(regex(pattern = "^[0-9]{8}-[0-9]{6}-[0-9a-f]{8}$"))] Arc<str>);

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{0}` is not a session id (YYYYMMDD-HHMMSS-xxxxxxxx)")]
pub struct InvalidSessionId(String);

impl SessionId {
    pub fn new(created: Timestamp, random: u32) -> Self {
        Self(format!("{}-{random:08x}", created.compact()).into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = InvalidSessionId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        let valid = text.len() == 24
            && text.bytes().enumerate().all(|(i, b)| match i {
                8 | 15 => b == b'-',
                16.. => hex(b),
                _ => b.is_ascii_digit(),
            });
        if valid { Ok(Self(text.into())) } else { Err(InvalidSessionId(text.chars().take(60).collect())) }
    }
}

impl TryFrom<String> for SessionId {
    type Error = InvalidSessionId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionId({})", self.0)
    }
}
