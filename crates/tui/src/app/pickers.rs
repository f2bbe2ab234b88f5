//! Lists that take the place of the composer while something is chosen.

use std::str::FromStr;

use protocol::{
    FileChange, FileEffect, ItemBody, Mode, Op, Request, SearchHit, SearchHitKind, SessionId, SessionSummary,
};

use super::{App, Effect, Ticket};
use crate::dialog::{Choice, Picked, Picker};
use crate::format::{ago, money};
use crate::keys::{Code, Key};
use crate::text::Line;
use crate::theme::Theme;

/// Letters that are worth looking for in what was said.
const SEARCHED: usize = 3;
const MAX_HITS: u32 = 60;

/// What is open instead of the composer.
pub(super) enum Open {
    Sessions(Picker),
    Models(Picker),
    Agents(Picker),
    Modes(Picker),
    Efforts(Picker),
    Themes {
        picker: Picker,
        before: Theme,
    },
    History(Picker),
    /// Earlier prompts; then whether the files go back as well.
    Rewind(Picker),
    RewindHow {
        picker: Picker,
        seq: u64,
        turn: String,
        text: String,
    },
    /// Taking back, or doing again, once the person has seen what that means.
    Undo {
        picker: Picker,
        what: Option<String>,
        redo: bool,
        preview: Vec<FileChange>,
    },
    /// The whole conversation, on the whole screen.
    Transcript {
        top: usize,
        search: Option<String>,
        typing: bool,
    },
}

impl Open {
    pub(super) fn picker(&mut self) -> Option<&mut Picker> {
        match self {
            Self::Sessions(picker)
            | Self::Models(picker)
            | Self::Agents(picker)
            | Self::Modes(picker)
            | Self::Efforts(picker)
            | Self::History(picker)
            | Self::Rewind(picker)
            | Self::Themes { picker, .. }
            | Self::RewindHow { picker, .. }
            | Self::Undo { picker, .. } => Some(picker),
            Self::Transcript { .. } => None,
        }
    }

    pub(super) fn paste(&mut self, text: &str) {
        if let Some(picker) = self.picker() {
            picker.paste(text);
        }
    }
}

const MODES: &[(&str, &str)] = &[
    ("explore", "no writes"),
    ("plan", "read, then propose"),
    ("ask", "reads run, the rest asks"),
    ("edit", "file edits in the project run, commands ask"),
    ("auto", "the safety classifier decides"),
    ("full", "no questions; the sandbox stays"),
];

const EFFORTS: &[(&str, &str)] = &[
    ("default", "as the settings say, or as the model likes"),
    ("none", "not at all, or as little as it can"),
    ("low", "a little"),
    ("medium", "some"),
    ("high", "much"),
    ("max", "as much as it can"),
    ("show", "thoughts and results are open"),
    ("hide", "thoughts and results are folded"),
];

impl App {
    pub(super) fn pick_session(&mut self, words: &str, effects: &mut Vec<Effect>) {
        let picker = Picker::new("sessions", vec![])
            .with_hint("tab everywhere · ctrl-r rename · ctrl-x delete")
            .search(words);
        self.open = Some(Open::Sessions(picker));
        let request = Request::Sessions { cwd: Some(self.cwd.clone()), limit: 200 };
        effects.push(Effect::Read(request, Ticket::Sessions));
    }

    pub(super) fn sessions_found(&mut self, sessions: Vec<SessionSummary>, effects: &mut Vec<Effect>) {
        let now = self.now;
        let current = self.session().cloned();
        let choices = sessions.into_iter().filter(|summary| Some(&summary.session) != current.as_ref()).map(
            |summary| {
                let cost =
                    summary.usage.cost_usd.map(|cost| format!(" · {}", money(cost))).unwrap_or_default();
                let title =
                    if summary.title.is_empty() { "untitled".to_owned() } else { summary.title.clone() };
                let running = match summary.status {
                    protocol::SessionStatus::Running => "● ",
                    protocol::SessionStatus::Waiting => "⏸ ",
                    _ => "",
                };
                let turns = match summary.turns {
                    1 => "1 turn".to_owned(),
                    turns => format!("{turns} turns"),
                };
                let detail = format!("{} · {turns} · {}{cost}", summary.agent, ago(summary.updated, now));
                Choice::new(summary.session.as_str(), format!("{running}{title}"), detail)
            },
        );
        let choices = choices.collect();
        if let Some(Open::Sessions(picker)) = &mut self.open {
            picker.replace(choices);
        }
        self.ask_preview(effects);
    }

