//! Keys and pastes.

use protocol::{Content, Limits, Mode, Op, SuggestedStep, Timestamp};

use super::{App, Effect, Ticket};
use crate::bindings::Action;
use crate::composer::{Move, VimStep};
use crate::dialog::Answered;
use crate::keys::{Code, Key, Signal};

/// Two presses within this are one gesture.
const TWICE_MS: u64 = 1_200;
/// Somebody who pressed a key this short a time ago is typing.
const TYPING_MS: u64 = 1_000;

impl App {
    pub(super) fn signal(&mut self, signal: Signal, effects: &mut Vec<Effect>) {
        match signal {
            Signal::Key(key) => {
                let was_typing =
                    self.now.millis_since(self.last_key) < TYPING_MS && !self.composer.is_empty();
                self.last_key = self.now;
                self.key(key, was_typing, effects);
            }
            Signal::Paste(text) => self.paste(&text, effects),
            Signal::Focus(focused) => self.focused = focused,
            Signal::Background(red, green, blue) => {
                self.background = Some((red, green, blue));
                effects.push(Effect::Theme(self.theme()));
            }
            Signal::Pictures => self.pictures = Some(0),
            Signal::Scroll { up } => self.scroll(up, 3),
        }
    }

    fn paste(&mut self, text: &str, effects: &mut Vec<Effect>) {
        if let Some(open) = &mut self.open {
            open.paste(text);
            return;
        }
        if let Some(dialog) = self.dialog.as_mut().filter(|dialog| dialog.is_writing()) {
            dialog.paste(text);
            return;
        }
        // Terminals paste a dropped file as its path.
        let path = text.trim().trim_matches(['\'', '"']).replace("\\ ", " ");
        let picture = ["png", "jpg", "jpeg", "gif", "webp"]
            .iter()
            .any(|ending| path.rsplit('.').next().is_some_and(|found| found.eq_ignore_ascii_case(ending)));
        if picture && !path.contains('\n') && (path.starts_with('/') || path.starts_with("file://")) {
            effects.push(Effect::Image(path.trim_start_matches("file://").into()));
            return;
        }
        self.composer.paste(text);
        self.history.settle();
    }

    fn key(&mut self, key: Key, was_typing: bool, effects: &mut Vec<Effect>) {
        let action = self.bindings.action(key);
        // These work wherever one is.
        match action {
            Some(Action::Suspend) => return effects.push(Effect::Suspend),
            Some(Action::Redraw) => return effects.push(Effect::Repaint),
            _ => {}
        }
        if self.open.is_some() {
            return self.open_key(key, effects);
        }
        if let Some(dialog) = &mut self.dialog {
            match dialog.key(key, self.now, was_typing) {
                Answered::Waits => return,
                Answered::Pass => {}
                answered => return self.answer(answered, effects),
            }
        }
        if self.popup_key(key, action, effects) {
            return;
        }
        if let Some(vim) = &mut self.composer.vim {
            match vim.key(key, &mut self.composer.buffer) {
                VimStep::Done => {
                    self.composer.touched = true;
                    return;
                }
                VimStep::Up => return self.vertical(true),
                VimStep::Down => return self.vertical(false),
                VimStep::Pass => {}
            }
        }
        if let (Code::Char(digit @ '1'..='9'), true, None) = (key.code, key.alt, action)
            && self.suggested(digit as usize - '1' as usize, effects)
        {
            return;
        }
        match (action, key.typed()) {
            (Some(action), _) => self.act(action, effects),
            (None, Some('?')) if self.composer.is_empty() => self.show_keys(),
            (None, Some(c)) => {
                self.composer.type_text(c.encode_utf8(&mut [0; 4]));
                self.history.settle();
            }
            (None, None) => {}
        }
    }

