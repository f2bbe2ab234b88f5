//! One running turn: what it has open, and the text that waits to be recorded.

use agents::ChildEnd;
use protocol::{
    CallId, Chunk, EventBody, MessageEnd, MessageId, RequestId, Stop, StopCause, Timestamp, ToolCallUpdate,
    ToolContent, ToolStatus, TurnEnd, TurnId, Update, Usage,
};

use super::step::Ticket;

/// What goes into the log, each with the turn it belongs to.
pub(crate) type Records = Vec<(Option<TurnId>, EventBody)>;

pub(super) struct Turn {
    id: TurnId,
    started: Timestamp,
    /// Somebody is there to answer questions.
    pub(super) attended: bool,
    /// Something was refused for want of a person.
    pub(super) denied: bool,
    stopping: Option<(Stop, Option<StopCause>)>,
    /// Text since the last record. Deltas come by the thousand; a record is made of them once per frame.
    text: Option<Text>,
    open_messages: Vec<MessageId>,
    open_calls: Vec<CallId>,
    requests: u32,
    usage: Usage,
    steps: u32,
    /// The turn that started this one, and who waits for its end.
    child_of: Option<(TurnId, Ticket)>,
    children: u32,
    /// The last message, for whoever waits for a child.
    last: Option<(MessageId, String)>,
}

struct Text {
    message: MessageId,
    thought: bool,
    text: String,
}

impl Turn {
    pub(super) fn new(id: TurnId, attended: bool, started: Timestamp) -> Self {
        Self {
            id,
            started,
            attended,
            denied: false,
            stopping: None,
            text: None,
            open_messages: Vec::new(),
            open_calls: Vec::new(),
            requests: 0,
            usage: Usage::default(),
            steps: 0,
            child_of: None,
            children: 0,
            last: None,
        }
    }

    pub(super) fn child_of(mut self, parent: TurnId, ticket: Ticket) -> Self {
        self.child_of = Some((parent, ticket));
        self
    }

    pub(super) fn parent(&self) -> Option<TurnId> {
        self.child_of.as_ref().map(|(parent, _)| parent.clone())
    }

    pub(super) fn next_child(&mut self) -> TurnId {
        self.children += 1;
        TurnId::from(format!("{}.{}", self.id, self.children))
    }

    /// What whoever started this turn hears of its end.
    pub(super) fn child_end(&mut self, stop: Stop) -> Option<(Ticket, ChildEnd)> {
        let (_, ticket) = self.child_of.as_ref()?;
        let stop = self.stopping.map_or(stop, |(stop, _)| stop);
        let said = self.last.take().map(|(_, text)| text).unwrap_or_default();
        Some((*ticket, ChildEnd { stop, said, usage: self.usage, steps: self.steps }))
    }

    pub(super) fn add_child(&mut self, end: &ChildEnd) {
        self.usage += end.usage;
        self.denied |= end.stop == Stop::Denied;
    }

    pub(super) fn stopping(&self) -> Option<(Stop, Option<StopCause>)> {
        self.stopping
    }

    /// Marks the turn as being stopped. The first reason counts; false when there is one already.
    pub(super) fn stop(&mut self, stop: Stop, cause: Option<StopCause>) -> bool {
        let first = self.stopping.is_none();
        self.stopping.get_or_insert((stop, cause));
        first
    }

    pub(super) fn next_request(&mut self) -> RequestId {
        self.requests += 1;
        RequestId::from(format!("{}.r{}", self.id, self.requests))
    }

    pub(super) fn has_unflushed(&self) -> bool {
        self.text.is_some()
    }

    /// The records that an update makes now. Text is held back until something else happens or the frame is over.
    pub(super) fn update(&mut self, update: Update) -> Records {
        match update {
            Update::Message(chunk) => self.chunk(chunk, false),
            Update::Thought(chunk) => self.chunk(chunk, true),
            other => {
                let mut records = self.flush();
                records.extend(self.other(other).map(|body| (Some(self.id.clone()), body)));
                records
            }
        }
    }

