//! Answers: blocks by their index, several of which may be open at once.

mod shape;

use serde_json::{Value, json};

use self::shape::{Delta, Event, Message};
use crate::error::clean;
use crate::wire::draft::Draft;
use crate::wire::{Decode, Events, Progress};
use crate::{BlockKind, CallError, ModelEvent, StopReason};

#[derive(Debug, Default)]
pub(super) struct Decoder {
    draft: Draft,
    slots: Vec<Slot>,
    usage: shape::Usage,
    counted: bool,
}

/// A block of the wire.
#[derive(Debug)]
struct Slot {
    /// The wire's own number for it.
    wire: Option<u64>,
    block: usize,
    kind: Kind,
    /// Whether the block began for whoever listens: texts begin when they have some.
    begun: bool,
    open: bool,
}

#[derive(Debug)]
enum Kind {
    Text,
    Thinking {
        signature: String,
    },
    /// With arguments that came at once, in case none come piece by piece.
    Call {
        input: Option<String>,
    },
    /// Nothing to show, and to be sent back as it is: a thought that was hidden from us, a server's own tool.
    Hidden {
        block: Value,
        input: String,
        whole: bool,
    },
}

impl Decoder {
    pub(super) fn new(provider: &str, origin: &str) -> Self {
        Self { draft: Draft::new(provider, origin), ..Self::default() }
    }