    fn act(&mut self, action: Action, effects: &mut Vec<Effect>) {
        let moved = match action {
            Action::Left => Some(Move::Left),
            Action::Right => Some(Move::Right),
            Action::WordLeft => Some(Move::WordLeft),
            Action::WordRight => Some(Move::WordRight),
            Action::LineStart => Some(Move::LineStart),
            Action::LineEnd => Some(Move::LineEnd),
            Action::Start => Some(Move::Start),
            Action::End => Some(Move::End),
            _ => None,
        };
        if let Some(to) = moved {
            self.composer.buffer.go(to);
            return;
        }
        let buffer = &mut self.composer.buffer;
        match action {
            Action::DeleteBack => buffer.delete(Move::Left),
            Action::Delete => buffer.delete(Move::Right),
            Action::DeleteWordBack => buffer.kill(Move::WordLeft),
            Action::DeleteWord => buffer.kill(Move::WordEnd),
            Action::CutToEnd => buffer.kill(Move::LineEnd),
            Action::CutToStart => buffer.kill(Move::LineStart),
            Action::Yank => buffer.yank(),
            Action::Undo => {
                buffer.undo();
            }
            Action::Redo => {
                buffer.redo();
            }
            Action::Newline => self.composer.type_text("\n"),
            Action::Up => return self.vertical(true),
            Action::Down => return self.vertical(false),
            Action::Submit => return self.submit(effects),
            Action::Stop => return self.stop(effects),
            Action::Cancel => return self.cancel(effects),
            Action::Leave if self.composer.is_empty() => return self.quit(effects),
            Action::Leave => self.composer.buffer.delete(Move::Right),
            Action::CycleMode => return self.cycle_mode(effects),
            Action::Model => return self.pick_model(effects),
            Action::Sessions => return self.pick_session("", effects),
            Action::Transcript => return self.open_transcript(effects),
            Action::Thinking => return self.toggle_thinking(effects),
            Action::Plan => {
                self.plan_shown = !self.plan_shown;
                return;
            }
            Action::Help => return self.show_keys(),
            Action::Complete => {
                self.composer.unfold();
            }
            Action::Editor => return effects.push(Effect::Edit(self.composer.expanded())),
            Action::PasteImage => return effects.push(Effect::ClipboardImage),
            Action::HistorySearch => return self.search_history(),
            Action::PageUp => return self.scroll(true, self.size.rows / 2),
            Action::PageDown => return self.scroll(false, self.size.rows / 2),
            Action::Redraw | Action::Suspend => {}
            Action::Left | Action::Right | Action::WordLeft | Action::WordRight => {}
            Action::LineStart | Action::LineEnd | Action::Start | Action::End => {}
        }
        self.composer.touched = true;
        self.history.settle();
    }

    /// A row up or down; beyond the first and last row are earlier and later prompts.
    fn vertical(&mut self, up: bool) {
        let laid = self.composer.layout(self.composer_columns());
        let (row, column) = laid.caret;
        let inside = if up { row > 0 } else { row + 1 < laid.rows.len() };
        if inside && !self.history.is_browsing() {
            let to = if up { row - 1 } else { row + 1 };
            self.composer.buffer.set_caret(laid.byte_at(to, column));
            return;
        }
        if up && self.composer.is_empty() && !self.history.is_browsing() {
            // What waits to be sent can still be changed.
            if let Some((text, _)) = self.queue.pop_back() {
                self.composer.set(&text);
                return;
            }
        }
        let shown = self.composer.expanded();
        let entry = if up { self.history.older(&shown) } else { self.history.newer() };
        if let Some(entry) = entry {
            self.composer.set(&entry);
            self.composer.touched = false;
            self.popup = None;
        }
    }

    pub(super) fn scroll(&mut self, up: bool, rows: usize) {
        self.scrolled =
            if up { self.scrolled.saturating_add(rows) } else { self.scrolled.saturating_sub(rows) };
    }

    fn submit(&mut self, effects: &mut Vec<Effect>) {
        // A backslash at the end asks for another line, in terminals that know no other way.
        let buffer = &mut self.composer.buffer;
        if buffer.text().ends_with('\\') && buffer.caret() == buffer.text().len() {
            buffer.delete(Move::Left);
            self.composer.type_text("\n");
            return;
        }
        if self.composer.is_blank() {
            return;
        }
        let typed = self.composer.expanded();
        if let Some((command, rest)) = client::commands::parse(typed.trim()) {
            if self.is_busy() && !command.while_busy {
                self.say(format!("/{} has to wait until the agent is done; esc stops it", command.name));
                return;
            }
            let rest = rest.to_owned();
            self.composer.take();
            self.remember(&typed, effects);
            return self.command(command.id, &rest, effects);
        }
        let (text, content) = self.composer.take();
        self.remember(&text, effects);
        self.popup = None;
        if let Some(prompt) = text.trim().strip_prefix('&').map(str::trim).filter(|prompt| !prompt.is_empty())
        {
            return self.start_in_background(prompt, effects);
        }
        self.scrolled = 0;
        if self.is_busy() || self.opening || !self.queue.is_empty() {
            self.queue.push_back((text, content));
            return;
        }
        self.start_turn(text, content, effects);
    }

    /// Takes up what the agent offered. Answers whether there was such an offer.
    fn suggested(&mut self, number: usize, effects: &mut Vec<Effect>) -> bool {
        let offered = self.view.as_ref().and_then(|view| view.suggestions.get(number)).cloned();
        let Some(offered) = offered.filter(|_| !self.is_busy()) else { return false };
        match offered.action {
            SuggestedStep::SendMessage { text } => {
                self.remember(&text, effects);
                self.start_turn(text.clone(), vec![Content::text(text)], effects);
            }
            SuggestedStep::FillInput { text } => self.composer.set(&text),
            SuggestedStep::RunTool { tool, input } => {
                self.composer.set(&format!("use the tool {tool} with {input}"))
            }
        }
        true
    }

    fn remember(&mut self, text: &str, effects: &mut Vec<Effect>) {
        self.history.add(text);
        effects.push(Effect::KeepPrompt(text.to_owned()));
    }

