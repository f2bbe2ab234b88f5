//! What happened in a session, in the words of the Agent Client Protocol.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ::acp::{News, ToolNews};
use protocol::{
    CallId, Content, Event, EventBody, Location, NoticeLevel, Resource, ToolCall, ToolCallUpdate,
    ToolContent, ToolKind, Usage,
};

/// Turns a session's events into news, one after the other.
pub(super) struct Teller {
    /// Paths of ours start here; the protocol wants whole ones.
    cwd: PathBuf,
    /// The editor shows notices as such.
    notices: bool,
    /// Prompts that came from the editor, which it shows itself.
    own: HashSet<String>,
    cost_usd: Option<f64>,
    /// Commands that run, with the terminal that shows them.
    running: HashMap<CallId, Running>,
}

struct Running {
    command: String,
    terminal: Option<String>,
}

impl Teller {
    pub(super) fn new(cwd: &Path, notices: bool, spent: &Usage) -> Self {
        let cwd = cwd.to_owned();
        Self { cwd, notices, own: HashSet::new(), cost_usd: spent.cost_usd, running: HashMap::new() }
    }

    /// A prompt with this key is the editor's own.
    pub(super) fn is_own(&mut self, key: String) {
        self.own.insert(key);
    }

    pub(super) fn tell(&mut self, event: &Event) -> Vec<News> {
        if event.is_of_child() {
            // The call that started it tells what came of it.
            return vec![];
        }
        match &event.body {
            EventBody::UserPrompt(prompt) => {
                match prompt.key.as_ref().is_some_and(|key| self.own.remove(key)) {
                    true => vec![],
                    false => {
                        prompt.content.iter().map(|part| News::UserSaid { content: linked(part) }).collect()
                    }
                }
            }
            EventBody::AgentMessage(chunk) => {
                vec![News::Said {
                    content: Content::text(&*chunk.text),
                    message: Some(chunk.message.to_string()),
                }]
            }
            EventBody::AgentThought(chunk) => {
                vec![News::Thought {
                    content: Content::text(&*chunk.text),
                    message: Some(chunk.message.to_string()),
                }]
            }
            EventBody::Retract(retract) => {
                vec![self.notice(
                    NoticeLevel::Info,
                    format!("the answer so far does not count: {}", retract.reason),
                )]
            }
            EventBody::ToolCall(call) => vec![self.begin(call)],
            EventBody::ToolCallUpdate(update) => vec![self.update(update)],
            EventBody::Plan(plan) => vec![News::Plan(plan.clone())],
            EventBody::Usage(report) => {
                if let Some(cost) = report.usage.cost_usd {
                    *self.cost_usd.get_or_insert(0.0) += cost;
                }
                vec![]
            }
            EventBody::Context(ledger) => {
                let size = ledger.window.map(u64::from);
                let window = |size| News::Window { used: ledger.total(), size, cost_usd: self.cost_usd };
                size.map(window).into_iter().collect()
            }
            EventBody::Title(title) => vec![News::Title(title.title.clone())],
            EventBody::Mode(mode) => vec![News::Mode(mode.mode.as_str().to_owned())],
            EventBody::Compaction(compaction) => vec![self.notice(NoticeLevel::Info, compaction.describe())],
            EventBody::Retry(retry) => {
                vec![self.notice(NoticeLevel::Info, format!("{}; it is tried again", retry.reason))]
            }
            EventBody::Route(route) => {
                let text = format!("{} answers instead of {}: {}", route.to, route.from, route.reason);
                vec![self.notice(NoticeLevel::Warning, text)]
            }
            EventBody::Notice(notice) => vec![self.notice(notice.level, notice.text.clone())],
            EventBody::Error(error) => {
                let hint = error.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
                vec![self.notice(NoticeLevel::Warning, format!("{}{hint}", error.message))]
            }
            _ => vec![],
        }
    }

    /// What is worth knowing and no part of the answer.
    pub(super) fn notice(&self, level: NoticeLevel, text: String) -> News {
        if self.notices {
            return News::Notice { level, text };
        }
        // Set apart from the answer, as far as plain text can do that.
        News::Said {
            content: Content::text(format!("\n\n> {}\n\n", text.replace('\n', "\n> "))),
            message: None,
        }
    }

    /// The call that runs this command is shown by a terminal from now on.
    pub(super) fn in_terminal(&mut self, command: &str, terminal: &str) -> Option<News> {
        let waits = |running: &Running| running.terminal.is_none() && running.command == command;
        let (call, running) = self.running.iter_mut().find(|(_, running)| waits(running))?;
        running.terminal = Some(terminal.to_owned());
        let content = Some(vec![ToolContent::Terminal { terminal: terminal.to_owned() }]);
        Some(News::Tool(ToolNews { content, ..nothing_new(call.clone()) }))
    }

    fn begin(&mut self, call: &ToolCall) -> News {
        if call.kind == ToolKind::Execute
            && let Some(command) = call.input.get("command").and_then(|command| command.as_str())
        {
            let running = Running { command: command.to_owned(), terminal: None };
            self.running.insert(call.call.clone(), running);
        }
        News::Tool(self.known(call))
    }