    /// Sessions in which something was said or done with these words.
    pub(super) fn hits_found(&mut self, words: &str, hits: Vec<SearchHit>, effects: &mut Vec<Effect>) {
        let (now, current) = (self.now, self.session().cloned());
        let Some(Open::Sessions(picker)) = &mut self.open else { return };
        // An answer to what was typed before is of no use any more.
        if picker.words.text().trim() != words {
            return;
        }
        let mut by_session: Vec<(SearchHit, Vec<String>)> = Vec::new();
        for hit in hits.into_iter().filter(|hit| Some(&hit.session) != current.as_ref()) {
            let sign = match hit.kind {
                SearchHitKind::Prompt => "›",
                SearchHitKind::Answer => "●",
                SearchHitKind::ToolCall => " ✓",
            };
            let line = format!("{sign} {}", hit.snippet.concat());
            match by_session.iter_mut().find(|(first, _)| first.session == hit.session) {
                Some((_, lines)) => lines.push(line),
                None => by_session.push((hit, vec![line])),
            }
        }
        for (hit, lines) in by_session {
            let title = if hit.title.is_empty() { "untitled" } else { hit.title.as_str() };
            let choice = Choice::new(hit.session.as_str(), title, ago(hit.ts, now));
            picker.add_hit(words, choice, lines);
        }
        self.ask_preview(effects);
    }

    fn ask_preview(&mut self, effects: &mut Vec<Effect>) {
        let Some(Open::Sessions(picker)) = &self.open else { return };
        let Some(choice) = picker.current().filter(|choice| choice.preview.is_empty()) else { return };
        if let Ok(session) = SessionId::from_str(&choice.value) {
            effects
                .push(Effect::Read(Request::Session { session: session.clone() }, Ticket::Preview(session)));
        }
    }

    pub(super) fn preview_found(&mut self, session: &SessionId, view: &protocol::SessionView) {
        let lines: Vec<String> = view
            .items
            .iter()
            .filter_map(|item| match &item.body {
                ItemBody::Prompt { content } => Some(format!("› {}", protocol::prompt_text(content))),
                ItemBody::Message { text, .. } => Some(format!("● {text}")),
                ItemBody::Tool { call, .. } => Some(format!("  ✓ {}", call.title)),
                _ => None,
            })
            .collect();
        let skip = lines.len().saturating_sub(12);
        if let Some(Open::Sessions(picker)) = &mut self.open {
            picker.set_preview(session.as_str(), lines.into_iter().skip(skip).collect());
        }
    }

    pub(super) fn pick_model(&mut self, effects: &mut Vec<Effect>) {
        self.open = Some(Open::Models(Picker::new("model", vec![])));
        effects.push(Effect::Read(Request::Models, Ticket::Models));
    }

    pub(super) fn pick_agent(&mut self, effects: &mut Vec<Effect>) {
        self.open = Some(Open::Agents(Picker::new("agent", vec![])));
        effects.push(Effect::Read(Request::Agents, Ticket::Agents));
    }

    pub(super) fn pick_mode(&mut self) {
        let choices = MODES.iter().map(|(name, what)| Choice::new(*name, *name, *what)).collect();
        self.open = Some(Open::Modes(Picker::new("mode", choices).select(self.current_mode().as_str())));
    }

    pub(super) fn pick_effort(&mut self) {
        let choices = EFFORTS.iter().map(|(name, what)| Choice::new(*name, *name, *what)).collect();
        let current = self.current_effort().map_or("default", protocol::Effort::as_str);
        self.open = Some(Open::Efforts(Picker::new("thinking", choices).select(current)));
    }

    pub(super) fn pick_theme(&mut self) {
        let choices = Theme::NAMES.iter().map(|name| Choice::new(*name, *name, "")).collect();
        let picker = Picker::new("theme", choices).select(self.theme.name());
        self.open = Some(Open::Themes { picker, before: self.theme });
    }

