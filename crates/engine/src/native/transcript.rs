//! The conversation as a model is sent it, built from the session's events.

use std::sync::Arc;

use base64::Engine as _;
use models::{Block, ImageData, Message, Role, ToolCall, ToolResult};
use protocol::{
    BlobRef, CallId, CheckpointAction, Compaction, CompactionStage, Content, Event, EventBody, HookEvent,
    HookWord, MessageId, Pin, Source, ToolCallUpdate, ToolContent, ToolStatus, TurnId, VerbatimItem,
};

use super::calls::dispatch;
use super::compact;
use super::hooks::go_on_prompt;
use super::verbatim;

/// Reads what a log keeps beside itself.
pub(super) type Blobs<'a> = dyn Fn(&BlobRef) -> Option<Vec<u8>> + Send + Sync + 'a;

/// Messages in order, each call with its result: any model accepts it, whatever happened.
#[derive(Debug, Default, Clone)]
pub(super) struct Transcript {
    messages: Vec<Arc<Message>>,
    /// By what each message can be found again: a prompt by its turn, a step by its first call.
    anchors: Vec<Option<String>>,
    /// What the model is told with the next prompt.
    notes: Vec<String>,
    /// What no summary may lose: by name, as the model was shown it.
    pins: Vec<(String, String)>,
}

impl Transcript {
    pub(super) fn from_events(events: &[Event], blobs: &Blobs<'_>) -> Self {
        let mut builder = Builder::default();
        // What was taken back never happened.
        let undone = events.iter().rposition(
            |event| matches!(&event.body, EventBody::Compaction(done) if done.stage == CompactionStage::Undo),
        );
        for (at, event) in events.iter().enumerate() {
            if matches!(event.body, EventBody::Compaction(_)) && undone.is_some_and(|undone| at <= undone) {
                continue;
            }
            let turn = event.turn.as_ref().map(TurnId::as_str).unwrap_or_default();
            // What sub-agents said and did is theirs; their report is a result here.
            if turn.contains('.') {
                continue;
            }
            builder.event(&event.body, turn, blobs);
        }
        builder.finish()
    }

    pub(super) fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    fn push(&mut self, message: Arc<Message>, anchor: Option<String>) {
        self.messages.push(message);
        self.anchors.push(anchor);
    }

    pub(super) fn push_prompt(&mut self, prompt: &[Content], blobs: &Blobs<'_>, turn: &str) {
        // Some models refuse two prompts in a row, as an interrupted turn leaves them.
        if self.messages.last().is_some_and(|message| message.role() == Role::User) {
            self.push(Message::assistant(vec![Block::Text("(interrupted)".to_owned())]), None);
        }
        let notes = self.notes.drain(..).map(|note| Block::Text(format!("[covey: {note}]\n")));
        let blocks = notes.chain(prompt.iter().filter_map(|content| block(content, blobs))).collect();
        self.push(Message::new(Role::User, blocks), Some(turn.to_owned()));
    }

    /// One step of the agent: what the model said, and what came of its calls.
    pub(super) fn push_step(&mut self, blocks: Vec<Block>, mut results: Vec<ToolResult>) {
        let blocks = without_empty(blocks);
        if blocks.is_empty() {
            return;
        }
        let calls = blocks
            .iter()
            .filter_map(|block| if let Block::ToolCall(call) = block { Some(call) } else { None });
        let mut answered = Vec::new();
        for call in calls {
            let found = results.iter().position(|result| result.call == call.id);
            answered.push(match found {
                Some(at) => results.swap_remove(at),
                None => ToolResult::error(&call.id, "interrupted before it finished"),
            });
        }
        let first_call = answered.first().map(|result| result.call.clone());
        self.push(Message::assistant(blocks), first_call);
        if !answered.is_empty() {
            self.push(Message::results(answered), None);
        }
    }

    /// Calls and the text of their results, without those of the newest messages.
    pub(super) fn results_before(&self, newest: usize) -> Vec<(String, String)> {
        let old = &self.messages[..self.messages.len().saturating_sub(newest)];
        let results = old.iter().flat_map(|message| message.blocks()).filter_map(|block| match block {
            Block::ToolResult(result) => Some((result.call.clone(), result.text.clone())),
            _ => None,
        });
        results.collect()
    }

    /// Cuts the results of these calls to head and tail.
    pub(super) fn prune(&mut self, calls: &[CallId]) {
        for message in &mut self.messages {
            let is_cut = |block: &Block| match block {
                Block::ToolResult(result) => calls.iter().any(|call| call.as_str() == result.call),
                _ => false,
            };
            if !message.blocks().iter().any(is_cut) {
                continue;
            }
            let blocks = message.blocks().iter().map(|block| match block {
                Block::ToolResult(result) if is_cut(block) => Block::ToolResult(ToolResult {
                    text: compact::cut(&result.call, &result.text),
                    images: vec![],
                    ..result.clone()
                }),
                other => other.clone(),
            });
            *message = Message::new(message.role(), blocks.collect());
        }
    }

