//! `covey session replay`, and how a session looks in a plain terminal.

use std::io::Write;
use std::time::Duration;

use protocol::{Event, EventBody, MessageId, ToolStatus, prompt_text};
use sessions::{Filter, Player, Record, Store};

use super::one_session;
use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, duration, one_line, plain, print, tell_warning};

pub(super) struct Pace {
    pub(super) speed: f64,
    pub(super) idle: Duration,
}

/// Only what is asked for; a type that does not exist is a typing error.
pub(super) fn filter(types: &[String], text: Option<String>) -> Result<Filter, Failure> {
    for name in types {
        if !EventBody::TYPES.contains(&name.as_str()) {
            return Err(Failure::usage(format!("there is no event type `{}`", one_line(name, 40)))
                .hint(format!("there are: {}", EventBody::TYPES.join(", "))));
        }
    }
    let mut filter = match types.is_empty() {
        true => Filter::default(),
        false => Filter::types(types.iter().map(String::as_str)),
    };
    filter.text = text;
    Ok(filter)
}

pub(super) fn replay(
    store: &Store,
    query: &str,
    pace: Pace,
    filter: Filter,
    from: u64,
    json: bool,
) -> Result<Exit, Failure> {
    let session = one_session(store, query)?;
    let mut player = Player::open(store.reader(&session)?)?.filter(filter);
    if from > 0 {
        // A player stands behind the event it seeks.
        player.seek(from - 1)?;
    }
    let mut screen = Screen::new(json);
    for step in player.timed(pace.speed, pace.idle) {
        let (delay, event) = step?;
        // Scripts want the events; only a person wants the pauses.
        if !json && Stream::Out.is_terminal() {
            std::thread::sleep(delay);
        }
        screen.event(&event)?;
    }
    screen.finish()?;
    Ok(Exit::Done)
}

/// Draws events one after the other, as text or as JSON lines.
pub(super) struct Screen {
    json: bool,
    style: Style,
    /// The message whose text is being printed.
    open: Option<MessageId>,
    out: Vec<u8>,
}

impl Screen {
    pub(super) fn new(json: bool) -> Self {
        Self { json, style: Style::of(Stream::Out), open: None, out: Vec::new() }
    }

    pub(super) fn record(&mut self, record: &Record) -> Result<(), Failure> {
        match record {
            Record::Event(event) => self.event(event),
            Record::Damaged(damage) => {
                let text =
                    format!("a record at byte {} is damaged and not shown: {}", damage.offset, damage.why);
                tell_warning(&text);
                Ok(())
            }
        }
    }

    pub(super) fn event(&mut self, event: &Event) -> Result<(), Failure> {
        if self.json {
            event.write_json(&mut self.out);
            self.out.push(b'\n');
        } else {
            self.draw(event);
        }
        self.flush()
    }

    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        self.close();
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Failure> {
        print(&String::from_utf8_lossy(&self.out))?;
        self.out.clear();
        Ok(())
    }

    fn draw(&mut self, event: &Event) {
        let style = self.style;
        match &event.body {
            EventBody::AgentMessage(chunk) => self.piece(&chunk.message, &chunk.text, false),
            EventBody::AgentThought(chunk) => self.piece(&chunk.message, &chunk.text, true),
            EventBody::MessageEnd(_) => self.close(),
            EventBody::UserPrompt(prompt) => {
                let text = prompt_text(&prompt.content);
                self.line(&format!("\n{} {}", style.accent("›"), plain(&text)));
            }
            EventBody::ToolCall(call) => {
                self.line(&format!("  {} {}", style.faint("▸"), one_line(&call.title, 100)));
            }
            EventBody::ToolCallUpdate(update) => {
                let sign = match update.status {
                    Some(ToolStatus::Completed) => style.good("✓"),
                    Some(ToolStatus::Failed) => style.danger("✗"),
                    _ => return,
                };
                let summary = one_line(update.summary.as_deref().unwrap_or_default(), 80);
                self.line(&format!("  {sign} {}", style.faint(&summary)));
            }
            EventBody::Retract(_) => self.line(&style.warning("(cut off; it comes again)")),
            EventBody::PermissionRequest(request) => {
                self.line(&format!("  {} {}", style.warning("⏸"), one_line(&request.title, 100)));
            }
            EventBody::Permission(answer) => {
                self.line(&style.faint(&format!("    {:?}", answer.outcome).to_lowercase()));
            }
            EventBody::Retry(retry) => {
                let text =
                    format!("trying again in {}: {}", duration(retry.wait_ms), one_line(&retry.reason, 100));
                self.line(&style.faint(&text));
            }
            EventBody::Route(route) => {
                let text =
                    format!("{} instead of {}: {}", route.to, route.from, one_line(&route.reason, 100));
                self.line(&style.warning(&text));
            }
            EventBody::Compaction(compaction) => self.line(&style.faint(&compaction.describe())),
            EventBody::Hook(ran) => self.line(&style.faint(&one_line(&ran.describe(), 200))),
            EventBody::Notice(notice) => self.line(&style.faint(&one_line(&notice.text, 200))),
            EventBody::Error(error) => {
                self.line(&format!("{} {}", style.danger("error:"), one_line(&error.message, 400)));
            }
            EventBody::TurnEnd(end) => {
                let text = format!("{} · {}", end.stop.as_str(), duration(end.duration_ms));
                self.line(&style.faint(&text));
            }
            EventBody::SessionStart(start) => {
                let model = start.model.as_ref().map(|model| format!(" · {model}")).unwrap_or_default();
                self.line(&style.faint(&format!("{} · {}{model}", start.session, one_line(&start.cwd, 80))));
            }
            EventBody::Title(title) => self.line(&style.strong(&one_line(&title.title, 100))),
            _ => {}
        }
    }

    fn piece(&mut self, message: &MessageId, text: &str, thought: bool) {
        if self.open.as_ref() != Some(message) {
            self.close();
            self.open = Some(message.clone());
            let sign = if thought { self.style.faint("◌ ") } else { self.style.good("● ") };
            self.out.extend_from_slice(sign.as_bytes());
        }
        let text = plain(text);
        let text = if thought { self.style.faint(&text) } else { text.into_owned() };
        self.out.extend_from_slice(text.as_bytes());
    }

    fn line(&mut self, text: &str) {
        self.close();
        let _ = writeln!(self.out, "{text}");
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.out.push(b'\n');
        }
    }
}
