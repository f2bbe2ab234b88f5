//! The commands.

use std::path::PathBuf;
use std::str::FromStr;

use client::commands::CommandId;
use protocol::{AgentId, Content, Effort, ExportFormat, FileChange, FileEffect, Mode, ModelRef, Op, Request};

use super::{App, Effect, Ticket};
use crate::dialog::{command_list, context_sheet, cost_sheet, key_list, table_sheet};
use crate::outside::Report;
use crate::text::{Ink, Line, Span, plain_line};
use crate::theme::Theme;

impl App {
    pub(super) fn command(&mut self, id: CommandId, rest: &str, effects: &mut Vec<Effect>) {
        self.popup = None;
        match id {
            CommandId::New => self.new_session(effects),
            CommandId::Resume => self.pick_session(rest, effects),
            CommandId::Rename if rest.is_empty() => self.say("name it: /rename TITLE"),
            CommandId::Rename => {
                let title = rest.to_owned();
                self.on_session(effects, |session| {
                    (Op::Rename { session, title }, Ticket::Say("named".to_owned()))
                });
            }
            CommandId::Fork => {
                self.on_session(effects, |session| (Op::ForkSession { session, at: None }, Ticket::Forked));
            }
            CommandId::Rewind => self.rewind(effects),
            CommandId::Undo => self.ask_changes(Some(rest).filter(|rest| !rest.is_empty()), false, effects),
            CommandId::Redo => self.ask_changes(None, true, effects),
            CommandId::Diff => {
                let path = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
                match self.session().cloned() {
                    Some(session) => {
                        let what = Some("all".to_owned());
                        effects.push(Effect::Read(
                            Request::Changes { session, what, path, redo: false },
                            Ticket::Changes,
                        ));
                    }
                    None => self.say("nothing was changed yet"),
                }
            }
            CommandId::Export => self.export(rest, effects),
            CommandId::Copy => match self.transcript.last_answer() {
                Some(text) => {
                    effects.push(Effect::Copy(text.to_owned()));
                    self.say("copied");
                }
                None => self.say("there is no answer yet"),
            },
            CommandId::Quit => self.quit(effects),
            CommandId::Context => match self.view.as_ref().and_then(|view| view.context.clone()) {
                Some(ledger) => self.transcript.sheet(move |columns| context_sheet(&ledger, columns)),
                None => self.say("nothing was sent to a model yet"),
            },
            CommandId::Compact => {
                let text = if rest.is_empty() { "/compact".to_owned() } else { format!("/compact {rest}") };
                self.start_turn(text.clone(), vec![Content::text(text)], effects);
            }
            CommandId::Uncompact => {
                self.on_session(effects, |session| (Op::Uncompact { session }, Ticket::Quiet));
            }
            CommandId::Pin if rest.is_empty() => self.show_pins(),
            CommandId::Pin => {
                let item = rest.trim_start_matches('@').to_owned();
                let said = Ticket::Say(format!("pinned: {item}"));
                self.on_session(effects, |session| (Op::Pin { session, item }, said));
            }
            CommandId::Unpin => {
                let item = rest.trim_start_matches('@').to_owned();
                let said = Ticket::Say(format!("let go: {item}"));
                self.on_session(effects, |session| (Op::Unpin { session, item }, said));
            }
            CommandId::Memory => effects.push(Effect::Report(Report::Memory, "memory")),
            CommandId::Cost => {
                let usage = self.view.as_ref().map(|view| (view.usage, view.turns)).unwrap_or_default();
                self.transcript.sheet(move |columns| cost_sheet(&usage.0, usage.1, columns));
            }
            CommandId::Agent if rest.is_empty() => self.pick_agent(effects),
            CommandId::Agent => self.set_agent(rest.into(), effects),
            CommandId::Model if rest.is_empty() => self.pick_model(effects),
            CommandId::Model => self.set_model(rest.into(), effects),
            CommandId::Mode if rest.is_empty() => self.pick_mode(),
            CommandId::Mode => match Mode::from_str(rest) {
                Ok(mode) => self.set_mode(mode, effects),
                Err(error) => self.say(error.to_string()),
            },
            CommandId::Thinking => match rest {
                "" => self.pick_effort(),
                words => self.thinking(words, effects),
            },
            CommandId::Tools => effects.push(Effect::Read(Request::Tools, Ticket::Tools)),
            CommandId::Mcp => effects.push(Effect::Report(Report::Mcp, "mcp")),
            CommandId::Permissions => effects.push(Effect::Report(Report::Permissions, "permissions")),
            CommandId::Init => {
                let text = format!("/init {rest}").trim_end().to_owned();
                self.start_turn(text.clone(), vec![Content::text(text)], effects);
            }
            CommandId::AddDir if rest.is_empty() => self.show_folders(),
            CommandId::AddDir => self.add_folder(rest, effects),
            CommandId::RemoveDir => self.remove_folder(rest, effects),
            CommandId::Shell if rest.is_empty() => self.say("which command? /shell cargo test"),
            CommandId::Shell => self.run_shell(rest, effects),
            CommandId::Editor => effects.push(Effect::Edit(self.composer.expanded())),
            CommandId::Theme if rest.is_empty() => self.pick_theme(),
            CommandId::Theme => self.set_theme(rest, effects),
            CommandId::Vim => {
                let on = self.composer.vim.is_none();
                self.composer.vim = on.then(Default::default);
                self.say(if on { "Vim's keys are on" } else { "Vim's keys are off" });
                effects.push(Effect::KeepSetting("vim", on.to_string()));
            }
            CommandId::Screen => {
                self.full = !self.full;
                effects.push(Effect::Screen(self.full));
                effects.push(Effect::KeepSetting(
                    "screen",
                    if self.full { "full" } else { "inline" }.to_owned(),
                ));
            }
            CommandId::Settings => effects.push(Effect::Report(Report::Settings, "settings")),
            CommandId::Help => {
                let added = self.commands.clone();
                self.transcript.sheet(move |columns| command_list(&added, columns));
            }
            CommandId::Keys => self.show_keys(),
            CommandId::Status => self.show_status(),
            CommandId::Doctor => effects.push(Effect::Report(Report::Doctor, "doctor")),
            CommandId::Bug => effects.push(Effect::Report(Report::Bug, "bug")),
        }
    }