    fn chunk(&mut self, chunk: Chunk, thought: bool) -> Records {
        if chunk.text.is_empty() {
            return vec![];
        }
        if self.child_of.is_some() && !thought {
            match &mut self.last {
                Some((message, text)) if *message == chunk.message => text.push_str(&chunk.text),
                last => *last = Some((chunk.message.clone(), chunk.text.clone())),
            }
        }
        if let Some(text) = &mut self.text
            && text.message == chunk.message
            && text.thought == thought
        {
            text.text.push_str(&chunk.text);
            return vec![];
        }
        let records = self.flush();
        if !self.open_messages.contains(&chunk.message) {
            self.open_messages.push(chunk.message.clone());
        }
        self.text = Some(Text { message: chunk.message, thought, text: chunk.text });
        records
    }

    fn other(&mut self, update: Update) -> Option<EventBody> {
        Some(match update {
            Update::Message(_) | Update::Thought(_) | Update::Done { .. } => return None,
            Update::MessageEnd(end) => {
                self.open_messages.retain(|message| *message != end.message);
                EventBody::MessageEnd(end)
            }
            Update::Retract(retract) => {
                self.open_messages.retain(|message| *message != retract.message);
                EventBody::Retract(retract)
            }
            Update::ToolCall(call) => {
                if !call.status.is_final() {
                    self.open_calls.push(call.call.clone());
                }
                EventBody::ToolCall(call)
            }
            Update::ToolCallUpdate(update) => {
                if update.status.is_some_and(ToolStatus::is_final) {
                    self.open_calls.retain(|call| *call != update.call);
                }
                EventBody::ToolCallUpdate(update)
            }
            Update::Usage(report) => {
                self.usage += report.usage;
                self.steps += 1;
                EventBody::Usage(report)
            }
            Update::Plan(plan) => EventBody::Plan(plan),
            Update::SuggestedActions(actions) => EventBody::SuggestedActions(actions),
            Update::Commands(commands) => EventBody::Commands(commands),
            Update::Checkpoint(checkpoint) => EventBody::Checkpoint(checkpoint),
            Update::Compaction(compaction) => EventBody::Compaction(compaction),
            Update::Context(ledger) => EventBody::Context(ledger),
            Update::FileRead(read) => EventBody::FileRead(read),
            Update::FileWrite(write) => EventBody::FileWrite(write),
            Update::Retry(retry) => EventBody::Retry(retry),
            Update::Verbatim(verbatim) => EventBody::Verbatim(verbatim),
            Update::Title(title) => EventBody::Title(title),
            Update::Route(route) => EventBody::Route(route),
            Update::Hook(ran) => EventBody::Hook(ran),
            Update::Notice(notice) => EventBody::Notice(notice),
            Update::Error(error) => EventBody::Error(error),
        })
    }

    /// Takes the text that waits.
    pub(super) fn flush(&mut self) -> Records {
        let Some(Text { message, thought, text }) = self.text.take() else { return vec![] };
        let chunk = Chunk { message, text };
        let body = if thought { EventBody::AgentThought(chunk) } else { EventBody::AgentMessage(chunk) };
        vec![(Some(self.id.clone()), body)]
    }

    /// The records that end the turn: every message, every call, then the turn itself.
    pub(super) fn close(mut self, stop: Stop, cause: Option<StopCause>, now: Timestamp) -> Records {
        let (stop, cause) = self.stopping.unwrap_or((stop, cause));
        let stop = if stop == Stop::Done && self.denied { Stop::Denied } else { stop };
        let mut records = self.flush();
        for message in self.open_messages {
            records.push((Some(self.id.clone()), EventBody::MessageEnd(MessageEnd { message })));
        }
        for call in self.open_calls {
            records.push((Some(self.id.clone()), EventBody::ToolCallUpdate(interrupted(call, stop))));
        }
        let duration_ms = now.millis_since(self.started);
        let end = TurnEnd { stop, cause, usage: self.usage, steps: self.steps, duration_ms };
        records.push((Some(self.id), EventBody::TurnEnd(end)));
        records
    }
}

/// The result of a call that never got one. Models refuse a history in which a call has no result.
pub(crate) fn interrupted(call: CallId, stop: Stop) -> ToolCallUpdate {
    let text = match stop {
        Stop::Cancelled => "cancelled by the person before it finished",
        _ => "interrupted before it finished",
    };
    ToolCallUpdate {
        status: Some(ToolStatus::Failed),
        content: Some(vec![ToolContent::text(text)]),
        ..ToolCallUpdate::of(call)
    }
}
