//! What servers send, in our words.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents, Tool};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ToolInfo;

/// No result is longer than this.
const MAX_TEXT: usize = 1 << 20;
const MAX_IMAGES: usize = 8;
/// In base64.
const MAX_IMAGE: usize = 14 << 20;
/// A description this long is no description.
const MAX_DESCRIPTION: usize = 4_000;

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    pub text: String,
    /// Media type and bytes in base64.
    pub images: Vec<(String, String)>,
    /// The tool says that it failed.
    pub is_error: bool,
}

/// A prompt that a server has ready.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptInfo {
    pub name: String,
    pub description: String,
    /// Its arguments, and whether each must be given.
    pub arguments: Vec<(String, bool)>,
}

/// Something that a server can be asked for by name.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceInfo {
    pub uri: String,
    pub name: String,
    pub description: String,
}

impl Outcome {
    pub(crate) fn of(result: CallToolResult) -> Self {
        let mut outcome = Self { is_error: result.is_error.unwrap_or(false), ..Self::default() };
        for block in result.content {
            outcome.add(block);
        }
        // What is structured is usually told as text too; alone it is all there is.
        if outcome.text.is_empty()
            && let Some(value) = result.structured_content
        {
            outcome.say(&value.to_string());
        }
        outcome
    }

    pub(crate) fn add(&mut self, block: ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.say(&text.text),
            ContentBlock::Image(image) => self.show(image.mime_type, image.data),
            ContentBlock::Audio(audio) => self.say(&format!("[a sound, {}]", audio.mime_type)),
            ContentBlock::Resource(embedded) => self.resource(embedded.resource),
            ContentBlock::ResourceLink(link) => self.say(&format!("[{}: {}]", link.name, link.uri)),
            _ => self.say("[something that this version does not know]"),
        }
    }

    pub(crate) fn resource(&mut self, contents: ResourceContents) {
        match contents {
            ResourceContents::TextResourceContents { uri, text, .. } => self.say(&format!("{uri}:\n{text}")),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => match mime_type {
                Some(kind) if kind.starts_with("image/") => self.show(kind, blob),
                kind => self.say(&format!("[{uri}, {}]", kind.as_deref().unwrap_or("bytes"))),
            },
            _ => self.say("[a resource that this version does not know]"),
        }
    }

    fn say(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let room = MAX_TEXT.saturating_sub(self.text.len());
        let shown = &text[..text.floor_char_boundary(room)];
        self.text.push_str(shown);
        if shown.len() < text.len() {
            self.text.push_str("\n[the rest is left out]");
        }
    }

    fn show(&mut self, media_type: String, data: String) {
        if self.images.len() < MAX_IMAGES && data.len() <= MAX_IMAGE {
            self.images.push((media_type, data));
        } else {
            self.say(&format!("[a picture that is left out, {media_type}]"));
        }
    }
}

/// A tool, if it can be offered at all.
pub(crate) fn tool(tool: Tool) -> Option<ToolInfo> {
    if tool.name.is_empty() || tool.name.len() > 128 {
        return None;
    }
    let mut schema = Value::Object((*tool.input_schema).clone());
    // Some servers leave it out for tools without arguments; models want it.
    if let Value::Object(fields) = &mut schema {
        fields.entry("type").or_insert_with(|| "object".into());
        fields.entry("properties").or_insert_with(|| Value::Object(Default::default()));
        fields.remove("$schema");
    }
    let mut description = tool.description.unwrap_or_default().into_owned();
    description.truncate(description.floor_char_boundary(MAX_DESCRIPTION));
    let read_only = tool.annotations.and_then(|hints| hints.read_only_hint).unwrap_or(false);
    Some(ToolInfo { name: tool.name.into_owned(), description, schema, read_only })
}