    /// Something that only makes sense in a session that is there.
    fn on_session(
        &mut self,
        effects: &mut Vec<Effect>,
        op: impl FnOnce(protocol::SessionId) -> (Op, Ticket),
    ) {
        match self.session().cloned() {
            Some(session) => {
                let (op, ticket) = op(session);
                effects.push(Effect::Submit(op, ticket));
            }
            None => self.say("nothing was asked yet"),
        }
    }

    fn new_session(&mut self, effects: &mut Vec<Effect>) {
        (self.agent, self.model, self.mode) =
            (self.current_agent().clone(), self.current_model().cloned(), self.current_mode());
        self.folders = self.current_folders().to_vec();
        self.let_go(effects);
        self.transcript = crate::transcript::Transcript::default();
        self.dialog = None;
        self.commands_asked = false;
        self.welcome_below(1);
    }

    fn ask_changes(&mut self, what: Option<&str>, redo: bool, effects: &mut Vec<Effect>) {
        let what = what.map(str::to_owned);
        match self.session().cloned() {
            Some(session) => {
                let request = Request::Changes { session, what: what.clone(), path: None, redo };
                effects.push(Effect::Read(request, Ticket::UndoPreview { what, redo }));
            }
            None => self.say("nothing was changed yet"),
        }
    }

    /// What the session did to files: taking it all back, read the other way round.
    pub(super) fn show_changes(&mut self, changes: Vec<FileChange>) {
        if changes.is_empty() {
            return self.say("nothing was changed");
        }
        self.transcript.sheet(move |columns| {
            let mut rows = Vec::new();
            for change in &changes {
                let (old, new) =
                    (change.then.as_deref().unwrap_or_default(), change.now.as_deref().unwrap_or_default());
                let (sign, ink) = match change.does {
                    FileEffect::Create => ("deleted", Ink::Danger),
                    FileEffect::Restore => ("changed", Ink::Accent),
                    FileEffect::Delete => ("new", Ink::Good),
                };
                if !rows.is_empty() {
                    rows.push(Line::new());
                }
                let head = Line::of(format!("  {sign:<8}"), ink).then(plain_line(&change.path), Ink::Text);
                rows.push(
                    head.aligned(
                        crate::diff::tally(old, new).line(),
                        columns.min(crate::transcript::MEASURE),
                    ),
                );
                let wide = columns.min(120).saturating_sub(4);
                let diff = crate::diff::rows(&change.path, old, new, wide, 200);
                rows.extend(diff.into_iter().map(|row| row.led_by(&[Span::new("    ", Ink::Text)])));
            }
            rows
        });
    }