    /// The place from which on the newest part weighs no more than `budget`, but at least the last step: by the name of
    /// a turn or a call. None when there is nothing before it.
    pub(super) fn cut_for(&self, budget: u64, weigh: impl Fn(&Arc<Message>) -> u64) -> Option<String> {
        let mut weight = 0;
        let mut found = None;
        for (at, message) in self.messages.iter().enumerate().rev() {
            weight += weigh(message);
            if weight > budget && found.is_some() {
                break;
            }
            if let Some(anchor) = self.anchors[at].as_ref().filter(|anchor| !anchor.is_empty()) {
                found = Some((at, anchor.clone()));
            }
        }
        // One message before is not worth a summary.
        found.filter(|(at, _)| *at > 1).map(|(_, anchor)| anchor)
    }

    fn position(&self, anchor: &str) -> Option<usize> {
        self.anchors.iter().position(|known| known.as_deref() == Some(anchor))
    }

    /// What comes before a place.
    pub(super) fn until(&self, anchor: &str) -> Self {
        let end = self.position(anchor).unwrap_or(self.messages.len());
        Self {
            messages: self.messages[..end].to_vec(),
            anchors: self.anchors[..end].to_vec(),
            notes: Vec::new(),
            pins: Vec::new(),
        }
    }

    /// Puts a summary in the place of everything before `anchor`.
    pub(super) fn summarise(&mut self, anchor: &str, summary: &str) {
        let Some(at) = self.position(anchor) else { return };
        let in_a_turn = self.messages[at].role() == Role::Assistant;
        let mut text = format!(
            "[covey: the conversation until here was summarised to save room]\n<summary>\n{summary}\n</summary>\n"
        );
        for (name, pinned) in &self.pins {
            text.push_str(&format!("\n[covey: pinned by the person: {name}]\n{pinned}\n"));
        }
        // In the middle of a turn, its prompt must not be lost.
        let task = self.messages[..at].iter().rev().find(|message| message.role() == Role::User);
        if let Some(task) = task.filter(|_| in_a_turn) {
            text.push_str(&format!("\nThe person's last prompt, in their own words:\n{}\n", task.text()));
        }
        let mut messages = vec![Message::user(text)];
        if !in_a_turn {
            messages.push(Message::assistant(vec![Block::Text("Understood.".to_owned())]));
        }
        let anchors = vec![None; messages.len()];
        self.messages.splice(..at, messages);
        self.anchors.splice(..at, anchors);
    }

    /// What can be said without a model: the prompts, word for word, and which tools were used.
    pub(super) fn bare_summary(&self, anchor: &str) -> String {
        const MAX_PROMPT: usize = 2_000;
        let end = self.position(anchor).unwrap_or(self.messages.len());
        let mut text =
            "No model could summarise; this is what is certain.\n\nThe person's prompts:\n".to_owned();
        let mut tools: std::collections::BTreeMap<&str, usize> = Default::default();
        for message in &self.messages[..end] {
            match message.role() {
                Role::User => {
                    let words = message.text();
                    text.push_str(&format!("- {}\n", &words[..words.floor_char_boundary(MAX_PROMPT)]));
                }
                Role::Assistant => {
                    message.calls().for_each(|call| *tools.entry(&call.name).or_default() += 1)
                }
                Role::Tool => {}
            }
        }
        let used: Vec<String> = tools.into_iter().map(|(name, count)| format!("{name} ({count})")).collect();
        text.push_str(&format!("\nTools used: {}\n", used.join(", ")));
        text
    }
}

impl Transcript {
    /// Shows something that is to stay with the next prompt, and again in every summary; or lets it go.
    fn pin(&mut self, pin: &Pin, blobs: &Blobs<'_>) {
        self.pins.retain(|(name, _)| *name != pin.pin);
        let Some(content) = &pin.content else { return };
        let Some(Block::Text(text)) = block(content, blobs) else { return };
        self.notes.push(format!("pinned by the person: {}]\n{text}\n[end of what was pinned", pin.pin));
        self.pins.push((pin.pin.clone(), text));
    }

    /// What an event says was done.
    pub(super) fn apply(&mut self, compaction: &Compaction) {
        self.prune(&compaction.pruned);
        if let (Some(from), Some(summary)) = (&compaction.from, &compaction.summary) {
            self.summarise(from, summary);
        }
    }
}

/// Blocks that say nothing are in no event, and models refuse them.
pub(super) fn without_empty(mut blocks: Vec<Block>) -> Vec<Block> {
    blocks.retain(|block| match block {
        Block::Text(text) | Block::Thinking { text, replay: None } => !text.is_empty(),
        _ => true,
    });
    blocks
}

