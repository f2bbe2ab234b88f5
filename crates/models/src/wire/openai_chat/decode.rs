//! Answers: frames in, events out, with one small state machine for every server's way to send calls.

use protocol::Usage;
use serde::de::IgnoredAny;

use super::shape::{CallDelta, Choice, Chunk, Delta, part};
use crate::error::{classify, clean};
use crate::wire::ids::Fresh;
use crate::wire::loose::Loose;
use crate::wire::write::head;
use crate::wire::{Decode, Events, Progress};
use crate::{BlockKind, CallError, ModelEvent, StopReason};

#[derive(Debug, Default)]
pub(crate) struct Decoder {
    provider: String,
    next_block: usize,
    /// The block of text or thought that is being written.
    open: Option<(Voice, usize)>,
    calls: Vec<Call>,
    ids: Fresh,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    refused: bool,
    done: bool,
    ended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    Text,
    Thinking,
}

/// A call as far as it has come.
#[derive(Debug, Default)]
struct Call {
    wire_index: Option<u64>,
    wire_id: String,
    name: String,
    arguments: String,
    /// Set once the name is known, which begins the block.
    block: Option<usize>,
    closed: bool,
}

impl Decoder {
    pub(crate) fn new(provider: &str) -> Self {
        Self { provider: provider.to_owned(), ..Self::default() }
    }

    fn broken(&self, what: impl Into<String>) -> CallError {
        CallError::BrokenStream { provider: self.provider.clone(), what: what.into() }
    }

    fn read<'a>(&self, json: &'a str) -> Result<Chunk<'a>, CallError> {
        let chunk: Chunk<'a> = serde_json::from_str(json).map_err(|error| {
            self.broken(format!("a frame is not what it should be ({error}): {}", clean(head(json, 120))))
        })?;
        match chunk.error {
            Some(_) => Err(classify(&self.provider, "", None, None, json)),
            None => Ok(chunk),
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>, events: &mut Events) {
        let groq = chunk.x_groq.0.and_then(|groq| groq.usage.0);
        if let Some(usage) = chunk.usage.0.or(groq) {
            // The last one counts: some servers send running totals.
            self.usage = Some(usage.usage());
        }
        // We ask for one choice and get one.
        if let Some(choice) = chunk.choices.0 {
            self.choice(choice, events);
        }
    }

    fn choice(&mut self, choice: Choice<'_>, events: &mut Events) {
        if let Some(usage) = choice.usage.0 {
            self.usage = Some(usage.usage());
        }
        if let Some(delta) = choice.delta.or(choice.message) {
            self.delta(&delta, events);
        }
        if let Some(reason) = choice.finish_reason.text() {
            self.stop = Some(self.reason(reason));
            self.close(events);
        }
    }

    fn reason(&self, word: &str) -> StopReason {
        match word {
            "length" | "max_tokens" => StopReason::MaxTokens,
            "content_filter" | "refusal" => StopReason::Refused,
            // Many servers say `stop` after calls too.
            "stop" | "eos" | "end_turn" | "tool_calls" | "function_call" => self.natural_stop(),
            other => StopReason::Other(clean(other)),
        }
    }

    fn natural_stop(&self) -> StopReason {
        if self.refused {
            StopReason::Refused
        } else if self.calls.iter().any(|call| call.block.is_some()) {
            StopReason::ToolCalls
        } else {
            StopReason::EndTurn
        }
    }

    fn delta(&mut self, delta: &Delta<'_>, events: &mut Events) {
        // Some servers send both names with the same text, so the second is only read without the first.
        let thought = delta.reasoning_content.text().or_else(|| delta.reasoning.text());
        if let Some(text) = thought {
            self.say(Voice::Thinking, text, events);
        }
        match &delta.content {
            Loose::Text(text) => self.say(Voice::Text, text, events),
            Loose::Json(serde_json::Value::Array(parts)) => {
                for (thinks, text) in parts.iter().filter_map(part) {
                    self.say(if thinks { Voice::Thinking } else { Voice::Text }, &text, events);
                }
            }
            Loose::Nothing | Loose::Json(_) => {}
        }
        if let Some(text) = delta.refusal.text() {
            self.refused = true;
            self.say(Voice::Text, text, events);
        }
        for call in delta.tool_calls.iter().flatten() {
            self.call(call, events);
        }
    }

    fn say(&mut self, voice: Voice, text: &str, events: &mut Events) {
        if text.is_empty() {
            return;
        }
        let index = match self.open {
            Some((open, index)) if open == voice => index,
            _ => {
                self.hush(events);
                let index = self.begin(
                    match voice {
                        Voice::Text => BlockKind::Text,
                        Voice::Thinking => BlockKind::Thinking,
                    },
                    events,
                );
                self.open = Some((voice, index));
                index
            }
        };
        events.delta(index, text);
    }

    fn begin(&mut self, kind: BlockKind, events: &mut Events) -> usize {
        let index = self.next_block;
        self.next_block += 1;
        events.push(ModelEvent::BlockStart { index, kind });
        index
    }

    /// Ends the block of text or thought.
    fn hush(&mut self, events: &mut Events) {
        if let Some((_, index)) = self.open.take() {
            events.push(ModelEvent::BlockEnd { index });
        }
    }

    fn call(&mut self, delta: &CallDelta<'_>, events: &mut Events) {
        self.hush(events);
        let at = self.call_for(delta);
        if self.calls[at].closed {
            // More arguments after the stop: whoever acted on the end of the block has acted.
            return;
        }
        if let Some(id) = delta.id.text()
            && self.calls[at].wire_id.is_empty()
        {
            id.clone_into(&mut self.calls[at].wire_id);
        }
        let Some(function) = &delta.function else { return };
        if let Some(name) = function.name.text()
            && self.calls[at].name.is_empty()
        {
            name.clone_into(&mut self.calls[at].name);
        }
        let more = function.arguments.or_json();
        self.calls[at].arguments.push_str(&more);
        if let Some(index) = self.calls[at].block {
            if !more.is_empty() {
                events.delta(index, &more);
            }
        } else if !self.calls[at].name.is_empty() {
            let id = self.ids.id(&self.calls[at].wire_id);
            let index = self.begin(BlockKind::ToolCall { id, name: self.calls[at].name.clone() }, events);
            self.calls[at].block = Some(index);
            if !self.calls[at].arguments.is_empty() {
                events.delta(index, &self.calls[at].arguments);
            }
        }
    }

    /// Which call a delta belongs to, or a new one.
    ///
    /// The index should say, but servers leave it out or send 0 for all; the id should say, but servers leave it out,
    /// repeat it in every delta or use one twice. A delta that names a function begins a call if the one it would
    /// belong to has another name, or arguments that are already complete.
    fn call_for(&mut self, delta: &CallDelta<'_>) -> usize {
        let id = delta.id.text();
        let name = delta.function.as_ref().and_then(|function| function.name.text());
        let found = match (delta.index.0, id) {
            (Some(index), _) => self.calls.iter().rposition(|call| call.wire_index == Some(index)),
            (None, Some(id)) => self.calls.iter().rposition(|call| call.wire_id == id),
            (None, None) => self.calls.len().checked_sub(1),
        };
        if let Some(at) = found {
            let call = &self.calls[at];
            let other_id = id.is_some_and(|id| !call.wire_id.is_empty() && id != call.wire_id);
            let begins = name.is_some_and(|name| {
                !call.name.is_empty() && (other_id || name != call.name || is_complete(&call.arguments))
            });
            if !begins {
                return at;
            }
        }
        self.calls.push(Call { wire_index: delta.index.0, ..Call::default() });
        self.calls.len() - 1
    }

    fn close(&mut self, events: &mut Events) {
        self.hush(events);
        for call in &mut self.calls {
            if let (Some(index), false) = (call.block, call.closed) {
                call.closed = true;
                events.push(ModelEvent::BlockEnd { index });
            }
        }
    }
}