    /// All that is known of a call as it begins.
    pub(super) fn known(&self, call: &ToolCall) -> ToolNews {
        let place = |place: &Location| Location { path: self.whole(&place.path), line: place.line };
        ToolNews {
            begins: true,
            name: Some(call.name.clone()),
            title: Some(call.title.clone()),
            kind: Some(call.kind),
            status: Some(call.status),
            input: Some(call.input.clone()),
            locations: Some(call.locations.iter().map(place).collect()),
            ..nothing_new(call.call.clone())
        }
    }

    fn update(&mut self, update: &ToolCallUpdate) -> News {
        let over = update.status.is_some_and(protocol::ToolStatus::is_final);
        let running = if over { self.running.remove(&update.call) } else { None };
        let terminal = match &running {
            Some(running) => running.terminal.clone(),
            None => self.running.get(&update.call).and_then(|running| running.terminal.clone()),
        };
        let content = match terminal {
            // The terminal shows what it printed, and goes on doing so.
            Some(terminal) => Some(vec![ToolContent::Terminal { terminal }]),
            None => update.content.as_ref().map(|parts| parts.iter().map(|part| self.shown(part)).collect()),
        };
        News::Tool(ToolNews {
            title: update.title.clone(),
            status: update.status,
            output: update.summary.as_ref().map(|summary| serde_json::json!({"summary": summary})),
            content,
            ..nothing_new(update.call.clone())
        })
    }

    fn shown(&self, part: &ToolContent) -> ToolContent {
        match part {
            ToolContent::Diff { path, old, new } => {
                ToolContent::Diff { path: self.whole(path), old: old.clone(), new: new.clone() }
            }
            // The name that some other agent gave it means nothing to this editor.
            ToolContent::Terminal { terminal } => ToolContent::text(format!("[terminal {terminal}]")),
            other => other.clone(),
        }
    }

    fn whole(&self, path: &str) -> String {
        self.cwd.join(path).to_string_lossy().into_owned()
    }
}

/// An update of a call that changes nothing yet.
pub(super) fn nothing_new(call: CallId) -> ToolNews {
    ToolNews {
        call,
        begins: false,
        name: None,
        title: None,
        kind: None,
        status: None,
        input: None,
        output: None,
        content: None,
        locations: None,
    }
}

/// What came along with a prompt is named, not told again.
fn linked(part: &Content) -> Content {
    match part {
        Content::Resource(resource) => {
            Content::Resource(Resource { text: None, blob: None, ..resource.clone() })
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{Chunk, EventBody, MessageId, Timestamp, TurnId, UserPrompt};

    fn event(turn: &str, body: EventBody) -> Event {
        Event::new(1, Timestamp::now(), Some(TurnId::new(turn)), body)
    }

    #[test]
    fn the_editors_own_prompt_is_not_told_back_and_others_are() {
        let mut teller = Teller::new(Path::new("/p"), false, &Usage::default());
        let prompt = |key: Option<&str>| {
            let content = vec![Content::text("hi")];
            event("t1", EventBody::UserPrompt(UserPrompt { content, key: key.map(str::to_owned) }))
        };
        teller.is_own("k1".to_owned());
        assert_eq!(teller.tell(&prompt(Some("k1"))), []);
        assert_eq!(teller.tell(&prompt(None)), [News::UserSaid { content: Content::text("hi") }]);
    }

    #[test]
    fn what_a_child_turn_says_stays_with_its_call() {
        let mut teller = Teller::new(Path::new("/p"), true, &Usage::default());
        let said = EventBody::AgentMessage(Chunk { message: MessageId::new("m"), text: "x".to_owned() });
        assert_eq!(teller.tell(&event("t1.1", said.clone())), []);
        assert_eq!(teller.tell(&event("t1", said)).len(), 1);
    }

    #[test]
    fn paths_are_whole_and_a_terminal_stands_for_what_it_shows() {
        let mut teller = Teller::new(Path::new("/p"), true, &Usage::default());
        let call = ToolCall {
            call: CallId::new("c1"),
            name: "shell".to_owned(),
            title: "$ ls".to_owned(),
            kind: ToolKind::Execute,
            status: protocol::ToolStatus::InProgress,
            input: serde_json::json!({"command": "ls"}),
            locations: vec![Location { path: "a.rs".to_owned(), line: None }],
            via: None,
        };
        let News::Tool(begun) = &teller.tell(&event("t1", EventBody::ToolCall(call)))[0] else { panic!() };
        assert_eq!(begun.locations.as_ref().unwrap()[0].path, "/p/a.rs");
        assert!(teller.in_terminal("pwd", "t").is_none());
        assert!(teller.in_terminal("ls", "t").is_some());
        let done = ToolCallUpdate {
            status: Some(protocol::ToolStatus::Completed),
            content: Some(vec![ToolContent::text("a.rs")]),
            ..ToolCallUpdate::of(CallId::new("c1"))
        };
        let News::Tool(ended) = &teller.tell(&event("t1", EventBody::ToolCallUpdate(done)))[0] else {
            panic!()
        };
        assert_eq!(ended.content, Some(vec![ToolContent::Terminal { terminal: "t".to_owned() }]));
    }
}
