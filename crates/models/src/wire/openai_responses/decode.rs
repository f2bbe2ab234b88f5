//! Answers: items, of which several may be open at once. Every item is told piece by piece and then again as a whole,
//! and all of them once more at the end, so what one telling leaves out is taken from the next.

mod shape;

use serde_json::{Value, json};

use self::shape::{Event, Item, Response};
use crate::error::clean;
use crate::wire::draft::Draft;
use crate::wire::{Decode, Events, Progress};
use crate::{BlockKind, CallError, ModelEvent, StopReason};

#[derive(Debug, Default)]
pub(super) struct Decoder {
    draft: Draft,
    slots: Vec<Slot>,
}

/// An item of the wire.
#[derive(Debug)]
struct Slot {
    /// Its place. Not every server tells it.
    place: Option<u64>,
    /// Its id. At least one gateway changes it from event to event, so the place goes before it.
    id: String,
    kind: Kind,
    block: usize,
    begun: bool,
    open: bool,
    /// The part of a summary that is being written.
    part: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    Call,
    /// A kind that we do not know.
    Other,
}

impl Kind {
    fn of(word: &str) -> Self {
        match word {
            "message" => Self::Text,
            "reasoning" => Self::Thinking,
            "function_call" => Self::Call,
            _ => Self::Other,
        }
    }
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
            "response.output_text.delta" => self.text(event, Kind::Text, events),
            "response.refusal.delta" => {
                self.draft.refused = true;
                self.text(event, Kind::Text, events);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.text(event, Kind::Thinking, events);
            }
            "response.function_call_arguments.delta" => {
                if let Some(at) = self.find(event, Kind::Call) {
                    self.say(at, &event.delta.or_json(), events);
                }
            }
            "response.function_call_arguments.done" => {
                if let Some(at) = self.find(event, Kind::Call)
                    && !self.slots[at].begun_text()
                {
                    self.say(at, &event.arguments.or_json(), events);
                }
            }
            "response.output_item.added" => {
                if let Some(item) = event.item {
                    let item: Item<'_> = self.draft.read(item.get())?;
                    self.add(event.output_index.0, &item, events);
                }
            }
            "response.output_item.done" => {
                if let Some(raw) = event.item {
                    let item: Item<'_> = self.draft.read(raw.get())?;
                    self.item(event.output_index.0, &item, raw.get(), events);
                }
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                if let Some(response) = event.response {
                    let response: Response<'_> = self.draft.read(response.get())?;
                    self.response(&response, events)?;
                }
                self.draft.done = true;
            }
            "response.failed" => {
                let error = match event.response {
                    Some(response) => self.draft.read::<Response<'_>>(response.get())?.error,
                    None => event.error,
                };
                return Err(self.draft.failed(error.map_or(json, |error| error.get())));
            }
            "error" => return Err(self.draft.failed(json)),
            _ if event.error.is_some() => return Err(self.draft.failed(json)),
            _ => {}
        }
        Ok(())
    }

    /// The item that an event is about.
    fn find(&self, event: &Event<'_>, kind: Kind) -> Option<usize> {
        let same = |slot: &Slot| match (event.output_index.0, slot.place, event.item_id.text()) {
            (Some(place), Some(known), _) => place == known,
            (_, _, Some(id)) => slot.id == id,
            _ => true,
        };
        self.slots.iter().rposition(|slot| slot.kind == kind && same(slot))
    }

    fn text(&mut self, event: &Event<'_>, kind: Kind, events: &mut Events) {
        let at = match self.find(event, kind) {
            Some(at) => at,
            // Some servers begin to talk without adding an item.
            None => self.slot(event.output_index.0, event.item_id.str(), kind),
        };
        let part = event.summary_index.0;
        let slot = &mut self.slots[at];
        let next_part = slot.begun && part.is_some() && part != slot.part;
        slot.part = part.or(slot.part);
        if next_part && slot.open {
            events.delta(slot.block, "\n\n");
        }
        self.say(at, &event.delta.or_json(), events);
    }

    fn slot(&mut self, place: Option<u64>, id: &str, kind: Kind) -> usize {
        let block = self.draft.number();
        self.slots.push(Slot { place, id: id.to_owned(), kind, block, begun: false, open: true, part: None });
        self.slots.len() - 1
    }

    fn add(&mut self, place: Option<u64>, item: &Item<'_>, events: &mut Events) -> Option<usize> {
        let kind = Kind::of(item.kind.str());
        if kind == Kind::Call && item.name.text().is_none() {
            return None;
        }
        let at = self.slot(place, item.id.str(), kind);
        if kind == Kind::Call {
            self.draft.call(self.slots[at].block, item.call_id.str(), item.name.str(), events);
        }
        Some(at)
    }

    fn say(&mut self, at: usize, text: &str, events: &mut Events) {
        let slot = &mut self.slots[at];
        if text.is_empty() || !slot.open {
            return;
        }
        if !std::mem::replace(&mut slot.begun, true) && slot.kind != Kind::Call {
            let kind = if slot.kind == Kind::Thinking { BlockKind::Thinking } else { BlockKind::Text };
            events.push(ModelEvent::BlockStart { index: slot.block, kind });
        }
        events.delta(slot.block, text);
    }

    /// A finished item: what was not told of it yet, and what goes back.
    fn item(&mut self, place: Option<u64>, item: &Item<'_>, json: &str, events: &mut Events) {
        let kind = Kind::of(item.kind.str());
        let same = |slot: &Slot| match (place, slot.place, item.id.text()) {
            (Some(place), Some(known), _) => place == known,
            (_, _, Some(id)) => slot.id == id,
            _ => slot.open,
        };
        let found = self.slots.iter().rposition(|slot| slot.kind == kind && same(slot));
        let Some(at) = found.or_else(|| self.add(place, item, events)) else { return };
        if !self.slots[at].open {
            return;
        }
        if !self.slots[at].begun_text() {
            match kind {
                Kind::Text => {
                    for part in item.content.parts() {
                        self.draft.refused |= part["type"] == "refusal";
                        let text = part["text"].as_str().or_else(|| part["refusal"].as_str());
                        self.say(at, text.unwrap_or_default(), events);
                    }
                }
                Kind::Thinking => {
                    let parts = if item.summary.parts().is_empty() { &item.content } else { &item.summary };
                    let texts: Vec<_> =
                        parts.parts().iter().filter_map(|part| part["text"].as_str()).collect();
                    self.say(at, &texts.join("\n\n"), events);
                }
                Kind::Call => self.say(at, &item.arguments.or_json(), events),
                Kind::Other => {}
            }
        }
        let block = self.slots[at].block;
        match kind {
            // Without its seal a thought means nothing to a provider that kept nothing.
            Kind::Thinking if item.encrypted_content.text().is_some() => {
                if let Ok(Value::Object(mut whole)) = serde_json::from_str(json) {
                    whole.remove("status");
                    self.draft.keep(block, Value::Object(whole));
                }
            }
            Kind::Text => {
                if let Some(phase) = item.phase.text() {
                    self.draft.keep(block, json!({"type": "message", "phase": phase}));
                }
            }
            Kind::Other => {
                if let Ok(whole @ Value::Object(_)) = serde_json::from_str(json) {
                    self.draft.keep(block, whole);
                }
            }
            _ => {}
        }
        self.close(at, events);
    }

    fn close(&mut self, at: usize, events: &mut Events) {
        let slot = &mut self.slots[at];
        let told = slot.begun || slot.kind == Kind::Call;
        if std::mem::replace(&mut slot.open, false) && told {
            events.push(ModelEvent::BlockEnd { index: slot.block });
        }
    }

    fn response(&mut self, response: &Response<'_>, events: &mut Events) -> Result<(), CallError> {
        if let Some(error) = response.error {
            return Err(self.draft.failed(error.get()));
        }
        for (place, raw) in response.output.iter().flatten().enumerate() {
            let item: Item<'_> = self.draft.read(raw.get())?;
            // Items that were told before are finished, so this tells the others.
            let known = self.slots.iter().any(|slot| {
                slot.place.or(Some(u64::MAX)) == Some(place as u64)
                    || item.id.text().is_some_and(|id| slot.id == id)
                    || slot.place.is_none() && item.id.text().is_none()
            });
            if !known || self.slots.iter().any(|slot| slot.open) {
                self.item(Some(place as u64), &item, raw.get(), events);
            }
        }
        if let Some(usage) = &response.usage.0 {
            self.draft.usage = Some(usage.normal());
        }
        let incomplete = response.incomplete_details.0.as_ref().map(|details| details.reason.str());
        self.draft.stop = Some(match (response.status.str(), incomplete) {
            (_, Some("max_output_tokens" | "max_tokens" | "length")) => StopReason::MaxTokens,
            (_, Some("content_filter")) => StopReason::Refused,
            ("incomplete", None | Some("")) => StopReason::MaxTokens,
            (_, Some(other)) if !other.is_empty() => StopReason::Other(clean(other)),
            ("cancelled", _) => StopReason::Other("cancelled".to_owned()),
            _ => self.draft.natural_stop(),
        });
        Ok(())
    }
}

impl Slot {
    /// Whether there is something in it. A call begins before its arguments do.
    fn begun_text(&self) -> bool {
        self.begun
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
        let response: Response<'_> = self.draft.read(body)?;
        if response.output.is_none() && response.error.is_none() {
            return Err(self.draft.broken("the answer has no output"));
        }
        self.response(&response, events)?;
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
        self.draft.end(events);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