    fn export(&mut self, rest: &str, effects: &mut Vec<Effect>) {
        let Some(session) = self.session().cloned() else { return self.say("nothing was said yet") };
        let path = match rest {
            "" => PathBuf::from(format!("covey-{session}.md")),
            path => PathBuf::from(path),
        };
        let format = match path.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => ExportFormat::Html,
            Some("json" | "jsonl") => ExportFormat::Json,
            _ => ExportFormat::Markdown,
        };
        effects.push(Effect::Read(Request::Export { session, format }, Ticket::Export(path)));
    }

    pub(super) fn set_model(&mut self, model: ModelRef, effects: &mut Vec<Effect>) {
        match self.session().cloned() {
            Some(session) => {
                let said = Ticket::Say(format!("{model} answers from here on"));
                effects.push(Effect::Submit(Op::SetModel { session, model }, said));
            }
            None => self.model = Some(model),
        }
    }

    pub(super) fn set_agent(&mut self, agent: AgentId, effects: &mut Vec<Effect>) {
        match self.session().cloned() {
            Some(session) => {
                let said = Ticket::Say(format!("{agent} answers from here on"));
                effects.push(Effect::Submit(Op::SetAgent { session, agent, model: None }, said));
            }
            None => self.agent = agent,
        }
    }

    pub(super) fn set_theme(&mut self, name: &str, effects: &mut Vec<Effect>) {
        let Some(theme) = Theme::named(name) else {
            return self.say(format!("`{name}` is no theme; there are: {}", Theme::NAMES.join(", ")));
        };
        self.theme = theme;
        effects.push(Effect::Theme(self.theme()));
        effects.push(Effect::KeepSetting("theme", name.to_owned()));
    }

    pub(super) fn toggle_thinking(&mut self, effects: &mut Vec<Effect>) {
        self.set_thinking(!self.unfolded, effects);
    }

    /// `high`, `default`, `show`: how much, or whether it is seen.
    pub(super) fn thinking(&mut self, words: &str, effects: &mut Vec<Effect>) {
        let effort = match words {
            "show" | "on" => return self.set_thinking(true, effects),
            "hide" | "off" => return self.set_thinking(false, effects),
            "default" => None,
            name => match Effort::from_str(name) {
                Ok(effort) => Some(effort),
                Err(error) => return self.say(error.to_string()),
            },
        };
        let said = match effort {
            Some(effort) => format!("thinks from here on: {}", effort.as_str()),
            None => "thinks as the settings say".to_owned(),
        };
        self.with_session(effects, move |session| {
            let session = session.clone();
            Effect::Submit(Op::SetEffort { session, effort }, Ticket::Say(said))
        });
    }

    fn set_thinking(&mut self, on: bool, effects: &mut Vec<Effect>) {
        self.unfolded = on;
        self.say(if on { "thoughts and results are open" } else { "thoughts and results are folded" });
        effects.push(Effect::Repaint);
    }

    pub(super) fn show_keys(&mut self) {
        let bindings = self.bindings.clone();
        self.transcript.sheet(move |columns| key_list(&bindings, columns));
    }

    fn show_pins(&mut self) {
        let pins: Vec<(String, String)> = self
            .view
            .as_ref()
            .map(|view| {
                view.pins.iter().map(|pin| (pin.pin.clone(), "stays in the window".to_owned())).collect()
            })
            .unwrap_or_default();
        if pins.is_empty() {
            return self.say("nothing is pinned; /pin FILE keeps it in the window");
        }
        self.transcript.sheet(move |columns| table_sheet("pinned", &pins, columns));
    }

    fn show_folders(&mut self) {
        let mut folders = vec![(self.cwd.clone(), "its own".to_owned())];
        folders.extend(self.current_folders().iter().map(|folder| (folder.clone(), "added".to_owned())));
        self.transcript.sheet(move |columns| table_sheet("works in", &folders, columns));
    }

    fn add_folder(&mut self, folder: &str, effects: &mut Vec<Effect>) {
        let mut folders = self.current_folders().to_vec();
        folders.push(folder.to_owned());
        self.set_folders(folders, format!("works in {folder} too"), effects);
    }

    fn remove_folder(&mut self, folder: &str, effects: &mut Vec<Effect>) {
        let mut folders = self.current_folders().to_vec();
        let count = folders.len();
        let bare = |path: &str| path.trim_end_matches('/').to_owned();
        folders.retain(|there| bare(there) != bare(folder));
        match (folders.len() < count, folders.is_empty()) {
            (true, _) => self.set_folders(folders, format!("no longer works in {folder}"), effects),
            (false, true) => self.say("no folder was added"),
            (false, false) => self.say(format!("which one? {}", folders.join(", "))),
        }
    }

    fn set_folders(&mut self, folders: Vec<String>, said: String, effects: &mut Vec<Effect>) {
        self.with_session(effects, move |session| {
            Effect::Submit(Op::SetFolders { session: session.clone(), folders }, Ticket::Say(said))
        });
    }

    fn show_status(&mut self) {
        let mut entries = vec![
            ("agent".to_owned(), self.current_agent().to_string()),
            ("model".to_owned(), self.current_model().map_or("not chosen".to_owned(), ToString::to_string)),
            ("mode".to_owned(), self.current_mode().as_str().to_owned()),
            ("thinking".to_owned(), self.current_effort().map_or("as set", Effort::as_str).to_owned()),
            ("folder".to_owned(), self.cwd.clone()),
            ("also in".to_owned(), self.current_folders().join(", ")),
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ];
        entries.retain(|(_, value)| !value.is_empty());
        if let Some(branch) = &self.branch {
            entries.push(("branch".to_owned(), branch.clone()));
        }
        if let Some(view) = &self.view {
            entries.push(("session".to_owned(), view.session.to_string()));
            entries.push(("title".to_owned(), view.title.clone()));
            entries.push(("turns".to_owned(), view.turns.to_string()));
            if let Some(from) = &view.forked_from {
                entries.push(("copy of".to_owned(), from.session.to_string()));
            }
        }
        self.transcript.sheet(move |columns| table_sheet("status", &entries, columns));
    }

    fn run_shell(&mut self, command: &str, effects: &mut Vec<Effect>) {
        let text = format!("!{command}");
        self.start_turn(text.clone(), vec![Content::text(text)], effects);
    }
}
