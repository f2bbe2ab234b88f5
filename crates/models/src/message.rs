//! What was said: messages and the blocks they are made of, whichever provider said or hears them.

use std::borrow::Cow;
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
    /// A provider's own data that goes back to it as it came and to nobody else: for the text or call before it, or,
    /// where that makes no sense to the provider, for itself (a thought that was hidden from us).
    Replay(Value),
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
    /// Whether there is a provider's own data, which makes a piece good for that provider only.
    replays: bool,
    pieces: [OnceLock<Piece>; Dialect::COUNT],
    weight: OnceLock<f64>,
}

/// A serialised form.
#[derive(Debug, Clone)]
struct Piece {
    /// Whom it was made for, if that matters.
    origin: Option<Box<str>>,
    text: Box<str>,
}

/// A way to serialise messages: a wire, or a variant of one. The key of a message's pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    OpenAiChat,
    /// With thoughts sent back.
    OpenAiChatThinking,
    /// With ids of nine characters.
    OpenAiChatShortIds,
    OpenAiChatThinkingShortIds,
    OpenAiResponses,
    Anthropic,
    Gemini,
    /// With a signature on every step that calls, because this generation refuses calls without.
    GeminiSigned,
}

impl Dialect {
    const COUNT: usize = 8;
}

impl Message {
    pub fn new(role: Role, blocks: Vec<Block>) -> Arc<Self> {
        let replays = blocks
            .iter()
            .any(|block| matches!(block, Block::Replay(_) | Block::Thinking { replay: Some(_), .. }));
        Arc::new(Self { role, blocks, replays, pieces: Default::default(), weight: OnceLock::new() })
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

    /// The serialised form for a provider, kept from the first time.
    pub(crate) fn piece(
        &self,
        dialect: Dialect,
        origin: &str,
        make: impl Fn(&Self) -> String,
    ) -> Cow<'_, str> {
        let piece = self.pieces[dialect as usize].get_or_init(|| Piece {
            origin: self.replays.then(|| origin.into()),
            text: make(self).into_boxed_str(),
        });
        match &piece.origin {
            Some(other) if **other != *origin => Cow::Owned(make(self)),
            _ => Cow::Borrowed(&piece.text),
        }
    }

    /// What it counts in an estimate, kept from the first time.
    pub(crate) fn weight(&self, make: impl FnOnce(&Self) -> f64) -> f64 {
        *self.weight.get_or_init(|| make(self))
    }
}

impl Clone for Message {
    fn clone(&self) -> Self {
        Self {
            role: self.role,
            blocks: self.blocks.clone(),
            replays: self.replays,
            pieces: self.pieces.clone(),
            weight: self.weight.clone(),
        }
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
