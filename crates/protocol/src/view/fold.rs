//! One event more.

use super::{Item, ItemBody, OpenTurn, PromptKey, SessionView};
use crate::{
    Chunk, Event, EventBody, HookWord, MessageId, Notice, NoticeLevel, SessionStatus, ToolCallUpdate,
    prompt_text,
};

/// The conversation is cut to this many things …
const MAX_ITEMS: usize = 400;
/// … and this much text, whichever comes first.
const MAX_WEIGHT: u64 = 1 << 20;
const MAX_KEYS: usize = 64;
const MAX_TITLE: usize = 80;

impl SessionView {
    /// Folds one event in. Events that were folded in already are passed over, so a resync may overlap.
    pub fn apply(&mut self, event: &Event) {
        if event.seq <= self.seq {
            return;
        }
        self.seq = event.seq;
        self.updated = event.ts;
        match &event.body {
            EventBody::SessionStart(_) | EventBody::MessageEnd(_) | EventBody::FileRead(_) => {}
            EventBody::FileWrite(_) | EventBody::Verbatim(_) | EventBody::Repair(_) | EventBody::Other(_) => {
            }
            EventBody::Checkpoint(_) => {}
            EventBody::Context(ledger) => self.context = Some(ledger.clone()),
            EventBody::Compaction(compaction) => {
                let text = compaction.describe();
                self.push(event, ItemBody::Notice(Notice { level: NoticeLevel::Info, text }));
            }
            EventBody::Pin(pin) => {
                self.pins.retain(|known| known.pin != pin.pin);
                if pin.content.is_some() {
                    self.pins.push(pin.clone());
                }
            }
            EventBody::SuggestedActions(suggested) => self.suggestions = suggested.actions.clone(),
            EventBody::Commands(list) => self.commands = list.commands.clone(),
            EventBody::UserPrompt(prompt) => {
                self.suggestions.clear();
                if self.title.is_empty() {
                    self.title = title_from(&prompt_text(&prompt.content));
                }
                if let (Some(key), Some(turn)) = (&prompt.key, &event.turn) {
                    if self.keys.len() >= MAX_KEYS {
                        self.keys.remove(0);
                    }
                    self.keys.push(PromptKey { key: key.clone(), turn: turn.clone() });
                }
                self.push(event, ItemBody::Prompt { content: prompt.content.clone() });
            }
            EventBody::TurnStart(start) => {
                self.turns += 1;
                if let Some(turn) = &event.turn {
                    let open = OpenTurn {
                        parent: start.parent.clone(),
                        agent: start.agent.clone(),
                        started: event.ts,
                        usage: Default::default(),
                        steps: 0,
                    };
                    self.open.insert(turn.clone(), open);
                }
            }
            EventBody::AgentMessage(chunk) => self.chunk(event, chunk, false),
            EventBody::AgentThought(chunk) => self.chunk(event, chunk, true),
            EventBody::Retract(retract) => {
                if let Some(at) = self.position(&retract.message) {
                    self.items.remove(at).inspect(|item| self.weight -= weight(&item.body).min(self.weight));
                }
            }
            EventBody::ToolCall(call) => {
                self.push(event, ItemBody::Tool { call: Box::new(call.clone()), result: None })
            }
            EventBody::ToolCallUpdate(update) => self.tool_update(update),
            EventBody::Plan(plan) => self.plan = plan.clone(),
            EventBody::PermissionRequest(request) => self.pending.push(request.clone()),
            EventBody::Permission(answer) => self.pending.retain(|request| request.request != answer.request),
            EventBody::Usage(report) => {
                self.usage += report.usage;
                if let Some(open) = event.turn.as_ref().and_then(|turn| self.open.get_mut(turn)) {
                    open.usage += report.usage;
                    open.steps += 1;
                }
            }
            EventBody::Mode(changed) => self.mode = changed.mode,
            EventBody::Effort(changed) => self.effort = changed.effort,
            EventBody::Folders(changed) => self.folders.clone_from(&changed.folders),
            EventBody::Model(changed) => self.model = Some(changed.model.clone()),
            EventBody::Agent(changed) => {
                self.agent = changed.agent.clone();
                self.model = changed.model.clone();
                self.commands.clear();
            }
            EventBody::Marks(marks) => self.marks = *marks,
            EventBody::Title(changed) => self.title = changed.title.clone(),
            EventBody::Retry(retry) => self.push(event, ItemBody::Retry(retry.clone())),
            EventBody::Route(route) => self.push(event, ItemBody::Route(route.clone())),
            EventBody::Hook(ran) => {
                // A failure is for the person to mend; the rest is good to know.
                let failed =
                    ran.says == Some(HookWord::Deny) || (ran.context.is_none() && !ran.changed_input);
                let level = if failed { NoticeLevel::Warning } else { NoticeLevel::Info };
                self.push(event, ItemBody::Notice(Notice { level, text: ran.describe() }));
            }
            EventBody::Notice(notice) => self.push(event, ItemBody::Notice(notice.clone())),
            EventBody::Error(error) => self.push(event, ItemBody::Error(error.clone())),
            EventBody::TurnEnd(end) => {
                if let Some(turn) = &event.turn {
                    self.open.remove(turn);
                }
                if self.open.is_empty() {
                    // A question of a turn that is over can no longer be answered.
                    self.pending.clear();
                }
                let body =
                    ItemBody::TurnEnd { stop: end.stop, cause: end.cause, duration_ms: end.duration_ms };
                self.push(event, body);
            }
            EventBody::SessionEnd(_) => {}
        }
        if let EventBody::MessageEnd(end) = &event.body {
            self.message_done(&end.message);
        }
        self.status = match &event.body {
            EventBody::SessionEnd(_) => SessionStatus::Ended,
            _ if !self.pending.is_empty() => SessionStatus::Waiting,
            _ if !self.open.is_empty() => SessionStatus::Running,
            // A rename or a repair does not wake a session that has ended.
            _ if self.status == SessionStatus::Ended => SessionStatus::Ended,
            _ => SessionStatus::Idle,
        };
    }

