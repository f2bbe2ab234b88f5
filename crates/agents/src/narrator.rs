//! Telling a foreign agent's turn in our words: messages and calls get names of ours, and each has an end.

use std::collections::HashMap;

use acp::{News, ToolNews};
use protocol::{
    CallId, Chunk, Compaction, CompactionStage, Content, MessageEnd, MessageId, Notice, NoticeLevel,
    ToolCall, ToolCallUpdate, ToolContent, ToolKind, ToolStatus, TurnId, Update,
};
use serde_json::Value;

#[cfg(test)]
mod tests;

/// One turn, as it is told.
pub(crate) struct Narrator {
    turn: TurnId,
    messages: u32,
    /// The message that is being said, and what the agent calls it.
    open: Option<Open>,
    /// Calls by the name that the agent gave them.
    calls: HashMap<CallId, Call>,
    count: u32,
    /// What was named as unknown already.
    unknown: Vec<String>,
    compacted: bool,
}

struct Open {
    message: MessageId,
    theirs: Option<String>,
    thought: bool,
}

/// What is known of a call.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) ours: CallId,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) kind: ToolKind,
    pub(crate) status: ToolStatus,
    pub(crate) input: Value,
    pub(crate) content: Vec<ToolContent>,
    pub(crate) locations: Vec<protocol::Location>,
    /// It was told. Before that it is held back, because many agents begin a call before they know its arguments.
    told: bool,
}

impl Narrator {
    pub(crate) fn new(turn: TurnId) -> Self {
        Self {
            turn,
            messages: 0,
            open: None,
            calls: HashMap::new(),
            count: 0,
            unknown: Vec::new(),
            compacted: false,
        }
    }

    /// The updates that one piece of news makes.
    pub(crate) fn tell(&mut self, news: News) -> Vec<Update> {
        match news {
            News::Said { content, message } => self.say(content, message, false),
            News::Thought { content, message } => self.say(content, message, true),
            News::Tool(tool) => self.tool(tool),
            News::Plan(plan) => vec![Update::Plan(plan)],
            News::Commands(commands) => vec![Update::Commands(commands)],
            News::Notice { level, text } => vec![notice(level, text)],
            News::Compacted { summary, tokens_before } => self.compacted(summary, tokens_before),
            News::Unknown { name } => self.unknown(&name),
            News::UserSaid { .. } | News::Mode(_) | News::Options(_) | News::Title(_) => vec![],
            News::Window { .. } | News::Nothing => vec![],
        }
    }

    /// It summarised its conversation. Some say so more than once.
    pub(crate) fn compacted(&mut self, summary: String, tokens_before: u64) -> Vec<Update> {
        if std::mem::replace(&mut self.compacted, true) {
            return vec![];
        }
        let summary = (!summary.is_empty()).then_some(summary);
        // What is kept as it was is the agent's affair: for us, all of the log stands.
        vec![Update::Compaction(Compaction {
            stage: CompactionStage::Summarise,
            summary,
            from: None,
            pruned: vec![],
            tokens_before,
            tokens_after: 0,
        })]
    }

    /// Names something that is not known, once.
    pub(crate) fn unknown(&mut self, name: &str) -> Vec<Update> {
        const MOST: usize = 20;
        if self.unknown.iter().any(|known| known == name) || self.unknown.len() >= MOST {
            return vec![];
        }
        self.unknown.push(name.to_owned());
        let name: String = name.chars().take(80).collect();
        vec![notice(NoticeLevel::Info, format!("the agent sent `{name}`, which this version does not know"))]
    }

    fn say(&mut self, content: Content, theirs: Option<String>, thought: bool) -> Vec<Update> {
        let text = match content {
            Content::Text { text } => text,
            other => protocol::prompt_text(&[other]),
        };
        if text.is_empty() {
            return vec![];
        }
        let same = self
            .open
            .as_ref()
            .is_some_and(|open| open.thought == thought && (theirs.is_none() || open.theirs == theirs));
        let mut updates = Vec::new();
        if !same {
            updates = self.end_message();
            updates.extend(self.tell_held());
            self.messages += 1;
            let message = MessageId::from(format!("{}.m{}", self.turn, self.messages));
            self.open = Some(Open { message, theirs, thought });
        }
        if let Some(open) = &self.open {
            let chunk = Chunk { message: open.message.clone(), text };
            updates.push(if thought { Update::Thought(chunk) } else { Update::Message(chunk) });
        }
        updates
    }

    pub(crate) fn end_message(&mut self) -> Vec<Update> {
        let ended = self.open.take().map(|open| Update::MessageEnd(MessageEnd { message: open.message }));
        ended.into_iter().collect()
    }