    pub(super) fn search_history(&mut self) {
        let choices = self.history.search("").into_iter().map(|text| Choice::new(text, text, "")).collect();
        let picker = Picker::new("history", choices).search(&self.composer.expanded());
        self.open = Some(Open::History(picker));
    }

    /// Earlier prompts, the newest first.
    pub(super) fn rewind(&mut self, _effects: &mut Vec<Effect>) {
        if self.is_busy() {
            return self.say("the agent works; esc stops it");
        }
        let now = self.now;
        let items = self.view.as_ref().map(|view| view.items.iter().collect::<Vec<_>>()).unwrap_or_default();
        let choices: Vec<Choice> = items
            .into_iter()
            .rev()
            .filter_map(|item| match &item.body {
                ItemBody::Prompt { content }
                    if !item.turn.as_ref().is_some_and(|turn| turn.as_str().contains('.')) =>
                {
                    let text = protocol::prompt_text(content);
                    let turn = item.turn.as_ref().map(|turn| turn.as_str()).unwrap_or_default();
                    Some(Choice::new(format!("{} {turn}", item.seq), text, ago(item.ts, now)))
                }
                _ => None,
            })
            .collect();
        if choices.is_empty() {
            return self.say("there is nothing to go back to");
        }
        self.open = Some(Open::Rewind(Picker::new("go back to before", choices)));
    }

    fn rewind_how(&mut self, value: &str) {
        let Some((seq, turn)) = value.split_once(' ') else { return };
        let Ok(seq) = seq.parse::<u64>() else { return };
        let text = self
            .view
            .as_ref()
            .and_then(|view| view.items.iter().find(|item| item.seq == seq))
            .and_then(|item| match &item.body {
                ItemBody::Prompt { content } => Some(crate::transcript::Transcript::prompt_of(content)),
                _ => None,
            })
            .unwrap_or_default();
        let choices = vec![
            Choice::new(
                "both",
                "the conversation and the files",
                "goes on in a copy; the rest stays in this session",
            ),
            Choice::new("talk", "the conversation only", "files stay as they are"),
            Choice::new("files", "the files only", "the conversation stays as it is"),
        ];
        let picker = Picker::new("what goes back", choices);
        self.open = Some(Open::RewindHow { picker, seq, turn: turn.to_owned(), text });
    }

    fn rewind_to(&mut self, how: &str, seq: u64, turn: String, text: String, effects: &mut Vec<Effect>) {
        let Some(session) = self.session().cloned() else { return };
        if how != "talk" {
            let undo = Op::Undo { session: session.clone(), what: Some(turn), path: None, force: false };
            effects.push(Effect::Submit(undo, Ticket::Quiet));
        }
        if how != "files" {
            let fork = Op::ForkSession { session, at: Some(seq.saturating_sub(1)) };
            effects.push(Effect::Submit(fork, Ticket::Rewound { text }));
        }
    }

    pub(super) fn undo_preview(&mut self, what: Option<String>, redo: bool, preview: Vec<FileChange>) {
        if preview.is_empty() {
            return self.say(if redo { "nothing was taken back" } else { "nothing to take back" });
        }
        let conflicts = preview.iter().filter(|change| change.conflict.is_some()).count();
        let verb = if redo { "do it again" } else { "take it back" };
        let mut choices = Vec::new();
        if conflicts == 0 {
            choices.push(Choice::new(
                "yes",
                verb,
                match preview.len() {
                    1 => "1 file".to_owned(),
                    count => format!("{count} files"),
                },
            ));
        } else {
            choices.push(Choice::new(
                "force",
                format!("{verb}, also what was changed since"),
                format!("{conflicts} in conflict"),
            ));
        }
        choices.push(Choice::new("no", "leave everything as it is", ""));
        let title = if redo { "redo" } else { "undo" };
        self.open = Some(Open::Undo { picker: Picker::new(title, choices), what, redo, preview });
    }

