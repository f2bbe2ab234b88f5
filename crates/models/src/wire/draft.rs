//! What decoders keep of an answer while it comes.

use protocol::Usage;
use serde::Deserialize;
use serde_json::Value;

use super::ids::Fresh;
use super::write::head;
use super::{Events, Progress, mark};
use crate::error::{classify, clean};
use crate::{BlockKind, CallError, Ending, ModelEvent, Replay, StopReason};

#[derive(Debug, Default)]
pub(super) struct Draft {
    provider: String,
    origin: String,
    next_block: usize,
    ids: Fresh,
    replay: Vec<Replay>,
    pub(super) usage: Option<Usage>,
    pub(super) stop: Option<StopReason>,
    /// The model said no.
    pub(super) refused: bool,
    /// The provider said that this is all.
    pub(super) done: bool,
    ended: bool,
}

impl Draft {
    pub(super) fn new(provider: &str, origin: &str) -> Self {
        Self { provider: provider.to_owned(), origin: origin.to_owned(), ..Self::default() }
    }

    pub(super) fn broken(&self, what: impl Into<String>) -> CallError {
        CallError::BrokenStream { provider: self.provider.clone(), what: what.into() }
    }

    pub(super) fn refusal(&self, message: String) -> CallError {
        CallError::Refused { provider: self.provider.clone(), message }
    }

    /// An error of the provider inside an answer.
    pub(super) fn failed(&self, json: &str) -> CallError {
        classify(&self.provider, "", None, None, json)
    }

    pub(super) fn read<'a, T: Deserialize<'a>>(&self, json: &'a str) -> Result<T, CallError> {
        serde_json::from_str(json).map_err(|error| {
            self.broken(format!("a frame is not what it should be ({error}): {}", clean(head(json, 120))))
        })
    }

    /// The number of the next block.
    pub(super) fn number(&mut self) -> usize {
        self.next_block += 1;
        self.next_block - 1
    }

    /// Begins a call, with an id that is its own.
    pub(super) fn call(&mut self, index: usize, id: &str, name: &str, events: &mut Events) {
        let kind = BlockKind::ToolCall { id: self.ids.id(id), name: name.to_owned() };
        events.push(ModelEvent::BlockStart { index, kind });
    }

    pub(super) fn has_calls(&self) -> bool {
        self.ids.any()
    }

    /// Keeps what must go back with a block. The last word counts.
    pub(super) fn keep(&mut self, index: usize, data: Value) {
        self.replay.retain(|replay| replay.index != index);
        self.replay.push(Replay { index, data: mark(&self.origin, data) });
    }

    /// Why it stopped when the provider's word for it means no more than that it did.
    pub(super) fn natural_stop(&self) -> StopReason {
        if self.refused {
            StopReason::Refused
        } else if self.has_calls() {
            StopReason::ToolCalls
        } else {
            StopReason::EndTurn
        }
    }

    pub(super) fn progress(&self) -> Progress {
        match (self.done, &self.stop) {
            (true, _) => Progress::Done,
            (false, Some(_)) => Progress::Stopped,
            (false, None) => Progress::Running,
        }
    }

    /// The last events. `false` if they were told before.
    pub(super) fn may_end(&mut self) -> Result<bool, CallError> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(false);
        }
        if self.progress() == Progress::Running {
            return Err(self.broken("the connection ended before the model stopped"));
        }
        Ok(true)
    }

    pub(super) fn end(&mut self, events: &mut Events) {
        if let Some(usage) = self.usage.take() {
            events.push(ModelEvent::Usage(usage));
        }
        let reason = self.stop.take().unwrap_or_else(|| self.natural_stop());
        let mut replay = std::mem::take(&mut self.replay);
        replay.sort_by_key(|replay| replay.index);
        events.push(ModelEvent::Stop(Ending { reason, replay }));
    }
}
