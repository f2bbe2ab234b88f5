//! Answers to what was asked.

use client::{ClientError, Failure};
use protocol::Reply;

use super::pickers::Open;
use super::{Answer, App, Effect, Ticket};
use crate::composer::Chip;
use crate::dialog::{Choice, report_sheet, table_sheet};
use crate::format::tokens;
use crate::transcript::Note;

impl App {
    pub(super) fn reply(
        &mut self,
        ticket: Ticket,
        result: Result<Answer, ClientError>,
        effects: &mut Vec<Effect>,
    ) {
        let answer = match result {
            Ok(answer) => answer,
            Err(error) => return self.refused(ticket, error),
        };
        match (ticket, answer) {
            (Ticket::Created, Answer::Receipt(receipt)) => {
                // It is there when its first event is; until then what is sent waits.
                let session = receipt.session;
                effects.push(Effect::Follow(session.clone(), 0));
                for deferred in std::mem::take(&mut self.deferred) {
                    effects.push(deferred(&session));
                }
            }
            (Ticket::Open(_), Answer::Reply(Reply::Session(view))) => self.show(*view, effects),
            (Ticket::Forked, Answer::Receipt(receipt)) => {
                self.say("this is the copy; the other one stays as it was");
                self.let_go(effects);
                self.open_session(receipt.session, effects);
            }
            (Ticket::Background { text, content }, Answer::Receipt(receipt)) => {
                self.in_background(receipt.session, text, content, effects);
            }
            (Ticket::Rewound { text }, Answer::Receipt(receipt)) => {
                self.let_go(effects);
                self.open_session(receipt.session, effects);
                self.composer.set(&text);
            }
            (Ticket::Mentions(fragment), Answer::Reply(Reply::Mentions(found))) => {
                self.mentions_found(&fragment, found)
            }
            (Ticket::Folders(fragment), Answer::Reply(Reply::Paths(found))) => {
                self.folders_found(&fragment, found)
            }
            (Ticket::Commands, Answer::Reply(Reply::Commands(commands))) => {
                self.commands = commands;
                let text = self.composer.buffer.text();
                if let Some(typed) =
                    text.strip_prefix('/').filter(|typed| !typed.contains(char::is_whitespace))
                {
                    let typed = typed.to_owned();
                    self.command_popup(&typed);
                }
            }
            (Ticket::Sessions, Answer::Reply(Reply::Sessions(sessions))) => {
                self.sessions_found(sessions, effects)
            }
            (Ticket::Hits(words), Answer::Reply(Reply::Hits(hits))) => self.hits_found(&words, hits, effects),
            (Ticket::Preview(session), Answer::Reply(Reply::Session(view))) => {
                self.preview_found(&session, &view)
            }
            (Ticket::Models, Answer::Reply(Reply::Models(models))) => {
                let current = self.current_model().map(|model| model.as_str().to_owned()).unwrap_or_default();
                let mut choices: Vec<Choice> = models
                    .into_iter()
                    .map(|model| {
                        let window =
                            model.context.map(|context| format!("{} tokens", tokens(u64::from(context))));
                        let detail = window.or_else(|| model.reason.clone()).unwrap_or_default();
                        let mut choice = Choice::new(model.model.as_str(), model.model.as_str(), detail);
                        choice.refused = (!model.usable)
                            .then(|| model.reason.unwrap_or_else(|| "it cannot be used".to_owned()));
                        choice
                    })
                    .collect();
                // What can be used comes first, in its order.
                choices.sort_by_key(|choice| choice.refused.is_some());
                if let Some(Open::Models(picker)) = self.open.take() {
                    drop(picker);
                    self.open =
                        Some(Open::Models(crate::dialog::Picker::new("model", choices).select(&current)));
                }
            }
            (Ticket::Agents, Answer::Reply(Reply::Agents(agents))) => {
                let current = self.current_agent().as_str().to_owned();
                let mut choices: Vec<Choice> = agents
                    .into_iter()
                    .map(|agent| {
                        let mut choice = Choice::new(
                            agent.agent.as_str(),
                            agent.agent.as_str(),
                            agent.reason.clone().unwrap_or_default(),
                        );
                        choice.refused = (!agent.usable)
                            .then(|| agent.reason.unwrap_or_else(|| "it is not here".to_owned()));
                        choice
                    })
                    .collect();
                choices.sort_by_key(|choice| choice.refused.is_some());
                if let Some(Open::Agents(_)) = &self.open {
                    self.open =
                        Some(Open::Agents(crate::dialog::Picker::new("agent", choices).select(&current)));
                }
            }
            (Ticket::Tools, Answer::Reply(Reply::Tools(tools))) => {
                let entries: Vec<(String, String)> = tools
                    .into_iter()
                    .filter(|tool| tool.offered)
                    .map(|tool| {
                        let rule = tool.rule.map(|rule| format!(" · {rule}")).unwrap_or_default();
                        let first = tool.description.split(". ").next().unwrap_or_default().to_owned();
                        (tool.name, format!("{first}{rule}"))
                    })
                    .collect();
                self.transcript.sheet(move |columns| table_sheet("tools", &entries, columns));
            }
            (Ticket::Changes, Answer::Reply(Reply::Changes(changes))) => self.show_changes(changes),
            (Ticket::UndoPreview { what, redo }, Answer::Reply(Reply::Changes(changes))) => {
                self.undo_preview(what, redo, changes)
            }
            (Ticket::Export(path), Answer::Reply(Reply::Export(text))) => {
                effects.push(Effect::Write(path, text))
            }
            (Ticket::Written, Answer::Text(path)) => {
                self.transcript.note(Note::done(format!("written: {path}")))
            }
            (Ticket::Report(_), Answer::Text(text)) => {
                self.transcript.sheet(move |columns| report_sheet(&text, columns));
            }
            (Ticket::Image, Answer::Image(image)) => self.composer.attach(Chip::Image(image)),
            (Ticket::Picture(_), Answer::Reply(Reply::Blob(coded))) => self.show_picture(&coded, effects),
            (Ticket::Say(text), _) => self.say(text),
            _ => {}
        }
    }

    fn refused(&mut self, ticket: Ticket, error: ClientError) {
        match ticket {
            Ticket::Created => {
                self.opening = false;
                self.deferred.clear();
                self.transcript.note(Note::failure(error.message, error.hint));
            }
            Ticket::Open(_) => {
                self.opening = false;
                self.transcript.note(Note::failure(error.message, error.hint));
            }
            Ticket::Prompt(text) => {
                // What was written is not lost: it stands where it was.
                if self.composer.is_empty() {
                    self.composer.set(&text);
                }
                self.transcript.note(Note::failure(error.message, error.hint));
            }
            Ticket::Mentions(_) | Ticket::Folders(_) | Ticket::Commands | Ticket::Preview(_) => {}
            Ticket::Hits(_) | Ticket::Picture(_) => {}
            // Somebody else was quicker.
            Ticket::Quiet if error.kind == Failure::Invalid => self.say(error.message),
            Ticket::Image => self.say(error.message),
            _ => {
                self.open = None;
                self.transcript.note(Note::failure(error.message, error.hint));
            }
        }
    }
}