/// Groups the events of a log into steps.
#[derive(Default)]
struct Builder {
    transcript: Transcript,
    blocks: Vec<(Option<MessageId>, Block)>,
    results: Vec<ToolResult>,
    /// What goes back to the provider with this step.
    verbatim: Vec<VerbatimItem>,
}

impl Builder {
    fn event(&mut self, body: &EventBody, turn: &str, blobs: &Blobs<'_>) {
        match body {
            EventBody::UserPrompt(prompt) => {
                self.close_step();
                self.transcript.push_prompt(&prompt.content, blobs, turn);
            }
            EventBody::AgentMessage(chunk) => self.say(&chunk.message, &chunk.text, Block::Text),
            EventBody::AgentThought(chunk) => {
                self.say(&chunk.message, &chunk.text, |text| Block::Thinking { text, replay: None });
            }
            EventBody::Retract(retract) => {
                self.blocks.retain(|(id, _)| id.as_ref() != Some(&retract.message))
            }
            EventBody::ToolCall(call) => {
                self.close_step_with_results();
                let id = call.call.as_str().to_owned();
                let (name, arguments) = match &call.via {
                    Some(via) => (via.clone(), dispatch(call.name.clone(), call.input.clone())),
                    None => (call.name.clone(), call.input.clone()),
                };
                self.blocks.push((None, Block::ToolCall(ToolCall { id, name, arguments })));
            }
            EventBody::ToolCallUpdate(update) => self.results.extend(result(update, blobs)),
            EventBody::Verbatim(verbatim) => self.verbatim.clone_from(&verbatim.items),
            EventBody::TurnEnd(_) => self.close_step(),
            EventBody::Compaction(compaction) => {
                self.close_step();
                self.transcript.apply(compaction);
            }
            EventBody::Hook(ran) if ran.on == HookEvent::Stop && ran.says == Some(HookWord::Deny) => {
                self.close_step();
                let because = ran.reason.as_deref().unwrap_or_default();
                let words = [Content::text(go_on_prompt(because))];
                self.transcript.push_prompt(&words, &|_| None, "");
            }
            EventBody::Pin(pin) => self.transcript.pin(pin, blobs),
            EventBody::Checkpoint(checkpoint) if checkpoint.did != CheckpointAction::Taken => {
                let what = if checkpoint.did == CheckpointAction::Undone { "undid" } else { "did again" };
                let note = format!("the person {what} your changes to {}", checkpoint.paths.join(", "));
                self.transcript.notes.push(note);
            }
            _ => {}
        }
    }

    fn say(&mut self, message: &MessageId, piece: &str, make: impl FnOnce(String) -> Block) {
        let known = self.blocks.iter_mut().rev().find(|(id, _)| id.as_ref() == Some(message));
        if let Some((_, Block::Text(text) | Block::Thinking { text, .. })) = known {
            text.push_str(piece);
            return;
        }
        self.close_step_with_results();
        self.blocks.push((Some(message.clone()), make(piece.to_owned())));
    }

    /// Anything that the agent says after a result belongs to its next step.
    fn close_step_with_results(&mut self) {
        if !self.results.is_empty() {
            self.close_step();
        }
    }

    fn close_step(&mut self) {
        let visible = std::mem::take(&mut self.blocks).into_iter().map(|(_, block)| block);
        let blocks = verbatim::restore(visible, std::mem::take(&mut self.verbatim));
        self.transcript.push_step(blocks, std::mem::take(&mut self.results));
    }

    fn finish(mut self) -> Transcript {
        self.close_step();
        self.transcript
    }
}

fn result(update: &ToolCallUpdate, blobs: &Blobs<'_>) -> Option<ToolResult> {
    let status = update.status.filter(|status| status.is_final())?;
    let mut text = String::new();
    let mut images = Vec::new();
    for content in update.content.iter().flatten() {
        let ToolContent::Content { content } = content else { continue };
        match block(content, blobs) {
            Some(Block::Text(piece)) => text.push_str(&piece),
            Some(Block::Image(image)) => images.push(image),
            _ => {}
        }
    }
    let is_error = status == ToolStatus::Failed;
    Some(ToolResult { call: update.call.as_str().to_owned(), text, images, is_error })
}

fn block(content: &Content, blobs: &Blobs<'_>) -> Option<Block> {
    Some(match content {
        Content::Text { text } => Block::Text(text.clone()),
        Content::Image(image) => {
            let data = match &image.source {
                Source::Data(data) => data.clone(),
                Source::Blob(blob) => base64::engine::general_purpose::STANDARD.encode(blobs(blob)?),
            };
            Block::Image(ImageData { media_type: image.media_type.clone(), data: data.into() })
        }
        Content::Resource(resource) => {
            // The text beside a blob is only its beginning.
            let whole = resource
                .blob
                .as_ref()
                .and_then(blobs)
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let text =
                whole.or_else(|| resource.text.clone()).unwrap_or_else(|| format!("[{}]", resource.uri));
            Block::Text(text)
        }
        Content::Other(_) => return None,
    })
}