    pub(super) fn start_turn(&mut self, text: String, content: Vec<Content>, effects: &mut Vec<Effect>) {
        self.prompts_sent += 1;
        let key = format!("tui-{}-{}", self.now.as_millis(), self.prompts_sent);
        self.with_session(effects, move |session| {
            let start = Op::StartTurn {
                session: session.clone(),
                prompt: content,
                key: Some(key),
                limits: Limits::default(),
                attended: true,
            };
            Effect::Submit(start, Ticket::Prompt(text))
        });
    }

    /// Esc: stops what runs; twice, back to an earlier prompt.
    fn stop(&mut self, effects: &mut Vec<Effect>) {
        if self.is_busy() {
            return self.stop_turn(effects);
        }
        let twice = self.last_stop.is_some_and(|last| self.now.millis_since(last) < TWICE_MS);
        self.last_stop = if twice { None } else { Some(self.now) };
        match (twice, self.composer.is_empty()) {
            (true, false) => {
                let text = self.composer.expanded();
                self.history.add(&text);
                self.composer.set("");
            }
            (true, true) => self.rewind(effects),
            (false, false) => self.say("esc again clears the line"),
            (false, true) if self.view.as_ref().is_some_and(|view| view.turns > 0) => {
                self.say("esc again goes back to an earlier prompt")
            }
            (false, true) => {}
        }
    }

    pub(super) fn stop_turn(&mut self, effects: &mut Vec<Effect>) {
        if let Some(session) = self.session().cloned() {
            effects.push(Effect::Submit(Op::CancelTurn { session, turn: None }, Ticket::Quiet));
            self.say("stopping");
        }
    }

    /// Ctrl-C: whatever is nearest, and twice leaves.
    fn cancel(&mut self, effects: &mut Vec<Effect>) {
        if !self.composer.is_empty() {
            let text = self.composer.expanded();
            self.history.add(&text);
            self.composer.set("");
            self.last_cancel = None;
            return;
        }
        let twice = self.last_cancel.is_some_and(|last: Timestamp| self.now.millis_since(last) < TWICE_MS);
        if twice {
            return self.quit(effects);
        }
        self.last_cancel = Some(self.now);
        if self.is_busy() {
            self.stop_turn(effects);
        }
        self.say("ctrl-c again leaves");
    }

    pub(super) fn quit(&mut self, effects: &mut Vec<Effect>) {
        self.quitting = true;
        effects.push(Effect::KeepDraft(self.composer.draft()));
        effects.push(Effect::Quit);
    }

    fn cycle_mode(&mut self, effects: &mut Vec<Effect>) {
        // The loosest one is chosen by name, never in passing.
        let next = match self.current_mode() {
            Mode::Explore => Mode::Plan,
            Mode::Plan => Mode::Ask,
            Mode::Ask => Mode::Edit,
            Mode::Edit => Mode::Auto,
            Mode::Auto | Mode::Full => Mode::Explore,
        };
        self.set_mode(next, effects);
    }

    pub(super) fn set_mode(&mut self, mode: Mode, effects: &mut Vec<Effect>) {
        match self.session().cloned() {
            Some(session) => effects.push(Effect::Submit(Op::SetMode { session, mode }, Ticket::Quiet)),
            None => self.mode = mode,
        }
    }

    fn answer(&mut self, answered: Answered, effects: &mut Vec<Effect>) {
        let (Some(dialog), Some(session)) = (&self.dialog, self.session().cloned()) else { return };
        let request = dialog.request.request.clone();
        match answered {
            Answered::With(decision) => {
                let answer = Op::AnswerPermission { session, request: request.clone(), decision };
                effects.push(Effect::Submit(answer, Ticket::Quiet));
                // Gone at once, so that a second press is not the answer to the next question.
                self.dialog = None;
                if let Some(view) = &mut self.view {
                    view.pending.retain(|pending| pending.request != request);
                }
                self.follow_questions();
            }
            Answered::Instead(command) => self.ask_for_another(session, request, command, effects),
            Answered::Stop => self.stop_turn(effects),
            Answered::Waits | Answered::Pass => {}
        }
    }

    /// No to what was asked, with the command that the person wants instead.
    fn ask_for_another(
        &mut self,
        session: protocol::SessionId,
        request: protocol::RequestId,
        command: String,
        effects: &mut Vec<Effect>,
    ) {
        let options = self.dialog.as_ref().map(|dialog| dialog.request.options.clone()).unwrap_or_default();
        let Some(no) = options.iter().find(|option| !option.kind.allows()) else { return };
        let reason = Some(format!("the person wants this instead, exactly as it stands: {command}"));
        let decision = protocol::Decision::Choose { option: no.id.clone(), reason };
        effects.push(Effect::Submit(Op::AnswerPermission { session, request, decision }, Ticket::Quiet));
        self.dialog = None;
    }

    pub(super) fn is_plain_enter(key: Key) -> bool {
        key.code == Code::Enter && !key.ctrl && !key.alt && !key.shift
    }
}
