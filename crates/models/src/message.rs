//! What was said: messages and the blocks they are made of, whichever provider said or hears them.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

/// Whose words a message holds. The system prompt is not a message: it is a part of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
    /// Results of the calls in the assistant message before.
    Tool,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    Text(String),
    Image(ImageData),
    /// What the model thought. `replay` is the provider's own data for it, kept as it came and sent back verbatim,
    /// because some providers check that their thoughts were not touched.
    Thinking {
        text: String,
        replay: Option<Value>,
    },
    ToolCall(ToolCall),
    ToolResult(ToolResult),
}

/// A picture in base64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageData {
    /// Such as `image/png`.
    pub media_type: String,
    pub data: Arc<str>,
}

/// What the model wants done.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    /// An object. When the model wrote something that is not JSON, a string with what it wrote.
    pub arguments: Value,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The id of the [`ToolCall`] that this answers.
    pub call: String,
    pub text: String,
    pub images: Vec<ImageData>,
    pub is_error: bool,
}

/// A message, with its serialised forms.
///
/// A history is sent again with every step, so each message is serialised once for each wire and kept: a request is
/// put together from finished pieces. That is why a message can not be changed, and is held as `Arc<Message>`.
#[derive(Debug)]
pub struct Message {
    role: Role,
    blocks: Vec<Block>,
    pieces: [OnceLock<Box<str>>; Dialect::COUNT],
}

/// A way to serialise messages: a wire, or a variant of one. The key of a message's pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    OpenAiChat,
    /// With thoughts sent back.
    OpenAiChatThinking,
}

impl Dialect {
    const COUNT: usize = 2;
}

impl Message {
    pub fn new(role: Role, blocks: Vec<Block>) -> Arc<Self> {
        Arc::new(Self { role, blocks, pieces: Default::default() })
    }

    pub fn user(text: impl Into<String>) -> Arc<Self> {
        Self::new(Role::User, vec![Block::Text(text.into())])
    }

    pub fn assistant(blocks: Vec<Block>) -> Arc<Self> {
        Self::new(Role::Assistant, blocks)
    }

    pub fn results(results: impl IntoIterator<Item = ToolResult>) -> Arc<Self> {
        Self::new(Role::Tool, results.into_iter().map(Block::ToolResult).collect())
    }

    pub fn role(&self) -> Role {
        self.role
    }

    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// All text blocks, joined.
    pub fn text(&self) -> String {
        self.blocks
            .iter()
            .filter_map(|block| if let Block::Text(text) = block { Some(text.as_str()) } else { None })
            .collect()
    }

    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks
            .iter()
            .filter_map(|block| if let Block::ToolCall(call) = block { Some(call) } else { None })
    }

    /// The serialised form, made the first time.
    pub(crate) fn piece(&self, dialect: Dialect, make: impl FnOnce(&Self) -> String) -> &str {
        self.pieces[dialect as usize].get_or_init(|| make(self).into_boxed_str())
    }
}

impl Clone for Message {
    fn clone(&self) -> Self {
        Self { role: self.role, blocks: self.blocks.clone(), pieces: self.pieces.clone() }
    }
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.role == other.role && self.blocks == other.blocks
    }
}

impl ToolResult {
    pub fn text(call: impl Into<String>, text: impl Into<String>) -> Self {
        Self { call: call.into(), text: text.into(), images: Vec::new(), is_error: false }
    }

    pub fn error(call: impl Into<String>, text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(call, text) }
    }
}
