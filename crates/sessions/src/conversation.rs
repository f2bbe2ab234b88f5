//! A log as a conversation: messages in one piece, tool calls with their results, in order and in bounded memory.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use protocol::{
    AgentId, Chunk, Content, ErrorInfo, Event, EventBody, MessageId, Notice, PermissionAnswer,
    PermissionRequest, Plan, Retry, SessionId, Timestamp, ToolCall, ToolCallUpdate, TurnEnd, TurnId,
};

use crate::error::StoreError;
use crate::lines::Lines;
use crate::reader::{Reader, Record, Records};
use crate::record::{self, Damage};
use crate::text::content_text;

/// So much is held back while something in it is not finished.
const MAX_HELD: usize = 4096;
const MAX_HELD_BYTES: usize = 16 << 20;

/// One thing in the conversation.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) seq: u64,
    pub(crate) ts: Timestamp,
    pub(crate) turn: Option<TurnId>,
    pub(crate) body: Body,
}

#[derive(Debug)]
pub(crate) enum Body {
    Prompt(Vec<Content>),
    /// A turn that another turn started.
    ChildTurn {
        agent: AgentId,
    },
    Message(String),
    Thought(String),
    Tool(Box<ToolCall>, Option<ToolCallUpdate>),
    Question(PermissionRequest, Option<PermissionAnswer>),
    Plan(Plan),
    Retry(Retry),
    Notice(Notice),
    Error(ErrorInfo),
    /// A switch of mode, model or agent, in words.
    Changed(String),
    TurnEnd(TurnEnd),
    Repaired {
        bytes: u64,
    },
    Damaged(Damage),
    Forked {
        from: SessionId,
        seq: u64,
    },
}

/// Joins the records of a log. What is not finished when too much is held back comes out as it is.
pub(crate) struct Conversation {
    records: Records,
    retracted: HashSet<MessageId>,
    held: VecDeque<Held>,
    bytes: usize,
    at_end: bool,
}

struct Held {
    piece: Piece,
    message: Option<MessageId>,
    done: bool,
    bytes: usize,
}

