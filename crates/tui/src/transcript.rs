//! The conversation as blocks, and which of their rows are finished.
//!
//! Events make blocks. A block that is final never changes again: its rows go to the terminal's scrollback once and
//! are laid out again only after a resize. What is left is the live tail, and only that is laid out for each frame.

mod block;
mod lanes;
mod note;
mod said;
mod tool;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use protocol::{
    CallId, Content, Event, EventBody, Item, ItemBody, MessageId, Notice, NoticeLevel, Plan, SessionView,
    Stop, StopCause, Timestamp, TurnId,
};

use block::Block;
pub(crate) use block::{Body, Sheet};
use lanes::Lanes;
pub(crate) use note::{Note, Prompt};
use said::{Said, Thought};
pub(crate) use tool::ToolCard;

use crate::text::Line;

/// Blocks that are kept to be laid out again.
const MAX_BLOCKS: usize = 1_000;
/// Text is easier to read in lines that are not too long.
pub(crate) const MEASURE: usize = 100;

/// What layout depends on besides the block itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Page<'a> {
    pub(crate) columns: usize,
    pub(crate) now: Timestamp,
    /// Everything is open.
    pub(crate) unfolded: bool,
    /// Calls that wait for the person.
    pub(crate) waiting: &'a HashSet<CallId>,
}

impl Page<'_> {
    pub(crate) fn measure(&self) -> usize {
        self.columns.min(MEASURE)
    }
}

#[derive(Default)]
pub(crate) struct Transcript {
    blocks: VecDeque<Block>,
    /// The first block that the terminal does not have whole, and how many of its rows it has.
    at: usize,
    given: usize,
    plan: Plan,
    plan_changed: bool,
    /// Turns that other turns started.
    children: HashSet<TurnId>,
}

