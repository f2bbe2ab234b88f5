//! May this happen? And questions of the agent.

use protocol::{Decision, OptionKind, PermissionRequest, Timestamp};

use crate::composer::{Buffer, Move};
use crate::keys::{Code, Key};
use crate::text::{Ground, Indent, Ink, Line, Span, Style, plain, plain_line, wrap};

/// Keys that were on their way when the question appeared are not its answer.
const GRACE_MS: u64 = 350;

/// What became of a key.
#[derive(Debug, PartialEq)]
pub(crate) enum Answered {
    /// Nothing to tell yet.
    Waits,
    /// The key is not for the dialog.
    Pass,
    /// The person has decided.
    With(Decision),
    /// The person wants this to run, and the question knows no way but a no that says so.
    Instead(String),
    /// Stop the whole turn.
    Stop,
}

pub(crate) struct PermissionDialog {
    pub(crate) request: PermissionRequest,
    selected: usize,
    since: Timestamp,
    /// The option, and why, while that is being written.
    writing: Option<(usize, Buffer)>,
    /// What can be changed before it is allowed, and the change.
    command: Option<String>,
    editing: Option<Buffer>,
}

impl PermissionDialog {
    pub(crate) fn new(request: PermissionRequest, command: Option<String>, now: Timestamp) -> Self {
        let free = request.is_question && request.options.len() == 1;
        let writing = free.then(|| (0, Buffer::default()));
        // What can do harm is not one Enter away.
        let harmless = request.options.iter().position(|option| option.kind.allows()).unwrap_or(0);
        let selected =
            if request.options.first().is_some_and(|first| !first.kind.allows()) { 0 } else { harmless };
        Self { request, selected, since: now, writing, command, editing: None }
    }

    pub(crate) fn is_writing(&self) -> bool {
        self.writing.is_some() || self.editing.is_some()
    }

    pub(crate) fn paste(&mut self, text: &str) {
        let buffer = self.editing.as_mut().or(self.writing.as_mut().map(|(_, buffer)| buffer));
        if let Some(buffer) = buffer {
            buffer.insert(&text.replace('\n', " "));
        }
    }

    pub(crate) fn key(&mut self, key: Key, now: Timestamp, was_typing: bool) -> Answered {
        if was_typing && now.millis_since(self.since) < GRACE_MS {
            return Answered::Pass;
        }
        if let Some(buffer) = &mut self.editing {
            return match key.code {
                Code::Enter => {
                    let text = buffer.text().to_owned();
                    let edited = self.request.options.iter().find(|o| o.kind == OptionKind::AllowEdited);
                    match edited {
                        Some(option) => {
                            let (option, reason) = (option.id.clone(), Some(text));
                            Answered::With(Decision::Choose { option, reason })
                        }
                        None => Answered::Instead(text),
                    }
                }
                Code::Esc => {
                    self.editing = None;
                    Answered::Waits
                }
                _ => {
                    edit(buffer, key);
                    Answered::Waits
                }
            };
        }
        if let Some((option, buffer)) = &mut self.writing {
            match key.code {
                Code::Enter => {
                    let reason = Some(buffer.text().trim().to_owned()).filter(|reason| !reason.is_empty());
                    if self.request.is_question && reason.is_none() {
                        return Answered::Waits;
                    }
                    let option = self.request.options[*option].id.clone();
                    return Answered::With(Decision::Choose { option, reason });
                }
                Code::Esc if self.request.is_question && self.request.options.len() == 1 => {
                    return Answered::Stop;
                }
                Code::Esc => self.writing = None,
                _ => edit(buffer, key),
            }
            return Answered::Waits;
        }
        let count = self.request.options.len();
        match key.code {
            Code::Esc => return Answered::Stop,
            Code::Up => self.selected = (self.selected + count.max(1) - 1) % count.max(1),
            Code::Down | Code::Tab => self.selected = (self.selected + 1) % count.max(1),
            Code::Enter => return self.choose(self.selected),
            Code::Char(c) if !key.ctrl && !key.alt => {
                if let Some(number) =
                    c.to_digit(10).and_then(|n| (n as usize).checked_sub(1)).filter(|n| *n < count)
                {
                    return self.choose(number);
                }
                match c {
                    'y' if !self.request.is_question => return self.of_kind(&[OptionKind::AllowOnce]),
                    'n' if !self.request.is_question => {
                        return self.of_kind(&[OptionKind::RejectOnce, OptionKind::RejectAlways]);
                    }
                    'e' if self.command.is_some() && !self.request.is_question => self.edit_command(),
                    // An answer of the person's own words.
                    _ if self.request.is_question => {
                        let mut buffer = Buffer::default();
                        buffer.insert(c.encode_utf8(&mut [0; 4]));
                        self.writing = Some((self.selected, buffer));
                    }
                    _ => {}
                }
            }
            _ => return Answered::Pass,
        }
        Answered::Waits
    }