    pub(crate) fn tool(&mut self, news: ToolNews) -> Vec<Update> {
        let mut updates = self.end_message();
        // A call that has ended is over: the same name again is another call.
        let over = self.calls.get(&news.call).is_some_and(|call| call.status.is_final());
        if over && news.begins {
            self.calls.remove(&news.call);
        }
        let (count, turn) = (&mut self.count, &self.turn);
        let call = self.calls.entry(news.call.clone()).or_insert_with(|| {
            *count += 1;
            Call::new(CallId::from(format!("{turn}_c{count}")))
        });
        let was_final = call.status.is_final();
        call.learn(&news);
        if !call.told {
            let known =
                !is_empty(&call.input) || call.status != ToolStatus::Pending || !call.content.is_empty();
            if known {
                updates.extend(call.begin());
            }
            return updates;
        }
        if was_final && news.status.is_none() && news.content.is_none() {
            return updates;
        }
        let update = ToolCallUpdate {
            status: news.status,
            title: news.title,
            content: news
                .content
                .filter(|content| !content.is_empty())
                .or_else(|| output(news.output.as_ref())),
            ..ToolCallUpdate::of(call.ours.clone())
        };
        let says_something = update.status.is_some() || update.title.is_some() || update.content.is_some();
        updates.extend(says_something.then_some(Update::ToolCallUpdate(update)));
        updates
    }

    /// Tells what is held back of a call, because it is needed now, and what it is about.
    pub(crate) fn insist(&mut self, news: ToolNews) -> (Vec<Update>, Option<Call>) {
        let theirs = news.call.clone();
        let mut updates = self.tool(news);
        let call = self.calls.get_mut(&theirs);
        let call = call.map(|call| {
            updates.extend(call.begin());
            call.clone()
        });
        (updates, call)
    }

    /// What is known of a call, by the name that the agent gave it.
    pub(crate) fn call(&self, theirs: &CallId) -> Option<&Call> {
        self.calls.get(theirs)
    }

    fn tell_held(&mut self) -> Vec<Update> {
        let mut held: Vec<&mut Call> = self.calls.values_mut().filter(|call| !call.told).collect();
        held.sort_by(|a, b| a.ours.cmp(&b.ours));
        held.into_iter().flat_map(Call::begin).collect()
    }

    /// What is still owed when the turn ends.
    pub(crate) fn finish(&mut self) -> Vec<Update> {
        let mut updates = self.end_message();
        updates.extend(self.tell_held());
        updates
    }
}

impl Call {
    /// The tool's name, or the usual one for what it does: some agents do not say.
    pub(crate) fn tool(&self) -> &str {
        if self.name.is_empty() { word(self.kind) } else { &self.name }
    }

    fn new(ours: CallId) -> Self {
        Self {
            ours,
            name: String::new(),
            title: String::new(),
            kind: ToolKind::Other,
            status: ToolStatus::Pending,
            input: Value::Null,
            content: Vec::new(),
            locations: Vec::new(),
            told: false,
        }
    }

    fn learn(&mut self, news: &ToolNews) {
        if let Some(name) = &news.name {
            self.name.clone_from(name);
        }
        if let Some(title) = news.title.as_ref().filter(|title| !title.is_empty()) {
            self.title.clone_from(title);
        }
        self.kind = news.kind.unwrap_or(self.kind);
        self.status = news.status.unwrap_or(self.status);
        if let Some(input) = news.input.as_ref().filter(|input| !is_empty(input)) {
            self.input.clone_from(input);
        }
        if let Some(content) = &news.content {
            self.content.clone_from(content);
        }
        if let Some(locations) = news.locations.as_ref().filter(|locations| !locations.is_empty()) {
            self.locations.clone_from(locations);
        }
    }

    fn begin(&mut self) -> Vec<Update> {
        if std::mem::replace(&mut self.told, true) {
            return vec![];
        }
        let name = self.tool().to_owned();
        let title = if self.title.is_empty() { name.clone() } else { self.title.clone() };
        let call = ToolCall {
            call: self.ours.clone(),
            name,
            title,
            kind: self.kind,
            // Its end is told by an update, which carries what came out.
            status: if self.status.is_final() { ToolStatus::InProgress } else { self.status },
            input: self.input.clone(),
            locations: self.locations.clone(),
            via: None,
        };
        let mut updates = vec![Update::ToolCall(call)];
        if self.status.is_final() || !self.content.is_empty() {
            updates.push(Update::ToolCallUpdate(ToolCallUpdate {
                status: self.status.is_final().then_some(self.status),
                content: (!self.content.is_empty()).then(|| self.content.clone()),
                ..ToolCallUpdate::of(self.ours.clone())
            }));
        }
        updates
    }
}

pub(crate) fn notice(level: NoticeLevel, text: String) -> Update {
    Update::Notice(Notice { level, text })
}

fn is_empty(input: &Value) -> bool {
    match input {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// What came out of a call, where the agent only gives it as data.
fn output(output: Option<&Value>) -> Option<Vec<ToolContent>> {
    let text = match output? {
        Value::String(text) => text.clone(),
        value => {
            let named = ["output", "stdout", "content", "aggregated_output"].iter();
            named.filter_map(|name| value.get(*name)?.as_str()).find(|text| !text.is_empty())?.to_owned()
        }
    };
    (!text.is_empty()).then(|| vec![ToolContent::text(text)])
}

fn word(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "shell",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::Other => "tool",
    }
}
