//! What happens in the session.

use client::ClientError;
use protocol::{Event, EventBody, ItemBody, Op, SessionId, SessionView};

use super::{App, Effect, Ticket};
use crate::dialog::PermissionDialog;
use crate::transcript::{Note, Transcript};

/// A turn longer than this is worth a message to somebody who looks elsewhere.
const NOTABLE_MS: u64 = 5_000;

impl App {
    pub(super) fn event(&mut self, event: &Event, effects: &mut Vec<Effect>) {
        match &mut self.view {
            None => {
                self.view = SessionView::start(event);
                self.opened(effects);
            }
            Some(view) if event.seq <= view.seq => return,
            Some(view) => view.apply(event),
        }
        self.transcript.apply(event);
        self.look_for_pictures(event, effects);
        match &event.body {
            EventBody::AgentMessage(chunk) | EventBody::AgentThought(chunk) => {
                let pace = self.pace.get_or_insert((self.now, 0));
                pace.1 += chunk.text.chars().count() as u64;
            }
            EventBody::ToolCall(call) if call.input.get("command").is_some() => {
                self.inputs.insert(call.call.clone(), call.input.clone());
            }
            EventBody::ToolCallUpdate(update) if update.status.is_some_and(|status| status.is_final()) => {
                self.inputs.remove(&update.call);
            }
            EventBody::PermissionRequest(request) if !self.focused => {
                effects.push(Effect::Notify { title: "covey asks".to_owned(), body: request.title.clone() });
            }
            EventBody::TurnEnd(end) if !event.is_of_child() => {
                (self.pace, self.speed) = (None, None);
                self.inputs.clear();
                if end.duration_ms >= NOTABLE_MS && !self.focused {
                    let body =
                        self.transcript.last_answer().and_then(|text| text.lines().next()).unwrap_or("done");
                    effects.push(Effect::Notify { title: "covey is done".to_owned(), body: body.to_owned() });
                }
                effects.push(Effect::LookAtBranch);
                if end.stop == protocol::Stop::Cancelled {
                    self.unqueue();
                } else {
                    self.send_queued(effects);
                }
            }
            _ => {}
        }
        self.follow_questions();
    }

    /// The session is there: what waited for it goes its way.
    fn opened(&mut self, effects: &mut Vec<Effect>) {
        self.opening = false;
        let Some(session) = self.session().cloned() else { return };
        for deferred in std::mem::take(&mut self.deferred) {
            effects.push(deferred(&session));
        }
        self.send_queued(effects);
    }

    /// The question that waits longest is the one that is shown.
    pub(super) fn follow_questions(&mut self) {
        let pending = self.view.as_ref().map(|view| view.pending.as_slice()).unwrap_or_default();
        self.waiting = pending.iter().filter_map(|request| request.call.clone()).collect();
        let first = pending.first();
        if self.dialog.as_ref().map(|dialog| &dialog.request) == first {
            return;
        }
        let command = first
            .and_then(|request| request.call.as_ref())
            .and_then(|call| self.inputs.get(call)?.get("command")?.as_str().map(str::to_owned));
        self.dialog = first.cloned().map(|request| PermissionDialog::new(request, command, self.now));
    }

    pub(super) fn ended(&mut self, error: Option<ClientError>) {
        self.opening = false;
        if self.quitting {
            return;
        }
        match error {
            Some(error) => self.transcript.note(Note::failure(error.message, error.hint)),
            None => self.transcript.note(Note::whisper("this session was closed")),
        }
    }

    /// The next prompt that waited, if the agent is free.
    pub(super) fn send_queued(&mut self, effects: &mut Vec<Effect>) {
        if !self.is_busy()
            && let Some((text, content)) = self.queue.pop_front()
        {
            self.start_turn(text, content, effects);
        }
    }

    /// Prompts that were queued go back to where they were written: after a stop they may no longer be meant.
    fn unqueue(&mut self) {
        let waiting: Vec<String> = self.queue.drain(..).map(|(text, _)| text).collect();
        if waiting.is_empty() {
            return;
        }
        let written = self.composer.expanded();
        let all = waiting.into_iter().chain(Some(written).filter(|text| !text.is_empty()));
        let all = all.collect::<Vec<_>>().join("\n");
        self.composer.set(&all);
    }

    /// Shows a session as it is, and follows it from there.
    pub(super) fn show(&mut self, view: SessionView, effects: &mut Vec<Effect>) {
        self.transcript = Transcript::from_view(&view);
        self.welcome_back(&view);
        effects.push(Effect::Follow(view.session.clone(), view.seq));
        self.view = Some(view);
        self.opened(effects);
        self.scrolled = 0;
        self.flash = None;
        (self.dialog, self.popup, self.open) = (None, None, None);
        self.commands_asked = false;
        self.remember_inputs();
        self.follow_questions();
        effects.push(Effect::Repaint);
    }

    /// The commands of calls that were under way when the session was opened.
    fn remember_inputs(&mut self) {
        let items = self.view.iter().flat_map(|view| &view.items);
        let open = items.filter_map(|item| match &item.body {
            ItemBody::Tool { call, .. } if !call.status.is_final() => Some(call),
            _ => None,
        });
        self.inputs = open.map(|call| (call.call.clone(), call.input.clone())).collect();
    }

    /// Lets go of the session that was shown; one in which nothing was asked leaves nothing behind.
    pub(super) fn let_go(&mut self, effects: &mut Vec<Effect>) {
        if self.is_unused()
            && let Some(session) = self.session().cloned()
        {
            effects.push(Effect::Submit(Op::DeleteSession { session }, Ticket::Quiet));
        }
        self.view = None;
        self.queue.clear();
        self.inputs.clear();
    }

    pub(super) fn open_session(&mut self, session: SessionId, effects: &mut Vec<Effect>) {
        self.opening = true;
        effects.push(Effect::Read(
            protocol::Request::Session { session: session.clone() },
            Ticket::Open(session),
        ));
    }
}