impl Transcript {
    /// What a session had when it was opened.
    pub(crate) fn from_view(view: &SessionView) -> Self {
        let mut transcript = Self::default();
        if view.items.front().is_some_and(|_| view.first > 3) {
            transcript
                .note(Note::whisper("earlier parts of this session are in its log: covey session show"));
        }
        for item in &view.items {
            transcript.item(item);
        }
        transcript.plan = view.plan.clone();
        transcript
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Something that this front end alone says.
    pub(crate) fn note(&mut self, note: Note) {
        self.push(Body::Note(note));
    }

    /// Something that this front end alone shows, laid out for any width.
    pub(crate) fn sheet(&mut self, lay: impl Fn(usize) -> Vec<Line> + Send + Sync + 'static) {
        self.push(Body::Sheet(Sheet(Arc::new(lay))));
    }

    fn push(&mut self, body: Body) {
        self.blocks.push_back(Block { body });
        while self.blocks.len() > MAX_BLOCKS && self.at > 0 {
            self.blocks.pop_front();
            self.at -= 1;
        }
    }

    fn item(&mut self, item: &Item) {
        if item.turn.as_ref().is_some_and(|turn| turn.as_str().contains('.')) {
            self.lane_item(item);
            return;
        }
        let body = match &item.body {
            ItemBody::Prompt { content } => Body::Prompt(Prompt::new(content)),
            ItemBody::Message { message, text, done } => {
                Body::Said(Said::new(message.clone(), text.clone(), *done))
            }
            ItemBody::Thought { message, text, done } => {
                Body::Thought(Thought::new(message.clone(), text.clone(), *done, None))
            }
            ItemBody::Tool { call, result } => {
                let card = ToolCard::new((**call).clone(), result.as_deref().cloned(), None);
                Body::Tool(Box::new(card.run_by_person(self.is_command())))
            }
            ItemBody::Retry(retry) => Body::Note(Note::retry(retry)),
            ItemBody::Route(route) => Body::Note(Note::route(route)),
            ItemBody::Notice(notice) => Body::Note(Note::notice(notice)),
            ItemBody::Error(error) => Body::Note(Note::error(error)),
            ItemBody::TurnEnd { stop, cause, duration_ms } => {
                match Note::end(*stop, *cause, *duration_ms, None) {
                    Some(note) => Body::Note(note),
                    None => return,
                }
            }
        };
        self.push(body);
    }

    fn lane_item(&mut self, item: &Item) {
        let Some(turn) = &item.turn else { return };
        match &item.body {
            ItemBody::Tool { call, .. } => self.lanes(turn).doing(turn, &call.title),
            ItemBody::Message { text, .. } => self.lanes(turn).said(turn, text),
            ItemBody::TurnEnd { stop, .. } => self.lanes(turn).ended(turn, *stop, None, item.ts),
            _ => {}
        }
    }

    /// The lanes that `turn`, a child, belongs to: those at the end of the conversation, or new ones.
    fn lanes(&mut self, turn: &TurnId) -> &mut Lanes {
        let found = self.blocks.iter().rposition(|block| match &block.body {
            Body::Lanes(lanes) => lanes.has(turn),
            _ => false,
        });
        let at = found.unwrap_or_else(|| {
            let open =
                self.blocks.iter().rposition(|block| matches!(&block.body, Body::Lanes(l) if !l.is_final()));
            open.unwrap_or_else(|| {
                self.push(Body::Lanes(Lanes::default()));
                self.blocks.len() - 1
            })
        });
        match &mut self.blocks[at].body {
            Body::Lanes(lanes) => lanes,
            _ => unreachable!("the block was found by being lanes"),
        }
    }

    /// One event more.
    pub(crate) fn apply(&mut self, event: &Event) {
        if let (EventBody::TurnStart(start), Some(turn)) = (&event.body, &event.turn)
            && start.parent.is_some()
        {
            self.children.insert(turn.clone());
        }
        if event.is_of_child() || event.turn.as_ref().is_some_and(|turn| self.children.contains(turn)) {
            self.apply_child(event);
            return;
        }
        match &event.body {
            EventBody::UserPrompt(prompt) => self.push(Body::Prompt(Prompt::new(&prompt.content))),
            EventBody::AgentMessage(chunk) => match self.message(&chunk.message) {
                Some(Body::Said(said)) => said.append(&chunk.text),
                _ => self.push(Body::Said(Said::new(chunk.message.clone(), chunk.text.clone(), false))),
            },
            EventBody::AgentThought(chunk) => match self.message(&chunk.message) {
                Some(Body::Thought(thought)) => thought.append(&chunk.text),
                _ => {
                    let thought =
                        Thought::new(chunk.message.clone(), chunk.text.clone(), false, Some(event.ts));
                    self.push(Body::Thought(thought));
                }
            },
            EventBody::MessageEnd(end) => match self.message(&end.message) {
                Some(Body::Said(said)) => said.finish(),
                Some(Body::Thought(thought)) => thought.finish(event.ts),
                _ => {}
            },
            EventBody::Retract(retract) => self.retract(&retract.message),
            EventBody::ToolCall(call) => {
                let card = ToolCard::new(call.clone(), None, Some(event.ts));
                self.push(Body::Tool(Box::new(card.run_by_person(self.is_command()))));
            }
            EventBody::ToolCallUpdate(update) => {
                if let Some(card) = self.card(&update.call) {
                    card.update(update);
                }
            }
            EventBody::Plan(plan) => {
                self.plan_changed |= self.plan != *plan;
                self.plan = plan.clone();
            }
            EventBody::Retry(retry) => self.note(Note::retry(retry)),
            EventBody::Route(route) => self.note(Note::route(route)),
            // Who asked for it is told in the answer.
            EventBody::Compaction(compaction)
                if compaction.from.is_some() && self.last_prompt().is_some_and(|p| p.begins("/compact")) => {}
            EventBody::Compaction(compaction) => {
                self.note(Note::notice(&Notice { level: NoticeLevel::Info, text: compaction.describe() }))
            }
            EventBody::Notice(notice) => self.note(Note::notice(notice)),
            EventBody::Error(error) => self.note(Note::error(error)),
            EventBody::Repair(repair) => self.note(Note::warning(format!(
                "the end of the log was damaged: {} bytes were cut off",
                repair.bytes
            ))),
            EventBody::Permission(answer) => {
                if let Some(note) = Note::permission(answer) {
                    self.note(note);
                }
            }
            EventBody::Checkpoint(checkpoint) => {
                if let Some(note) = Note::checkpoint(checkpoint) {
                    self.note(note);
                }
            }
            EventBody::Hook(ran) => {
                if let Some(note) = Note::hook(ran) {
                    self.note(note);
                }
            }
            EventBody::TurnEnd(end) => {
                self.close(end.stop, end.cause);
                if let Some(note) = Note::end(end.stop, end.cause, end.duration_ms, Some(&end.usage)) {
                    self.push(Body::Note(note));
                }
            }
            _ => {}
        }
    }

    fn apply_child(&mut self, event: &Event) {
        let Some(turn) = &event.turn else { return };
        match &event.body {
            EventBody::UserPrompt(prompt) => {
                let asked = protocol::prompt_text(&prompt.content);
                self.lanes(turn).asked(turn, &asked);
            }
            EventBody::TurnStart(start) => self.lanes(turn).started(turn, &start.agent, event.ts),
            EventBody::ToolCall(call) => self.lanes(turn).doing(turn, &call.title),
            EventBody::AgentMessage(chunk) => self.lanes(turn).said(turn, &chunk.text),
            EventBody::Error(error) => self.lanes(turn).doing(turn, &error.message),
            EventBody::TurnEnd(end) => self.lanes(turn).ended(turn, end.stop, Some(&end.usage), event.ts),
            _ => {}
        }
    }

    /// The turn is over: nothing of it changes any more.
    fn close(&mut self, stop: Stop, _cause: Option<StopCause>) {
        for block in self.blocks.iter_mut().skip(self.at) {
            match &mut block.body {
                Body::Said(said) => said.finish(),
                Body::Thought(thought) => thought.close(),
                Body::Tool(card) => card.close(stop),
                Body::Lanes(lanes) => lanes.close(),
                _ => {}
            }
        }
        if std::mem::take(&mut self.plan_changed) && !self.plan.entries.is_empty() {
            self.push(Body::Plan(self.plan.clone()));
        }
    }

    fn retract(&mut self, message: &MessageId) {
        let Some(found) = self.blocks.iter().rposition(|block| block.is_message(message)) else { return };
        let shown = found < self.at || (found == self.at && self.given > 0);
        if shown {
            if let Body::Said(said) = &mut self.blocks[found].body {
                said.finish();
            }
            self.note(Note::warning("the answer above was cut off; it comes again"));
        } else {
            self.blocks.remove(found);
        }
    }

    fn message(&mut self, message: &MessageId) -> Option<&mut Body> {
        self.blocks.iter_mut().rev().find(|block| block.is_message(message)).map(|block| &mut block.body)
    }

    pub(crate) fn card(&mut self, call: &CallId) -> Option<&mut ToolCard> {
        self.blocks.iter_mut().rev().find_map(|block| match &mut block.body {
            Body::Tool(card) if card.call.call == *call => Some(&mut **card),
            _ => None,
        })
    }

    /// Rows that are finished since the last time, and the live ones: at most `room` of those.
    pub(crate) fn frame(&mut self, page: &Page<'_>, room: usize) -> (Vec<Line>, Vec<Line>) {
        let mut frozen = Vec::new();
        while self.at < self.blocks.len() && self.blocks[self.at].is_final() {
            let rows = self.block_rows(self.at, page);
            frozen.extend(rows.into_iter().skip(self.given));
            self.at += 1;
            self.given = 0;
        }
        let mut live = Vec::new();
        for at in self.at..self.blocks.len() {
            let rows = self.block_rows(at, page);
            if at > self.at {
                live.extend(rows);
                continue;
            }
            // What a message has said for good may go, too.
            let settled = self.blocks[at].settled_rows().map_or(0, |settled| settled + self.gap(at));
            let mut rows = rows.into_iter().skip(self.given);
            let fresh = settled.saturating_sub(self.given);
            frozen.extend(rows.by_ref().take(fresh));
            self.given += fresh;
            live.extend(rows);
        }
        let over = live.len().saturating_sub(room);
        if over > 0 {
            let growing = self.blocks.get(self.at).and_then(Block::settled_rows).is_some();
            let alone = self.at + 1 == self.blocks.len();
            let gone = live.drain(..over);
            if growing && alone {
                // It only grows at its end, so what leaves the screen at the top is as good as finished.
                frozen.extend(gone);
                self.given += over;
            }
        }
        (frozen, live)
    }

    /// The last `count` rows of what the terminal has, laid out again.
    pub(crate) fn recent(&mut self, page: &Page<'_>, count: usize) -> Vec<Line> {
        let mut rows: Vec<Line> = Vec::new();
        if self.given > 0 {
            // The width changed, so what was given of the block under way is counted anew: all that is settled.
            let block = self.block_rows(self.at, page);
            let settled =
                self.blocks[self.at].settled_rows().map_or(0, |settled| settled + self.gap(self.at));
            self.given = settled.min(block.len());
            rows = block.into_iter().take(self.given).collect();
        }
        let mut at = self.at;
        while at > 0 && rows.len() < count {
            at -= 1;
            let mut earlier = self.block_rows(at, page);
            earlier.append(&mut rows);
            rows = earlier;
        }
        let over = rows.len().saturating_sub(count);
        rows.drain(..over);
        rows
    }

    /// Every row there is: for the full screen.
    pub(crate) fn all(&mut self, page: &Page<'_>) -> Vec<Line> {
        (0..self.blocks.len()).flat_map(|at| self.block_rows(at, page)).collect()
    }

    fn block_rows(&mut self, at: usize, page: &Page<'_>) -> Vec<Line> {
        let gap = self.gap(at);
        let mut rows = vec![Line::new(); gap];
        rows.extend(self.blocks[at].rows(page));
        rows
    }

    fn gap(&self, at: usize) -> usize {
        let before = at.checked_sub(1).map(|before| &self.blocks[before].body);
        usize::from(before.is_some_and(|before| block::parted(before, &self.blocks[at].body)))
    }

    /// Whether the last prompt was a command for the shell.
    fn is_command(&self) -> bool {
        self.last_prompt().is_some_and(|prompt| prompt.begins("!"))
    }

    fn last_prompt(&self) -> Option<&Prompt> {
        self.blocks.iter().rev().find_map(|block| match &block.body {
            Body::Prompt(prompt) => Some(prompt),
            _ => None,
        })
    }

    /// The title of `call`, if its card is the last thing there is.
    pub(crate) fn last_card(&self, call: &CallId) -> Option<String> {
        match &self.blocks.back()?.body {
            Body::Tool(card) if card.call.call == *call => Some(card.call.title.clone()),
            _ => None,
        }
    }

    pub(crate) fn last_answer(&self) -> Option<&str> {
        self.blocks.iter().rev().find_map(|block| match &block.body {
            Body::Said(said) => Some(said.text()),
            _ => None,
        })
    }

    /// What a call is about to change, for the question whether it may.
    pub(crate) fn call_preview(&mut self, call: &CallId, columns: usize, limit: usize) -> Vec<Line> {
        self.card(call).map(|card| card.preview(columns, limit)).unwrap_or_default()
    }

    pub(crate) fn prompt_of(content: &[Content]) -> String {
        protocol::prompt_text(content)
    }
}