    fn event(
        &mut self,
        event: &Event<'_>,
        name: &str,
        json: &str,
        events: &mut Events,
    ) -> Result<(), CallError> {
        match event.kind.text().unwrap_or(name) {
            "content_block_delta" => {
                if let Some(delta) = &event.delta.0 {
                    self.delta(event.index.0, delta, events);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    let block = self.draft.read(block.get())?;
                    self.start(event.index.0, block, events);
                }
            }
            "content_block_stop" => {
                if let Some(at) = self.find(event.index.0) {
                    self.close(at, events);
                }
            }
            "message_start" => {
                if let Some(message) = event.message {
                    let message: Message<'_> = self.draft.read(message.get())?;
                    self.count(message.usage.0);
                }
            }
            "message_delta" => {
                self.count(event.usage.0.clone());
                if let Some(reason) = event.delta.0.as_ref().and_then(|delta| delta.stop_reason.text()) {
                    self.stopped(reason);
                }
            }
            "message_stop" => self.draft.done = true,
            "error" => return Err(self.draft.failed(json)),
            // Pings, and what will be invented.
            _ if event.error.is_some() => return Err(self.draft.failed(json)),
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, usage: Option<shape::Usage>) {
        if let Some(usage) = usage {
            self.usage.update(&usage);
            self.counted = true;
        }
    }

    fn stopped(&mut self, word: &str) {
        self.draft.stop = Some(match word {
            // Not every server of this format says `tool_use` after calls.
            "end_turn" | "stop_sequence" | "tool_use" => self.draft.natural_stop(),
            "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
            "refusal" => StopReason::Refused,
            other => StopReason::Other(clean(other)),
        });
    }

    /// The block with this number: the newest, because careless servers use one twice.
    fn find(&self, wire: Option<u64>) -> Option<usize> {
        self.slots.iter().rposition(|slot| slot.wire == wire)
    }

    fn slot(&mut self, wire: Option<u64>, kind: Kind) -> usize {
        let block = self.draft.number();
        self.slots.push(Slot { wire, block, kind, begun: false, open: true });
        self.slots.len() - 1
    }

    fn start(&mut self, wire: Option<u64>, block: Value, events: &mut Events) {
        if let Some(at) = self.find(wire) {
            self.close(at, events);
        }
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        match block["type"].as_str().unwrap_or_default() {
            "text" => {
                let at = self.slot(wire, Kind::Text);
                self.say(at, &text("text"), events);
            }
            "thinking" => {
                let at = self.slot(wire, Kind::Thinking { signature: text("signature") });
                self.say(at, &text("thinking"), events);
            }
            "tool_use" if block["name"].as_str().is_some_and(|name| !name.is_empty()) => {
                let input = match &block["input"] {
                    Value::Object(fields) if fields.is_empty() => None,
                    Value::Null => None,
                    Value::String(text) => Some(text.clone()),
                    other => Some(other.to_string()),
                };
                let at = self.slot(wire, Kind::Call { input });
                self.slots[at].begun = true;
                self.draft.call(self.slots[at].block, &text("id"), &text("name"), events);
            }
            // A call of nothing is nothing.
            "tool_use" => {}
            "redacted_thinking" => {
                let block = json!({"type": "redacted_thinking", "data": block["data"]});
                self.slot(wire, Kind::Hidden { block, input: String::new(), whole: true });
            }
            _ => {
                self.slot(wire, Kind::Hidden { block, input: String::new(), whole: true });
            }
        }
    }

    fn delta(&mut self, wire: Option<u64>, delta: &Delta<'_>, events: &mut Events) {
        let kind = delta.kind.str();
        let Some(at) = self.find(wire).filter(|at| self.slots[*at].open) else {
            // Some servers begin to talk without beginning a block.
            let (kind, text) = match kind {
                "text_delta" => (Kind::Text, delta.text.str()),
                "thinking_delta" => (Kind::Thinking { signature: String::new() }, delta.thinking.str()),
                _ => return,
            };
            let at = self.slot(wire, kind);
            self.say(at, text, events);
            return;
        };
        match (&mut self.slots[at].kind, kind) {
            (Kind::Text, "text_delta") => self.say(at, delta.text.str(), events),
            (Kind::Thinking { .. }, "thinking_delta") => self.say(at, delta.thinking.str(), events),
            (Kind::Thinking { signature }, "signature_delta") => signature.push_str(delta.signature.str()),
            (Kind::Call { input }, "input_json_delta") => {
                let more = delta.partial_json.or_json();
                if !more.is_empty() {
                    *input = None;
                    events.delta(self.slots[at].block, &more);
                }
            }
            (Kind::Hidden { input, .. }, "input_json_delta") => input.push_str(&delta.partial_json.or_json()),
            // A part of it was not understood, so it can not be sent back.
            (Kind::Hidden { whole, .. }, _) => *whole = false,
            // Citations and the like.
            _ => {}
        }
    }

    fn say(&mut self, at: usize, text: &str, events: &mut Events) {
        if text.is_empty() {
            return;
        }
        let slot = &mut self.slots[at];
        if !std::mem::replace(&mut slot.begun, true) {
            let kind = match slot.kind {
                Kind::Thinking { .. } => BlockKind::Thinking,
                _ => BlockKind::Text,
            };
            events.push(ModelEvent::BlockStart { index: slot.block, kind });
        }
        events.delta(slot.block, text);
    }

    fn close(&mut self, at: usize, events: &mut Events) {
        let slot = &mut self.slots[at];
        if !std::mem::replace(&mut slot.open, false) {
            return;
        }
        let (block, begun) = (slot.block, slot.begun);
        match &mut slot.kind {
            Kind::Text => {}
            Kind::Thinking { signature } if signature.is_empty() => {}
            Kind::Thinking { signature } => {
                let mut data =
                    json!({"type": "thinking", "thinking": "", "signature": std::mem::take(signature)});
                if begun {
                    // The text is the block's own, and is put in when it is sent.
                    data["thinking"] = Value::Null;
                }
                self.draft.keep(block, data);
            }
            Kind::Call { input } => {
                if let Some(input) = input.take() {
                    events.delta(block, &input);
                }
            }
            Kind::Hidden { block: hidden, input, whole } => {
                let parsed = (!input.is_empty()).then(|| serde_json::from_str(input));
                match parsed {
                    Some(Ok(input)) => hidden["input"] = input,
                    Some(Err(_)) => *whole = false,
                    None => {}
                }
                if *whole && hidden.is_object() {
                    let hidden = std::mem::take(hidden);
                    self.draft.keep(block, hidden);
                }
            }
        }
        if begun {
            events.push(ModelEvent::BlockEnd { index: block });
        }
    }
}

impl Decode for Decoder {
    fn frame(&mut self, event: &str, data: &str, events: &mut Events) -> Result<(), CallError> {
        if data.is_empty() || data == "[DONE]" || self.draft.done {
            return Ok(());
        }
        let read: Event<'_> = self.draft.read(data)?;
        self.event(&read, event, data, events)
    }

    fn whole(&mut self, body: &str, events: &mut Events) -> Result<(), CallError> {
        let message: Message<'_> = self.draft.read(body)?;
        if message.error.is_some() {
            return Err(self.draft.failed(body));
        }
        let Some(content) = message.content else {
            return Err(self.draft.broken("the answer has no content"));
        };
        for (at, block) in content.into_iter().enumerate() {
            self.start(Some(at as u64), block, events);
            if let Some(at) = self.find(Some(at as u64)) {
                self.close(at, events);
            }
        }
        self.count(message.usage.0);
        self.stopped(message.stop_reason.text().unwrap_or("end_turn"));
        self.draft.done = true;
        Ok(())
    }

    fn progress(&self) -> Progress {
        self.draft.progress()
    }

    fn end(&mut self, events: &mut Events) -> Result<(), CallError> {
        if !self.draft.may_end()? {
            return Ok(());
        }
        (0..self.slots.len()).for_each(|at| self.close(at, events));
        if self.counted {
            self.draft.usage = Some(self.usage.normal());
        }
        self.draft.end(events);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
