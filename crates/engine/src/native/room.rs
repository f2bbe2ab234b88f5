//! Keeping the conversation within the model's window, and cutting it back when the person asks.

use std::sync::PoisonError;

use agents::{Heard, HookCall, Reporter, Turn};
use models::{Block, Model, Request};
use protocol::{Chunk, Compaction, CompactionStage, HookEvent, MessageEnd, MessageId, Update, Usage};

use super::agent::{Inner, over_budget, so_far};
use super::compact;
use super::desk::OUTPUTS;
use super::limits::Room;
use super::transcript::Transcript;

impl Inner {
    /// The next request, in a window that it fits: old results are cut first, then old turns are summarised. At most
    /// once each, and whatever comes of it the request is sent.
    pub(super) async fn make_room(
        &self,
        model: &dyn Model,
        turn: &Turn,
        transcript: &mut Transcript,
        reporter: &Reporter,
        spent: &std::sync::Mutex<Usage>,
        must: bool,
    ) -> Request {
        let room = Room::of(model.info(), &self.limits);
        let mut request = self.request(model, transcript);
        let before = model.estimate(&request);
        if before <= room.soft && !must {
            return request;
        }
        let outputs = turn.services.folder().join(OUTPUTS);
        if let Some(pruned) = compact::prune(transcript, &outputs) {
            request = self.request(model, transcript);
            let tokens_after = model.estimate(&request);
            reporter
                .send(Update::Compaction(Compaction {
                    stage: CompactionStage::Prune,
                    summary: None,
                    from: None,
                    pruned,
                    tokens_before: before,
                    tokens_after,
                }))
                .await;
        }
        if model.estimate(&request) <= room.full && !must {
            return request;
        }
        // A summary is a call too: one that does not fit the budget is not made, and the turn ends for the same reason.
        if over_budget(model, &turn.limits, &so_far(spent), &request).is_some() {
            return request;
        }
        let mut calls = Vec::new();
        let Some(from) = compact::place(model, transcript, &room) else { return request };
        let mind = self.facts(turn, reporter, before).await;
        let summariser = self.summariser.as_deref();
        let compaction =
            compact::summarise(model, summariser, &request, transcript, from, &mind, &mut calls).await;
        for report in calls {
            *spent.lock().unwrap_or_else(PoisonError::into_inner) += report.usage;
            reporter.send(Update::Usage(report)).await;
        }
        if let Some(compaction) = compaction {
            transcript.apply(&compaction);
            reporter.send(Update::Compaction(compaction)).await;
            request = self.request(model, transcript);
        }
        request
    }

    /// What hooks want to be in the summary.
    async fn facts(&self, turn: &Turn, reporter: &Reporter, tokens: u64) -> Vec<String> {
        let call = HookCall::new(HookEvent::Compact).with("tokens", tokens);
        Heard::new(turn, reporter.clone()).tell(call).await.context
    }

    /// Summarises everything before this prompt, which asks for just that, and says what came of it.
    pub(super) async fn compact_now(
        &self,
        model: &dyn Model,
        turn: &Turn,
        transcript: &mut Transcript,
        reporter: &Reporter,
        focus: &str,
    ) {
        let request = self.request(model, transcript);
        let mut mind = self.facts(turn, reporter, model.estimate(&request)).await;
        mind.extend(Some(focus.to_owned()).filter(|focus| !focus.is_empty()));
        let from = turn.id.as_str().to_owned();
        let summariser = self.summariser.as_deref();
        let mut calls = Vec::new();
        let compaction = match transcript.messages().len() {
            // This prompt is all there is.
            0 | 1 => None,
            _ => compact::summarise(model, summariser, &request, transcript, from, &mind, &mut calls).await,
        };
        for report in calls {
            reporter.send(Update::Usage(report)).await;
        }
        let text = match &compaction {
            Some(compaction) => compaction.describe(),
            None => "There is nothing to compact.".to_owned(),
        };
        if let Some(compaction) = compaction {
            transcript.apply(&compaction);
            reporter.send(Update::Compaction(compaction)).await;
        }
        // Said like any other answer, so that the conversation goes on as one.
        let message = MessageId::from(format!("{}.m1", turn.id));
        let chunk = Chunk { message: message.clone(), text: text.clone() };
        reporter.send(Update::Message(chunk)).await;
        reporter.send(Update::MessageEnd(MessageEnd { message })).await;
        transcript.push_step(vec![Block::Text(text)], vec![]);
    }
}
