//! Answers: every frame is an answer of its own, with parts that are more of the last one or a new one.

mod shape;

use serde_json::json;
use serde_json::value::RawValue;

use self::shape::{Candidate, Frame, Part};
use crate::error::clean;
use crate::wire::draft::Draft;
use crate::wire::{Decode, Events, Progress};
use crate::{BlockKind, CallError, ModelEvent, StopReason};

#[derive(Debug, Default)]
pub(super) struct Decoder {
    draft: Draft,
    /// The text or thought that is being written.
    open: Option<Open>,
    /// The last block that ended, for a signature that comes after it.
    last: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    thinks: bool,
    block: usize,
    /// A part with a signature is complete: more text is another part.
    signed: bool,
}

impl Decoder {
    pub(super) fn new(provider: &str, origin: &str) -> Self {
        Self { draft: Draft::new(provider, origin), ..Self::default() }
    }

    fn answer(&mut self, frame: &Frame<'_>, json: &str, events: &mut Events) -> Result<(), CallError> {
        if frame.error.is_some() {
            return Err(self.draft.failed(json));
        }
        if let Some(usage) = &frame.usage.0 {
            // Running totals: the last one counts.
            self.draft.usage = Some(usage.normal());
        }
        match &frame.candidates.0 {
            Some(candidate) => self.candidate(candidate, events),
            None => {
                let feedback = frame.prompt_feedback.0.as_ref();
                match feedback.and_then(|feedback| feedback.block_reason.text()) {
                    Some(reason) => {
                        Err(self.draft.refusal(format!("the prompt was blocked ({})", clean(reason))))
                    }
                    None => Ok(()),
                }
            }
        }
    }

    fn candidate(&mut self, candidate: &Candidate<'_>, events: &mut Events) -> Result<(), CallError> {
        for part in candidate.content.0.iter().flat_map(|content| content.parts.iter().flatten()) {
            self.part(part, events);
        }
        let Some(reason) = candidate.finish_reason.text() else { return Ok(()) };
        self.hush(events);
        self.draft.stop = Some(match reason {
            "STOP" | "FINISH_REASON_UNSPECIFIED" => self.draft.natural_stop(),
            "MAX_TOKENS" => StopReason::MaxTokens,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
            | "IMAGE_SAFETY" => StopReason::Refused,
            // The model stumbled over its own syntax, and usually does not the next time.
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "MISSING_THOUGHT_SIGNATURE" => {
                let message = clean(candidate.finish_message.str());
                return Err(self.draft.broken(format!("the model wrote no valid call ({reason}) {message}")));
            }
            other => StopReason::Other(clean(other)),
        });
        Ok(())
    }

    fn part(&mut self, part: &Part<'_>, events: &mut Events) {
        if let Some(call) = &part.function_call.0 {
            if let Some(name) = call.name.text() {
                self.hush(events);
                let block = self.draft.number();
                self.draft.call(block, call.id.str(), name, events);
                let arguments = call.args.map(RawValue::get).filter(|args| *args != "null");
                if let Some(arguments) = arguments {
                    events.delta(block, arguments);
                }
                events.push(ModelEvent::BlockEnd { index: block });
                self.last = Some(block);
                self.sign(Some(block), part);
            }
            return;
        }
        let block = self.say(part.thought, part.text.str(), events);
        self.sign(block.or(self.last), part);
    }

    /// Keeps the signature of a part, if it has one, with its block, or with a block of its own.
    fn sign(&mut self, block: Option<usize>, part: &Part<'_>) {
        let Some(signature) = part.thought_signature.text() else { return };
        let block = match block {
            Some(block) => block,
            None => self.draft.number(),
        };
        if let Some(open) = self.open.as_mut().filter(|open| open.block == block) {
            open.signed = true;
        }
        self.last = Some(block);
        self.draft.keep(block, json!({"thoughtSignature": signature}));
    }

    /// The block that the text went to, or that is open if there was none.
    fn say(&mut self, thinks: bool, text: &str, events: &mut Events) -> Option<usize> {
        let open = self.open.filter(|open| open.thinks == thinks);
        if text.is_empty() {
            return open.map(|open| open.block);
        }
        let block = match open {
            Some(open) if !open.signed => open.block,
            _ => {
                self.hush(events);
                let block = self.draft.number();
                let kind = if thinks { BlockKind::Thinking } else { BlockKind::Text };
                events.push(ModelEvent::BlockStart { index: block, kind });
                self.open = Some(Open { thinks, block, signed: false });
                block
            }
        };
        events.delta(block, text);
        Some(block)
    }

    fn hush(&mut self, events: &mut Events) {
        if let Some(open) = self.open.take() {
            self.last = Some(open.block);
            events.push(ModelEvent::BlockEnd { index: open.block });
        }
    }
}

impl Decode for Decoder {
    fn frame(&mut self, _event: &str, data: &str, events: &mut Events) -> Result<(), CallError> {
        // After the stop only figures come.
        if data.is_empty() || data == "[DONE]" {
            return Ok(());
        }
        let frame: Frame<'_> = self.draft.read(data)?;
        if self.draft.stop.is_some() {
            if let Some(usage) = &frame.usage.0 {
                self.draft.usage = Some(usage.normal());
            }
            return Ok(());
        }
        self.answer(&frame, data, events)
    }

    fn whole(&mut self, body: &str, events: &mut Events) -> Result<(), CallError> {
        // Without `alt=sse` a stream is an array of frames, and proxies drop queries.
        let frames: Vec<&RawValue> = match body.trim_start().starts_with('[') {
            true => self.draft.read(body)?,
            false => vec![self.draft.read(body)?],
        };
        for raw in frames {
            let frame: Frame<'_> = self.draft.read(raw.get())?;
            self.answer(&frame, raw.get(), events)?;
        }
        if self.draft.stop.is_none() {
            return Err(self.draft.broken("the answer has no end"));
        }
        self.draft.done = true;
        Ok(())
    }

    fn progress(&self) -> Progress {
        self.draft.progress()
    }

    fn end(&mut self, events: &mut Events) -> Result<(), CallError> {
        if self.draft.may_end()? {
            self.hush(events);
            self.draft.end(events);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
