//! One answer of the model: shown while it comes, and added up.

use agents::Reporter;
use futures::StreamExt;
use models::{Answer, BlockKind, CallError, EventStream, ModelEvent};
use protocol::{Chunk, MessageEnd, MessageId, ModelRef, Retract, Retry, Route, TurnId, Update};

/// Names for the messages of one turn.
pub(super) struct MessageNames {
    turn: TurnId,
    next: u32,
}

impl MessageNames {
    pub(super) fn new(turn: TurnId) -> Self {
        Self { turn, next: 1 }
    }

    fn next(&mut self) -> MessageId {
        let name = MessageId::from(format!("{}.m{}", self.turn, self.next));
        self.next += 1;
        name
    }
}

/// Reads the stream to its end and reports text and thoughts on the way. Calls are announced by whoever runs them.
///
/// Tells who answered, if it was not the one that was asked.
pub(super) async fn listen(
    mut events: EventStream,
    names: &mut MessageNames,
    reporter: &Reporter,
) -> Result<(Answer, Option<ModelRef>), CallError> {
    let mut answer = Answer::default();
    let mut answered_by = None;
    // The blocks that a person sees, by index: the message, and whether it is a thought.
    let mut shown: Vec<(usize, MessageId, bool)> = Vec::new();
    while let Some(event) = events.next().await {
        let event = event?;
        match &event {
            ModelEvent::BlockStart { index, kind } => match kind {
                BlockKind::Text => shown.push((*index, names.next(), false)),
                BlockKind::Thinking => shown.push((*index, names.next(), true)),
                BlockKind::ToolCall { .. } => {}
            },
            ModelEvent::Delta { index, text } => {
                if let Some((_, message, thought)) = shown.iter().rev().find(|(at, ..)| at == index) {
                    let chunk = Chunk { message: message.clone(), text: text.clone() };
                    reporter
                        .send(if *thought { Update::Thought(chunk) } else { Update::Message(chunk) })
                        .await;
                }
            }
            ModelEvent::BlockEnd { index } => {
                if let Some((_, message, _)) = shown.iter().rev().find(|(at, ..)| at == index) {
                    reporter.send(Update::MessageEnd(MessageEnd { message: message.clone() })).await;
                }
            }
            ModelEvent::Usage(_) | ModelEvent::Stop(_) => {}
            ModelEvent::Switch { from, to, reason, .. } => {
                retract(&mut shown, reason, reporter).await;
                answered_by = Some(to.clone());
                let (from, to, reason) = (from.clone(), to.clone(), reason.clone());
                reporter.send(Update::Route(Route { from, to, reason })).await;
            }
            ModelEvent::Restart { attempt, reason, wait, .. } => {
                retract(&mut shown, reason, reporter).await;
                let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                reporter
                    .send(Update::Retry(Retry { attempt: *attempt, wait_ms, reason: reason.clone() }))
                    .await;
            }
        }
        answer.apply(&event);
    }
    Ok((answer, answered_by))
}

/// The answer is void: whoever saw a part of it is told.
async fn retract(shown: &mut Vec<(usize, MessageId, bool)>, reason: &str, reporter: &Reporter) {
    for (_, message, _) in shown.drain(..) {
        reporter.send(Update::Retract(Retract { message, reason: reason.to_owned() })).await;
    }
}