    fn edit_command(&mut self) {
        let mut buffer = Buffer::default();
        buffer.insert(self.command.as_deref().unwrap_or_default());
        self.editing = Some(buffer);
    }

    fn of_kind(&mut self, kinds: &[OptionKind]) -> Answered {
        let found = self.request.options.iter().position(|option| kinds.contains(&option.kind));
        found.map_or(Answered::Waits, |at| self.choose(at))
    }

    fn choose(&mut self, at: usize) -> Answered {
        let Some(option) = self.request.options.get(at) else { return Answered::Waits };
        self.selected = at;
        if option.kind == OptionKind::AllowEdited {
            self.edit_command();
            return Answered::Waits;
        }
        if option.kind.allows() {
            return Answered::With(Decision::Choose { option: option.id.clone(), reason: None });
        }
        self.writing = Some((at, Buffer::default()));
        Answered::Waits
    }

    /// Rows, and where the caret stands if something is being written.
    ///
    /// Where the line above says the same, the title is left out.
    pub(crate) fn rows(
        &self,
        above: Option<&str>,
        preview: Vec<Line>,
        columns: usize,
    ) -> (Vec<Line>, Option<(usize, usize)>) {
        let mut rows = Vec::new();
        let title =
            Some(self.request.title.as_str()).filter(|title| above != Some(*title)).unwrap_or_default();
        let sign = if self.request.is_question { "?" } else { "⏸" };
        let indent = Indent::new(Span::new(format!("  {sign} "), Ink::Warning), Span::new("    ", Ink::Text));
        for (number, text) in plain(title).lines().enumerate() {
            let indent = if number == 0 {
                indent.clone()
            } else {
                Indent { first: indent.rest.clone(), rest: indent.rest.clone() }
            };
            rows.extend(wrap(&[Span::new(text, Style::default().bold())], columns, &indent));
        }
        let inner = Span::new("    ", Ink::Text);
        if !self.request.reasons.is_empty() {
            let why =
                self.request.reasons.iter().map(|reason| plain_line(reason)).collect::<Vec<_>>().join(" · ");
            let indent = Indent::new(inner.clone(), inner.clone());
            rows.extend(wrap(&[Span::new(why, Ink::Faint)], columns, &indent));
        }
        rows.extend(preview.into_iter().map(|line| line.led_by(&[Span::new("      ", Ink::Text)])));
        if let Some(buffer) = &self.editing {
            let (line, caret) = field("run instead: ", buffer, columns);
            rows.push(line);
            let at = (rows.len() - 1, caret);
            rows.push(Line::of("    enter runs it once · esc back", Ink::Faint));
            return (rows, Some(at));
        }
        let free = self.request.is_question && self.request.options.len() == 1;
        if !free {
            let writing = self.writing.as_ref().map(|(option, _)| *option);
            rows.extend(self.options(columns, writing));
        }
        if let Some((_, buffer)) = &self.writing {
            let label = if self.request.is_question { "answer: " } else { "why? (enter sends) " };
            let (line, caret) = field(label, buffer, columns);
            rows.push(line);
            let at = (rows.len() - 1, caret);
            return (rows, Some(at));
        }
        (rows, None)
    }

