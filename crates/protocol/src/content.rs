//! What prompts, answers and tool results are made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::BlobId;

/// One block of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    Text {
        text: String,
    },
    Image(Image),
    Resource(Resource),
    /// A kind of block that this version does not know: carried as it came.
    #[serde(untagged)]
    #[ts(skip)]
    Other(Value),
}

/// A picture, inline or in the session's blobs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
    #[serde(flatten)]
    pub source: Source,
}

impl Image {
    /// What kind of picture starts like this, if models can see it. Names lie; bytes do not.
    pub fn media_type_of(start: &[u8]) -> Option<&'static str> {
        match start {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
            [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
            _ => None,
        }
    }
}

/// A file or page that goes with a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
pub struct Resource {
    pub uri: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub media_type: Option<String>,
    /// What it says, when that comes along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub blob: Option<BlobRef>,
}

/// Where the bytes of an image are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Inline, in base64.
    Data(String),
    /// In the session's `blobs/`.
    Blob(BlobRef),
}

/// Names bytes that are kept beside the event log, by what they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
pub struct BlobRef {
    pub hash: BlobId,
    #[ts(type = "number")]
    pub bytes: u64,
}

impl Content {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }
}

/// The text of a prompt, with its other blocks named in brackets: for titles, search and plain terminals.
pub fn prompt_text(blocks: &[Content]) -> String {
    let parts = blocks.iter().map(|block| match block {
        Content::Text { text } => text.clone(),
        Content::Image(image) => format!("[{}]", image.name.as_deref().unwrap_or("image")),
        Content::Resource(resource) => format!("[{}]", resource.uri),
        Content::Other(value) => format!("[{}]", other_name(value)),
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// What can be said of a block that is not known: its kind, its name and how much there is of it.
fn other_name(value: &Value) -> String {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let Some(kind) = text("type") else { return "?".to_owned() };
    let name = text("name").or_else(|| text("uri")).or_else(|| text("mimeType"));
    // Three bytes are four letters of base64.
    let size = text("data").map(|data| format!("{} bytes", data.len() / 4 * 3));
    let known: Vec<String> = name.map(str::to_owned).into_iter().chain(size).collect();
    if known.is_empty() { kind.to_owned() } else { format!("{kind}: {}", known.join(", ")) }
}
