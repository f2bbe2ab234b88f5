//! What a crash left open, and the records that close it.

use protocol::{
    AnsweredBy, CallId, EventBody, ItemBody, MessageEnd, MessageId, PermissionAnswer, PermissionOutcome,
    RequestId, SessionView, Stop, StopCause, Timestamp, ToolCallUpdate, ToolContent, ToolStatus, TurnEnd,
    TurnId, Usage,
};

/// Turns without an end, and what in them has no end either.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Unfinished {
    pub messages: Vec<(Option<TurnId>, MessageId)>,
    pub calls: Vec<(Option<TurnId>, CallId)>,
    pub requests: Vec<RequestId>,
    /// Children before their parents.
    pub turns: Vec<OpenEnd>,
}

/// A turn that was cut short, with what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenEnd {
    pub turn: TurnId,
    pub started: Timestamp,
    /// Of this turn and the open turns it started.
    pub usage: Usage,
    pub steps: u32,
}

/// Looks at a view for what is still open. Costs a walk over its items, which are few.
pub fn unfinished(view: &SessionView) -> Unfinished {
    let mut found = Unfinished::default();
    for item in &view.items {
        match &item.body {
            ItemBody::Message { message, done: false, .. }
            | ItemBody::Thought { message, done: false, .. } => {
                found.messages.push((item.turn.clone(), message.clone()));
            }
            ItemBody::Tool { call, .. } if !call.status.is_final() => {
                found.calls.push((item.turn.clone(), call.call.clone()));
            }
            _ => {}
        }
    }
    found.requests = view.pending.iter().map(|request| request.request.clone()).collect();
    let mut turns: Vec<_> = view.open.iter().map(|(turn, open)| (depth(view, turn), turn, open)).collect();
    turns.sort_by(|a, b| b.0.cmp(&a.0).then(b.2.started.cmp(&a.2.started)));
    found.turns = turns
        .into_iter()
        .map(|(_, turn, open)| {
            let below = view.open.iter().filter(|(other, _)| is_below(view, other, turn));
            let usage = below.fold(open.usage, |sum, (_, child)| sum + child.usage);
            OpenEnd { turn: turn.clone(), started: open.started, usage, steps: open.steps }
        })
        .collect();
    found
}

impl Unfinished {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The records that make the history whole: every message and call ended, every question withdrawn, every turn
    /// ended as interrupted. For [`Writer::append`](crate::Writer::append).
    pub fn closing_records(self, now: Timestamp) -> Vec<(Option<TurnId>, EventBody)> {
        let mut records = Vec::new();
        for (turn, message) in self.messages {
            records.push((turn, EventBody::MessageEnd(MessageEnd { message })));
        }
        for (turn, call) in self.calls {
            let update = ToolCallUpdate {
                status: Some(ToolStatus::Failed),
                summary: Some("interrupted".to_owned()),
                content: Some(vec![ToolContent::text("interrupted: no result was recorded")]),
                ..ToolCallUpdate::of(call)
            };
            records.push((turn, EventBody::ToolCallUpdate(update)));
        }
        for request in self.requests {
            let answer = PermissionAnswer {
                request,
                outcome: PermissionOutcome::Cancelled,
                option: None,
                by: AnsweredBy::Nobody,
                reason: Some("interrupted".to_owned()),
            };
            records.push((None, EventBody::Permission(answer)));
        }
        for open in self.turns {
            let end = TurnEnd {
                stop: Stop::Cancelled,
                cause: Some(StopCause::Interrupted),
                usage: open.usage,
                steps: open.steps,
                duration_ms: now.millis_since(open.started),
            };
            records.push((Some(open.turn), EventBody::TurnEnd(end)));
        }
        records
    }
}

fn depth(view: &SessionView, turn: &TurnId) -> usize {
    ancestors(view, turn).count()
}

fn is_below(view: &SessionView, turn: &TurnId, above: &TurnId) -> bool {
    ancestors(view, turn).any(|ancestor| ancestor == above)
}

/// Parents that are still open. Bounded, because a damaged log may name a turn as its own grandparent.
fn ancestors<'a>(view: &'a SessionView, turn: &TurnId) -> impl Iterator<Item = &'a TurnId> {
    let parent = |turn: &TurnId| view.open.get(turn).and_then(|open| open.parent.as_ref());
    std::iter::successors(parent(turn), move |turn| parent(turn)).take(64)
}