    fn push(&mut self, event: &Event, body: ItemBody) {
        self.weight += weight(&body);
        self.items.push_back(Item { seq: event.seq, ts: event.ts, turn: event.turn.clone(), body });
        self.trim();
    }

    fn trim(&mut self) {
        while self.items.len() > MAX_ITEMS || (self.weight > MAX_WEIGHT && self.items.len() > 1) {
            let Some(gone) = self.items.pop_front() else { break };
            self.weight -= weight(&gone.body).min(self.weight);
            self.first = self.items.front().map_or(self.seq + 1, |item| item.seq);
        }
    }

    fn position(&self, message: &MessageId) -> Option<usize> {
        // Pieces nearly always belong to the newest message, so the search starts there.
        self.items.iter().rposition(|item| match &item.body {
            ItemBody::Message { message: m, .. } | ItemBody::Thought { message: m, .. } => m == message,
            _ => false,
        })
    }

    fn chunk(&mut self, event: &Event, chunk: &Chunk, thought: bool) {
        if let Some(at) = self.position(&chunk.message) {
            if let ItemBody::Message { text, .. } | ItemBody::Thought { text, .. } = &mut self.items[at].body
            {
                text.push_str(&chunk.text);
                self.weight += chunk.text.len() as u64;
            }
            self.trim();
        } else {
            let (message, text) = (chunk.message.clone(), chunk.text.clone());
            let body = match thought {
                true => ItemBody::Thought { message, text, done: false },
                false => ItemBody::Message { message, text, done: false },
            };
            self.push(event, body);
        }
    }

    fn message_done(&mut self, message: &MessageId) {
        if let Some(at) = self.position(message)
            && let ItemBody::Message { done, .. } | ItemBody::Thought { done, .. } = &mut self.items[at].body
        {
            *done = true;
        }
    }

    fn tool_update(&mut self, update: &ToolCallUpdate) {
        let found = self.items.iter_mut().rev().find_map(|item| match &mut item.body {
            ItemBody::Tool { call, result } if call.call == update.call => Some((call, result)),
            _ => None,
        });
        let Some((call, result)) = found else { return };
        let before = result.as_deref().map_or(0, update_weight);
        if let Some(status) = update.status {
            call.status = status;
        }
        if let Some(title) = &update.title {
            call.title = title.clone();
        }
        let merged = match result.take() {
            None => update.clone(),
            Some(old) => ToolCallUpdate {
                call: old.call,
                status: update.status.or(old.status),
                title: update.title.clone().or(old.title),
                summary: update.summary.clone().or(old.summary),
                content: update.content.clone().or(old.content),
                duration_ms: update.duration_ms.or(old.duration_ms),
            },
        };
        let after = update_weight(&merged);
        *result = Some(Box::new(merged));
        self.weight = (self.weight + after).saturating_sub(before);
        self.trim();
    }
}

/// Bytes of text, near enough for a bound.
fn weight(body: &ItemBody) -> u64 {
    let content = |blocks: &[crate::Content]| blocks.iter().map(content_weight).sum::<u64>();
    64 + match body {
        ItemBody::Prompt { content: blocks } => content(blocks),
        ItemBody::Message { text, .. } | ItemBody::Thought { text, .. } => text.len() as u64,
        ItemBody::Tool { call, result } => {
            let input = match &call.input {
                serde_json::Value::String(text) => text.len(),
                serde_json::Value::Object(map) => {
                    map.values().map(|value| value.as_str().map_or(16, str::len)).sum()
                }
                _ => 16,
            };
            input as u64 + result.as_deref().map_or(0, update_weight)
        }
        ItemBody::Retry(_) | ItemBody::Route(_) | ItemBody::TurnEnd { .. } => 0,
        ItemBody::Notice(notice) => notice.text.len() as u64,
        ItemBody::Error(error) => error.message.len() as u64,
    }
}

fn update_weight(update: &ToolCallUpdate) -> u64 {
    let blocks = update.content.iter().flatten();
    64 + blocks
        .map(|block| match block {
            crate::ToolContent::Content { content } => content_weight(content),
            crate::ToolContent::Diff { old, new, .. } => {
                (old.as_ref().map_or(0, String::len) + new.len()) as u64
            }
            crate::ToolContent::Terminal { .. } => 16,
            crate::ToolContent::Other(value) => value.as_str().map_or(256, str::len) as u64,
        })
        .sum::<u64>()
}

fn content_weight(content: &crate::Content) -> u64 {
    let source = |source: &crate::Source| match source {
        crate::Source::Data(text) => text.len() as u64,
        crate::Source::Blob(_) => 64,
    };
    match content {
        crate::Content::Text { text } => text.len() as u64,
        crate::Content::Image(image) => source(&image.source),
        crate::Content::Resource(resource) => resource.text.as_ref().map_or(64, String::len) as u64,
        crate::Content::Other(_) => 256,
    }
}

/// The first line that says something, cut at a character.
fn title_from(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let mut title: String = line.chars().filter(|c| !c.is_control()).take(MAX_TITLE).collect();
    if line.chars().count() > MAX_TITLE {
        title.push('…');
    }
    title
}