impl Conversation {
    pub(crate) fn open(reader: &mut Reader) -> Result<Self, StoreError> {
        let retracted = retracted(reader)?;
        let records = reader.iter(0)?;
        Ok(Self { records, retracted, held: VecDeque::new(), bytes: 0, at_end: false })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Piece>, StoreError> {
        loop {
            let full = self.held.len() > MAX_HELD || self.bytes > MAX_HELD_BYTES;
            if self.at_end || full || self.held.front().is_some_and(|held| held.done) {
                let Some(held) = self.held.pop_front() else { return Ok(None) };
                self.bytes -= held.bytes.min(self.bytes);
                return Ok(Some(held.piece));
            }
            match self.records.next().transpose()? {
                Some(Record::Event(event)) => self.take(event),
                Some(Record::Damaged(damage)) => {
                    let ts = self.held.back().map_or(Timestamp::default(), |held| held.piece.ts);
                    let piece = Piece { seq: 0, ts, turn: None, body: Body::Damaged(damage) };
                    self.hold(piece, None, true, 0);
                }
                None => self.at_end = true,
            }
        }
    }

    fn hold(&mut self, piece: Piece, message: Option<MessageId>, done: bool, bytes: usize) {
        self.bytes += bytes;
        self.held.push_back(Held { piece, message, done, bytes });
    }

    fn take(&mut self, event: Event) {
        let Event { seq, ts, turn, body, .. } = event;
        let body = match body {
            EventBody::SessionStart(start) => match start.forked_from {
                Some(fork) => Body::Forked { from: fork.session, seq: fork.seq },
                None => return,
            },
            EventBody::UserPrompt(prompt) => Body::Prompt(prompt.content),
            EventBody::TurnStart(start) if start.parent.is_some() => Body::ChildTurn { agent: start.agent },
            EventBody::AgentMessage(chunk) => return self.chunk(seq, ts, turn, chunk, Body::Message),
            EventBody::AgentThought(chunk) => return self.chunk(seq, ts, turn, chunk, Body::Thought),
            EventBody::MessageEnd(end) => {
                let ended =
                    self.held.iter_mut().rev().find(|held| held.message.as_ref() == Some(&end.message));
                ended.into_iter().for_each(|held| held.done = true);
                return;
            }
            EventBody::ToolCall(call) => {
                let done = call.status.is_final();
                let bytes = call.input.to_string().len();
                let piece = Piece { seq, ts, turn, body: Body::Tool(Box::new(call), None) };
                return self.hold(piece, None, done, bytes);
            }
            EventBody::ToolCallUpdate(update) => return self.update(update),
            EventBody::PermissionRequest(request) => {
                let piece = Piece { seq, ts, turn, body: Body::Question(request, None) };
                return self.hold(piece, None, false, 0);
            }
            EventBody::Permission(answer) => return self.answer(answer),
            EventBody::Plan(plan) => Body::Plan(plan),
            EventBody::Retry(retry) => Body::Retry(retry),
            EventBody::Notice(notice) => Body::Notice(notice),
            EventBody::Error(error) => Body::Error(error),
            EventBody::Mode(changed) => Body::Changed(format!("mode: {}", changed.mode.as_str())),
            EventBody::Effort(changed) => {
                let effort = changed.effort.map_or("as the model likes", protocol::Effort::as_str);
                Body::Changed(format!("thinking: {effort}"))
            }
            EventBody::Folders(changed) => Body::Changed(match changed.folders.as_slice() {
                [] => "works in its own folder only".to_owned(),
                folders => format!("works in {} too", folders.join(", ")),
            }),
            EventBody::Model(changed) => Body::Changed(format!("model: {}", changed.model)),
            EventBody::Agent(changed) => Body::Changed(format!("agent: {}", changed.agent)),
            EventBody::Route(route) => {
                Body::Changed(format!("{} instead of {}: {}", route.to, route.from, route.reason))
            }
            EventBody::Hook(ran) => Body::Changed(ran.describe()),
            EventBody::Compaction(compaction) => Body::Changed(compaction.describe()),
            EventBody::Repair(repair) => Body::Repaired { bytes: repair.bytes },
            EventBody::TurnEnd(end) => {
                // Nothing of a turn that is over gets longer.
                for held in self.held.iter_mut().filter(|held| held.piece.turn == turn) {
                    held.done = true;
                }
                Body::TurnEnd(end)
            }
            EventBody::TurnStart(_)
            | EventBody::Retract(_)
            | EventBody::FileRead(_)
            | EventBody::FileWrite(_)
            | EventBody::Verbatim(_)
            | EventBody::Checkpoint(_)
            | EventBody::Context(_)
            | EventBody::Pin(_)
            | EventBody::SuggestedActions(_)
            | EventBody::Commands(_) => {
                return;
            }
            EventBody::Usage(_) | EventBody::Title(_) | EventBody::Marks(_) => return,
            EventBody::SessionEnd(_) | EventBody::Other(_) => {
                return;
            }
        };
        self.hold(Piece { seq, ts, turn, body }, None, true, 0);
    }

    fn chunk(
        &mut self,
        seq: u64,
        ts: Timestamp,
        turn: Option<TurnId>,
        chunk: Chunk,
        body: fn(String) -> Body,
    ) {
        if self.retracted.contains(&chunk.message) {
            return;
        }
        let bytes = chunk.text.len();
        let held = self.held.iter_mut().rev().find(|held| held.message.as_ref() == Some(&chunk.message));
        if let Some(held) = held
            && let Body::Message(text) | Body::Thought(text) = &mut held.piece.body
        {
            text.push_str(&chunk.text);
            held.bytes += bytes;
            self.bytes += bytes;
            return;
        }
        self.hold(Piece { seq, ts, turn, body: body(chunk.text) }, Some(chunk.message), false, bytes);
    }

    fn update(&mut self, update: ToolCallUpdate) {
        let found = self.held.iter_mut().rev().find_map(|held| match &mut held.piece.body {
            Body::Tool(call, result) if call.call == update.call => {
                Some((call, result, &mut held.done, &mut held.bytes))
            }
            _ => None,
        });
        let Some((call, result, done, bytes)) = found else { return };
        *done |= update.status.is_some_and(|status| status.is_final());
        call.status = update.status.unwrap_or(call.status);
        if let Some(title) = &update.title {
            call.title.clone_from(title);
        }
        let added = update.content.iter().flatten().map(|content| content_text(content).len()).sum::<usize>();
        *bytes += added;
        self.bytes += added;
        *result = Some(match result.take() {
            None => update,
            Some(old) => ToolCallUpdate {
                status: update.status.or(old.status),
                title: update.title.or(old.title),
                summary: update.summary.or(old.summary),
                content: update.content.or(old.content),
                duration_ms: update.duration_ms.or(old.duration_ms),
                call: old.call,
            },
        });
    }

    fn answer(&mut self, answer: PermissionAnswer) {
        let found = self.held.iter_mut().rev().find_map(|held| match &mut held.piece.body {
            Body::Question(request, slot) if request.request == answer.request => {
                Some((slot, &mut held.done))
            }
            _ => None,
        });
        if let Some((slot, done)) = found {
            *slot = Some(answer);
            *done = true;
        }
    }
}

/// The messages that were dropped again. Looked for first, because by then they would have been given out.
fn retracted(reader: &Reader) -> Result<HashSet<MessageId>, StoreError> {
    let mut lines = Lines::new(Arc::clone(reader.log()), 0);
    let mut found = HashSet::new();
    let mut scratch = Vec::new();
    while let Some(line) = lines.next().map_err(StoreError::io("read", reader.dir()))? {
        let Some(text) = line.text else { continue };
        let body = record::unseal(text).ok();
        if body.and_then(record::header).is_none_or(|header| header.kind != "retract") {
            continue;
        }
        if let Ok(Event { body: EventBody::Retract(retract), .. }) = record::decode(text, &mut scratch) {
            found.insert(retract.message);
        }
    }
    Ok(found)
}
