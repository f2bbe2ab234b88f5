//! What a model answers, piece by piece, and the message it adds up to.

use std::time::Duration;

use protocol::{ModelRef, Usage};
use serde_json::Value;

use crate::{Block, ToolCall};

/// A step of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEvent {
    /// A block begins. Several may be open at once: parallel calls are.
    BlockStart { index: usize, kind: BlockKind },
    /// More of a block: text, thought, or text of a call's arguments. What one read of the network brought for a block
    /// is one delta, however many the provider sent.
    Delta { index: usize, text: String },
    /// Nothing more comes for this block.
    BlockEnd { index: usize },
    /// What the answer cost, once, before the stop.
    Usage(Usage),
    /// The answer is complete; the last event.
    Stop(Ending),
    /// The answer failed and is asked for anew after `wait`: drop all of it that you have. `shown` says whether there
    /// was anything.
    Restart { attempt: u32, reason: String, wait: Duration, shown: bool },
    /// Another model answers from here on, at once: drop all of the answer that you have.
    Switch { from: ModelRef, to: ModelRef, reason: String, shown: bool },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    Text,
    Thinking,
    /// The id is unique within the answer, whatever the provider sent.
    ToolCall {
        id: String,
        name: String,
    },
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    EndTurn,
    ToolCalls,
    MaxTokens,
    /// The model or its provider declined.
    Refused,
    Other(String),
}

/// How a complete answer ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    pub reason: StopReason,
    /// What the provider wants back verbatim with the next request, in the order of blocks. It comes last because only
    /// a complete answer is sent back with it. Whoever keeps answers keeps this too.
    pub replay: Vec<Replay>,
}

/// A provider's own data for one block of its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// The block that it belongs to. One that never began has nothing to show, and its place is in this order.
    pub index: usize,
    pub data: Value,
}

impl From<StopReason> for Ending {
    fn from(reason: StopReason) -> Self {
        Self { reason, replay: Vec::new() }
    }
}

/// Adds up events to a message. Feed it everything: a restart empties it.
#[derive(Debug, Default)]
pub struct Answer {
    blocks: Vec<(usize, BlockKind, String)>,
    replay: Vec<Replay>,
    pub usage: Usage,
    pub stop: Option<StopReason>,
}

impl Answer {
    pub fn apply(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::BlockStart { index, kind } => self.blocks.push((*index, kind.clone(), String::new())),
            ModelEvent::Delta { index, text } => {
                // The newest first: deltas nearly always belong to it.
                if let Some((.., all)) = self.blocks.iter_mut().rev().find(|(at, ..)| at == index) {
                    all.push_str(text);
                }
            }
            ModelEvent::BlockEnd { .. } => {}
            ModelEvent::Usage(usage) => self.usage = *usage,
            ModelEvent::Stop(ending) => {
                self.stop = Some(ending.reason.clone());
                self.replay.clone_from(&ending.replay);
            }
            ModelEvent::Restart { .. } | ModelEvent::Switch { .. } => *self = Self::default(),
        }
    }

    /// The text so far.
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter(|(_, kind, _)| *kind == BlockKind::Text);
        texts.map(|(.., text)| text.as_str()).collect()
    }

    /// The blocks so far, for [`crate::Message::assistant`]. Arguments that are not JSON become a string.
    pub fn into_blocks(mut self) -> Vec<Block> {
        // Providers may begin a block late that stands early.
        self.blocks.sort_by_key(|(index, ..)| *index);
        self.replay.sort_by_key(|replay| replay.index);
        let mut replays = self.replay.into_iter().peekable();
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for (index, kind, text) in self.blocks {
            while let Some(hidden) = replays.next_if(|replay| replay.index < index) {
                blocks.push(Block::Replay(hidden.data));
            }
            let own = replays.next_if(|replay| replay.index == index).map(|replay| replay.data);
            match kind {
                BlockKind::Thinking => blocks.push(Block::Thinking { text, replay: own }),
                BlockKind::Text => {
                    blocks.push(Block::Text(text));
                    blocks.extend(own.map(Block::Replay));
                }
                BlockKind::ToolCall { id, name } => {
                    blocks.push(Block::ToolCall(ToolCall { id, name, arguments: arguments(text) }));
                    blocks.extend(own.map(Block::Replay));
                }
            }
        }
        blocks.extend(replays.map(|hidden| Block::Replay(hidden.data)));
        blocks
    }
}

fn arguments(text: String) -> Value {
    // A call without arguments is often sent as nothing at all.
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}