impl Decode for Decoder {
    fn frame(&mut self, _event: &str, data: &str, events: &mut Events) -> Result<(), CallError> {
        if data == "[DONE]" {
            self.done = true;
        } else if !data.is_empty() && !self.done {
            let chunk = self.read(data)?;
            self.chunk(chunk, events);
        }
        Ok(())
    }

    fn whole(&mut self, body: &str, events: &mut Events) -> Result<(), CallError> {
        let chunk = self.read(body)?;
        if chunk.choices.0.is_none() {
            return Err(self.broken("the answer has no choices"));
        }
        self.chunk(chunk, events);
        self.done = true;
        Ok(())
    }

    fn progress(&self) -> Progress {
        match (self.done, &self.stop) {
            (true, _) => Progress::Done,
            (false, Some(_)) => Progress::Stopped,
            (false, None) => Progress::Running,
        }
    }

    fn end(&mut self, events: &mut Events) -> Result<(), CallError> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        if self.progress() == Progress::Running {
            return Err(self.broken("the connection ended before the model stopped"));
        }
        self.close(events);
        if let Some(usage) = self.usage.take() {
            events.push(ModelEvent::Usage(usage));
        }
        let stop = self.stop.take().unwrap_or_else(|| self.natural_stop());
        events.push(ModelEvent::Stop(stop.into()));
        Ok(())
    }
}

/// Whether a text is JSON to its end. Looks at the last character first, because it is asked for growing texts.
fn is_complete(arguments: &str) -> bool {
    arguments.trim_end().ends_with('}') && serde_json::from_str::<IgnoredAny>(arguments).is_ok()
}

#[cfg(test)]
mod tests;