    pub(super) fn undo_rows(preview: &[FileChange], columns: usize, height: usize) -> Vec<Line> {
        use crate::text::Ink;
        let mut rows = Vec::new();
        for change in preview {
            let (verb, ink) = match change.does {
                FileEffect::Create => ("create ", Ink::Good),
                FileEffect::Restore => ("restore", Ink::Accent),
                FileEffect::Delete => ("delete ", Ink::Danger),
            };
            let mut line =
                Line::of(format!("  {verb} "), ink).then(crate::text::plain_line(&change.path), Ink::Text);
            if let Some(conflict) = &change.conflict {
                line.push(format!("  ⚠ {}", crate::text::plain_line(conflict)), Ink::Warning);
            }
            rows.push(line.cut(columns));
            if let (Some(now), Some(then)) = (&change.now, &change.then) {
                let diff = crate::diff::rows(&change.path, now, then, columns.saturating_sub(4), 6);
                rows.extend(
                    diff.into_iter().map(|row| row.led_by(&[crate::text::Span::new("    ", Ink::Text)])),
                );
            }
        }
        rows.truncate(height.max(3));
        rows
    }

    pub(super) fn open_key(&mut self, key: Key, effects: &mut Vec<Effect>) {
        if let Some(Open::Transcript { .. }) = &self.open {
            return self.transcript_key(key, effects);
        }
        let Some(picked) = self.open.as_mut().and_then(Open::picker).map(|picker| picker.key(key)) else {
            return;
        };
        match picked {
            Picked::Waits => {}
            Picked::Moved => self.moved(effects),
            Picked::Closed => self.close_open(effects),
            Picked::Value(value) => self.picked(value, effects),
            Picked::Other(key, value) => self.other(key, &value, effects),
        }
    }

    /// Leaves without having chosen.
    fn close_open(&mut self, effects: &mut Vec<Effect>) {
        if let Some(Open::Themes { before, .. }) = self.open.take() {
            self.theme = before;
            effects.push(Effect::Theme(self.theme()));
        }
    }

    fn moved(&mut self, effects: &mut Vec<Effect>) {
        match &self.open {
            Some(Open::Themes { picker, .. }) => {
                if let Some(theme) = picker.current().and_then(|choice| Theme::named(&choice.value)) {
                    self.theme = theme;
                    effects.push(Effect::Theme(self.theme()));
                }
            }
            Some(Open::Sessions(picker)) => {
                let query = picker.words.text().trim().to_owned();
                if query.chars().count() >= SEARCHED && picker.searched != query {
                    effects.push(Effect::Read(
                        Request::SearchSessions { query: query.clone(), limit: MAX_HITS },
                        Ticket::Hits(query.clone()),
                    ));
                    if let Some(Open::Sessions(picker)) = &mut self.open {
                        picker.searched = query;
                    }
                }
                self.ask_preview(effects);
            }
            _ => {}
        }
    }

    fn picked(&mut self, value: String, effects: &mut Vec<Effect>) {
        match self.open.take() {
            Some(Open::Sessions(_)) => {
                if let Ok(session) = SessionId::from_str(&value) {
                    self.let_go(effects);
                    self.open_session(session, effects);
                }
            }
            Some(Open::Models(_)) => self.set_model(value.as_str().into(), effects),
            Some(Open::Agents(_)) => self.set_agent(value.as_str().into(), effects),
            Some(Open::Modes(_)) => {
                if let Ok(mode) = Mode::from_str(&value) {
                    self.set_mode(mode, effects);
                }
            }
            Some(Open::Efforts(_)) => self.thinking(&value, effects),
            Some(Open::Themes { .. }) => self.set_theme(&value, effects),
            Some(Open::History(_)) => self.composer.set(&value),
            Some(Open::Rewind(_)) => self.rewind_how(&value),
            Some(Open::RewindHow { seq, turn, text, .. }) => self.rewind_to(&value, seq, turn, text, effects),
            Some(Open::Undo { what, redo, .. }) => {
                let Some(session) = self.session().cloned() else { return };
                if value == "no" {
                    return;
                }
                let force = value == "force";
                let op = match redo {
                    true => Op::Redo { session, force },
                    false => Op::Undo { session, what, path: None, force },
                };
                effects.push(Effect::Submit(op, Ticket::Quiet));
            }
            Some(open @ Open::Transcript { .. }) => self.open = Some(open),
            None => {}
        }
    }

