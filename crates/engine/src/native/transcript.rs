//! The conversation as a model is sent it, built from the session's events.

use std::sync::Arc;

use base64::Engine as _;
use models::{Block, ImageData, Message, Role, ToolCall, ToolResult};
use protocol::{
    BlobRef, Content, Event, EventBody, MessageId, Source, ToolCallUpdate, ToolContent, ToolStatus,
    VerbatimItem,
};

use super::calls::dispatch;
use super::verbatim;

/// Reads what a log keeps beside itself.
pub(super) type Blobs<'a> = dyn Fn(&BlobRef) -> Option<Vec<u8>> + Send + Sync + 'a;

/// Messages in order, each call with its result: any model accepts it, whatever happened.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    messages: Vec<Arc<Message>>,
}

impl Transcript {
    pub(super) fn from_events(events: &[Event], blobs: &Blobs<'_>) -> Self {
        let mut builder = Builder::default();
        for event in events {
            builder.event(&event.body, blobs);
        }
        builder.finish()
    }

    pub(super) fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    pub(super) fn push_prompt(&mut self, prompt: &[Content], blobs: &Blobs<'_>) {
        // Some models refuse two prompts in a row, as an interrupted turn leaves them.
        if self.messages.last().is_some_and(|message| message.role() == Role::User) {
            self.messages.push(Message::assistant(vec![Block::Text("(interrupted)".to_owned())]));
        }
        let blocks = prompt.iter().filter_map(|content| block(content, blobs)).collect();
        self.messages.push(Message::new(Role::User, blocks));
    }

    /// One step of the agent: what the model said, and what came of its calls.
    pub(super) fn push_step(&mut self, blocks: Vec<Block>, mut results: Vec<ToolResult>) {
        let blocks = without_empty(blocks);
        if blocks.is_empty() {
            return;
        }
        let calls = blocks
            .iter()
            .filter_map(|block| if let Block::ToolCall(call) = block { Some(call) } else { None });
        let mut answered = Vec::new();
        for call in calls {
            let found = results.iter().position(|result| result.call == call.id);
            answered.push(match found {
                Some(at) => results.swap_remove(at),
                None => ToolResult::error(&call.id, "interrupted before it finished"),
            });
        }
        self.messages.push(Message::assistant(blocks));
        if !answered.is_empty() {
            self.messages.push(Message::results(answered));
        }
    }
}

/// Blocks that say nothing are in no event, and models refuse them.
pub(super) fn without_empty(mut blocks: Vec<Block>) -> Vec<Block> {
    blocks.retain(|block| match block {
        Block::Text(text) | Block::Thinking { text, replay: None } => !text.is_empty(),
        _ => true,
    });
    blocks
}

/// Groups the events of a log into steps.
#[derive(Default)]
struct Builder {
    transcript: Transcript,
    blocks: Vec<(Option<MessageId>, Block)>,
    results: Vec<ToolResult>,
    /// What goes back to the provider with this step.
    verbatim: Vec<VerbatimItem>,
}

impl Builder {
    fn event(&mut self, body: &EventBody, blobs: &Blobs<'_>) {
        match body {
            EventBody::UserPrompt(prompt) => {
                self.close_step();
                self.transcript.push_prompt(&prompt.content, blobs);
            }
            EventBody::AgentMessage(chunk) => self.say(&chunk.message, &chunk.text, Block::Text),
            EventBody::AgentThought(chunk) => {
                self.say(&chunk.message, &chunk.text, |text| Block::Thinking { text, replay: None });
            }
            EventBody::Retract(retract) => {
                self.blocks.retain(|(id, _)| id.as_ref() != Some(&retract.message))
            }
            EventBody::ToolCall(call) => {
                self.close_step_with_results();
                let id = call.call.as_str().to_owned();
                let (name, arguments) = match &call.via {
                    Some(via) => (via.clone(), dispatch(call.name.clone(), call.input.clone())),
                    None => (call.name.clone(), call.input.clone()),
                };
                self.blocks.push((None, Block::ToolCall(ToolCall { id, name, arguments })));
            }
            EventBody::ToolCallUpdate(update) => self.results.extend(result(update, blobs)),
            EventBody::Verbatim(verbatim) => self.verbatim.clone_from(&verbatim.items),
            EventBody::TurnEnd(_) => self.close_step(),
            _ => {}
        }
    }

    fn say(&mut self, message: &MessageId, piece: &str, make: impl FnOnce(String) -> Block) {
        let known = self.blocks.iter_mut().rev().find(|(id, _)| id.as_ref() == Some(message));
        if let Some((_, Block::Text(text) | Block::Thinking { text, .. })) = known {
            text.push_str(piece);
            return;
        }
        self.close_step_with_results();
        self.blocks.push((Some(message.clone()), make(piece.to_owned())));
    }

    /// Anything that the agent says after a result belongs to its next step.
    fn close_step_with_results(&mut self) {
        if !self.results.is_empty() {
            self.close_step();
        }
    }

    fn close_step(&mut self) {
        let visible = std::mem::take(&mut self.blocks).into_iter().map(|(_, block)| block);
        let blocks = verbatim::restore(visible, std::mem::take(&mut self.verbatim));
        self.transcript.push_step(blocks, std::mem::take(&mut self.results));
    }

    fn finish(mut self) -> Transcript {
        self.close_step();
        self.transcript
    }
}

fn result(update: &ToolCallUpdate, blobs: &Blobs<'_>) -> Option<ToolResult> {
    let status = update.status.filter(|status| status.is_final())?;
    let mut text = String::new();
    let mut images = Vec::new();
    for content in update.content.iter().flatten() {
        let ToolContent::Content { content } = content else { continue };
        match block(content, blobs) {
            Some(Block::Text(piece)) => text.push_str(&piece),
            Some(Block::Image(image)) => images.push(image),
            _ => {}
        }
    }
    let is_error = status == ToolStatus::Failed;
    Some(ToolResult { call: update.call.as_str().to_owned(), text, images, is_error })
}

fn block(content: &Content, blobs: &Blobs<'_>) -> Option<Block> {
    Some(match content {
        Content::Text { text } => Block::Text(text.clone()),
        Content::Image(image) => {
            let data = match &image.source {
                Source::Data(data) => data.clone(),
                Source::Blob(blob) => base64::engine::general_purpose::STANDARD.encode(blobs(blob)?),
            };
            Block::Image(ImageData { media_type: image.media_type.clone(), data: data.into() })
        }
        Content::Resource(resource) => {
            // The text beside a blob is only its beginning.
            let whole = resource
                .blob
                .as_ref()
                .and_then(blobs)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let text =
                whole.or_else(|| resource.text.clone()).unwrap_or_else(|| format!("[{}]", resource.uri));
            Block::Text(text)
        }
        Content::Other(_) => return None,
    })
}