    fn options(&self, columns: usize, writing: Option<usize>) -> Vec<Line> {
        let selected = writing.unwrap_or(self.selected);
        let mut rows: Vec<Line> = Vec::new();
        for (at, option) in self.request.options.iter().enumerate() {
            let here = at == selected;
            let mark = if here { "  › " } else { "    " };
            let mut name = plain_line(&option.name);
            if !option.kind.allows() && !self.request.is_question {
                name.push_str(", and say why");
            }
            if option.kind == OptionKind::AllowEdited {
                name.push_str(" (e)");
            }
            // What is allowed, and for how long, is never cut off.
            let style = if here { Style::default().bold() } else { Style::new(Ink::Soft) };
            let number = Span::new(format!("{} ", at + 1), Style::new(Ink::Accent).bold());
            let indent = Indent {
                first: vec![Span::new(mark, Ink::Accent), number],
                rest: vec![Span::new("      ", Ink::Text)],
            };
            let lines = wrap(&[Span::new(name, style)], columns, &indent);
            rows.extend(lines.into_iter().map(|line| match here {
                true => line.on(Ground::Selected, columns),
                false => line,
            }));
        }
        let offered = self.request.options.iter().any(|option| option.kind == OptionKind::AllowEdited);
        if self.command.is_some() && !self.request.is_question && !offered {
            rows.push(
                Line::of("    e ", Style::new(Ink::Accent).bold()).then("say what to run instead", Ink::Soft),
            );
        }
        rows
    }
}

/// A line that is written in; its caret is by columns.
fn field(label: &str, buffer: &Buffer, columns: usize) -> (Line, usize) {
    let mut line = Line::of(format!("    {label}"), Ink::Accent);
    let room = columns.saturating_sub(line.width() + 1).max(4);
    let before = plain_line_keep(&buffer.text()[..buffer.caret()]);
    let after = plain_line_keep(&buffer.text()[buffer.caret()..]);
    let shown =
        if crate::text::width(&before) > room { crate::text::fit_start(&before, room) } else { before };
    let column = line.width() + crate::text::width(&shown);
    line.push(shown, Ink::Text);
    line.push(after, Ink::Text);
    (line.cut(columns), column)
}

fn plain_line_keep(text: &str) -> String {
    plain(text).replace('\n', " ")
}

/// The usual keys of a line.
pub(crate) fn edit(buffer: &mut Buffer, key: Key) {
    match (key.code, key.ctrl, key.alt) {
        (Code::Char(c), false, false) => buffer.insert(c.encode_utf8(&mut [0; 4])),
        (Code::Backspace, false, false) => buffer.delete(Move::Left),
        (Code::Backspace, ..) | (Code::Char('w'), true, _) => buffer.kill(Move::WordLeft),
        (Code::Delete, ..) => buffer.delete(Move::Right),
        (Code::Left, false, false) | (Code::Char('b'), true, _) => buffer.go(Move::Left),
        (Code::Right, false, false) | (Code::Char('f'), true, _) => buffer.go(Move::Right),
        (Code::Left, ..) | (Code::Char('b'), _, true) => buffer.go(Move::WordLeft),
        (Code::Right, ..) | (Code::Char('f'), _, true) => buffer.go(Move::WordRight),
        (Code::Home, ..) | (Code::Char('a'), true, _) => buffer.go(Move::Start),
        (Code::End, ..) | (Code::Char('e'), true, _) => buffer.go(Move::End),
        (Code::Char('u'), true, _) => buffer.kill(Move::Start),
        (Code::Char('k'), true, _) => buffer.kill(Move::End),
        (Code::Char('y'), true, _) => buffer.yank(),
        _ => {}
    }
}