    /// Keys of a list of its own.
    fn other(&mut self, key: Key, value: &str, effects: &mut Vec<Effect>) {
        let Some(Open::Sessions(picker)) = &mut self.open else { return };
        match (key.code, key.ctrl) {
            (Code::Tab, _) => {
                effects.push(Effect::Read(Request::Sessions { cwd: None, limit: 500 }, Ticket::Sessions));
            }
            (Code::Char('x'), true) | (Code::Delete, _) => {
                if let Ok(session) = SessionId::from_str(value) {
                    let title = picker.current().map(|choice| choice.label.clone()).unwrap_or_default();
                    effects.push(Effect::Submit(
                        Op::DeleteSession { session },
                        Ticket::Say(format!("deleted: {title}")),
                    ));
                    let request = Request::Sessions { cwd: Some(self.cwd.clone()), limit: 200 };
                    effects.push(Effect::Read(request, Ticket::Sessions));
                }
            }
            (Code::Char('r'), true) => {
                self.open = None;
                self.composer.set("/rename ");
                self.say("open a session first, then name it");
            }
            _ => {}
        }
    }

    pub(super) fn open_transcript(&mut self, effects: &mut Vec<Effect>) {
        self.open = Some(Open::Transcript { top: usize::MAX, search: None, typing: false });
        effects.push(Effect::Screen(true));
    }

    fn transcript_key(&mut self, key: Key, effects: &mut Vec<Effect>) {
        let page = self.size.rows.saturating_sub(3).max(1);
        let Some(Open::Transcript { top, search, typing }) = &mut self.open else { return };
        if *typing {
            let words = search.get_or_insert_default();
            match (key.code, key.typed()) {
                (Code::Enter, _) => *typing = false,
                (Code::Esc, _) => (*typing, *search) = (false, None),
                (Code::Backspace, _) => {
                    words.pop();
                }
                (_, Some(c)) => words.push(c),
                _ => {}
            }
            if let Some(words) = search.clone().filter(|words| !words.is_empty()) {
                self.search_transcript(&words, false);
            }
            return;
        }
        match (key.code, key.ctrl, key.typed()) {
            (Code::Esc, ..) | (_, _, Some('q')) | (Code::Char('o' | 'c'), true, _) => {
                self.open = None;
                effects.push(Effect::Screen(self.full));
            }
            (Code::Up, ..) | (_, _, Some('k')) => *top = top.saturating_sub(1),
            (Code::Down, ..) | (_, _, Some('j')) => *top = top.saturating_add(1),
            (Code::PageUp, ..) | (_, _, Some('b')) => *top = top.saturating_sub(page),
            (Code::Char('u'), true, _) => *top = top.saturating_sub(page / 2),
            (Code::Char('d'), true, _) => *top = top.saturating_add(page / 2),
            (Code::PageDown, ..) | (_, _, Some(' ')) => *top = top.saturating_add(page),
            (Code::Home, ..) | (_, _, Some('g')) => *top = 0,
            (Code::End, ..) | (_, _, Some('G')) => *top = usize::MAX,
            (_, _, Some('/')) => (*typing, *search) = (true, Some(String::new())),
            (_, _, Some(c @ ('n' | 'N'))) => {
                if let Some(words) = search.clone() {
                    self.search_transcript(&words, c == 'N');
                }
            }
            _ => {}
        }
    }

    fn search_transcript(&mut self, words: &str, backwards: bool) {
        let rows = self.transcript_rows();
        let wanted = words.to_lowercase();
        let Some(Open::Transcript { top, typing, .. }) = &mut self.open else { return };
        let last = rows.len().saturating_sub(1);
        let here = (*top).min(last);
        let fits = |at: &usize| rows[*at].text().to_lowercase().contains(&wanted);
        let found = match (backwards, *typing) {
            (true, _) => (0..here).rev().find(fits),
            (false, true) => (here..rows.len()).chain(0..here).find(fits),
            (false, false) => (here + 1..rows.len()).chain(0..=here.min(last)).find(fits),
        };
        if let Some(found) = found {
            *top = found;
        }
    }
}
