//! Vim's normal mode, as much of it as a prompt needs.

use super::buffer::{Buffer, Move};
use crate::keys::{Code, Key};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum VimMode {
    #[default]
    Insert,
    Normal,
}

/// What became of a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum VimStep {
    /// It was Vim's.
    Done,
    /// It is not: whoever else wants it may have it.
    Pass,
    /// Up or down a row, which needs the layout.
    Up,
    Down,
}

#[derive(Debug, Default)]
pub(crate) struct Vim {
    pub(crate) mode: VimMode,
    count: usize,
    /// An operator that waits for its motion, or a key for its second half.
    pending: Option<char>,
    /// `f`, `t`, `r` wait for a character.
    finding: Option<char>,
}

impl Vim {
    pub(crate) fn key(&mut self, key: Key, buffer: &mut Buffer) -> VimStep {
        match self.mode {
            VimMode::Insert => match key.code {
                Code::Esc => {
                    self.mode = VimMode::Normal;
                    if buffer.target(Move::LineStart) < buffer.caret() {
                        buffer.go(Move::Left);
                    }
                    VimStep::Done
                }
                _ => VimStep::Pass,
            },
            VimMode::Normal => self.normal(key, buffer),
        }
    }

    fn normal(&mut self, key: Key, buffer: &mut Buffer) -> VimStep {
        if key == Key::ctrl('r') {
            buffer.redo();
            return VimStep::Done;
        }
        if key.code == Code::Esc && (self.pending.is_some() || self.finding.is_some() || self.count > 0) {
            self.reset();
            return VimStep::Done;
        }
        let Some(c) = key.typed() else { return VimStep::Pass };
        if let Some(kind) = self.finding.take() {
            self.find(kind, c, buffer);
            return VimStep::Done;
        }
        if c.is_ascii_digit() && (c != '0' || self.count > 0) {
            self.count = (self.count * 10 + c as usize - '0' as usize).min(9_999);
            return VimStep::Done;
        }
        if let Some(operator) = self.pending {
            self.operate(operator, c, buffer);
            return VimStep::Done;
        }
        let times = self.count.max(1);
        match c {
            'i' => self.insert(),
            'a' => {
                if buffer.caret() < buffer.target(Move::LineEnd) {
                    buffer.go(Move::Right);
                }
                self.insert();
            }
            'I' => {
                buffer.go(Move::LineText);
                self.insert();
            }
            'A' => {
                buffer.go(Move::LineEnd);
                self.insert();
            }
            'o' => {
                buffer.go(Move::LineEnd);
                buffer.insert("\n");
                self.insert();
            }
            'O' => {
                buffer.go(Move::LineStart);
                buffer.insert("\n");
                buffer.go(Move::Left);
                self.insert();
            }
            'x' => (0..times).for_each(|_| {
                if buffer.caret() < buffer.target(Move::LineEnd) {
                    buffer.kill(Move::Right);
                }
            }),
            'X' => (0..times).for_each(|_| buffer.kill(Move::Left)),
            'D' => buffer.kill(Move::LineEnd),
            'C' => {
                buffer.kill(Move::LineEnd);
                self.insert();
            }
            'S' => {
                lines(buffer, 'c', 1);
                self.insert();
            }
            's' => {
                buffer.kill(Move::Right);
                self.insert();
            }
            'u' => (0..times).for_each(|_| {
                buffer.undo();
            }),
            'p' => {
                if let Some(line) = buffer.killed().strip_suffix('\n') {
                    let line = format!("\n{line}");
                    buffer.go(Move::LineEnd);
                    buffer.insert(&line);
                } else {
                    buffer.go(Move::Right);
                    buffer.yank();
                }
            }
            'P' => {
                if buffer.killed().ends_with('\n') {
                    buffer.go(Move::LineStart);
                }
                buffer.yank();
            }
            '~' => (0..times).for_each(|_| swap_case(buffer)),
            'J' => {
                buffer.go(Move::LineEnd);
                if buffer.caret() < buffer.text().len() {
                    buffer.splice(buffer.caret(), buffer.caret() + 1, " ");
                }
            }
            'd' | 'c' | 'y' | 'g' => {
                self.pending = Some(c);
                return VimStep::Done;
            }
            'f' | 't' | 'r' => {
                self.finding = Some(c);
                return VimStep::Done;
            }
            'j' => {
                self.reset();
                return VimStep::Down;
            }
            'k' => {
                self.reset();
                return VimStep::Up;
            }
            _ => match motion(c) {
                Some(to) => (0..times).for_each(|_| buffer.go(to)),
                None => {
                    self.reset();
                    return if matches!(c, '/' | '?' | ':') { VimStep::Pass } else { VimStep::Done };
                }
            },
        }
        self.reset();
        VimStep::Done
    }

    fn operate(&mut self, operator: char, c: char, buffer: &mut Buffer) {
        let times = self.count.max(1);
        match (operator, c) {
            ('g', 'g') => buffer.go(Move::Start),
            ('g', _) => {}
            (_, 'i') => {
                // The object follows; `w` is the one that prompts have.
                self.finding = Some(if operator == 'c' {
                    'C'
                } else if operator == 'y' {
                    'Y'
                } else {
                    'D'
                });
                self.pending = None;
                return;
            }
            (_, same) if same == operator => lines(buffer, operator, times),
            _ => {
                // Changing a word leaves the space after it.
                let to = if operator == 'c' && c == 'w' { Some(Move::WordEnd) } else { motion(c) };
                if let Some(to) = to {
                    let begin = buffer.caret();
                    let mut end = begin;
                    for _ in 0..times {
                        buffer.set_caret(end);
                        end = buffer.target(to);
                    }
                    let end = if c == 'e' { buffer.target(Move::WordEnd) } else { end };
                    let (from, to) = (begin.min(end), begin.max(end));
                    buffer.set_caret(begin);
                    if operator == 'y' {
                        buffer.copy_range(from, to);
                        buffer.set_caret(from);
                    } else {
                        buffer.kill_range(from, to, false);
                    }
                }
            }
        }
        if operator == 'c' {
            self.insert();
        }
        self.reset();
    }

    fn find(&mut self, kind: char, c: char, buffer: &mut Buffer) {
        let at = buffer.caret();
        let next = buffer.target(Move::Right);
        match kind {
            'r' if next > at => {
                buffer.splice(at, next, c.encode_utf8(&mut [0; 4]));
                buffer.go(Move::Left);
            }
            'C' | 'D' | 'Y' if c == 'w' => {
                let text = buffer.text();
                let inside = |c: char| c.is_alphanumeric() || c == '_';
                let from = text[..at]
                    .rfind(|c: char| !inside(c))
                    .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
                let to = at + text[at..].find(|c: char| !inside(c)).unwrap_or(text.len() - at);
                if kind == 'Y' {
                    buffer.copy_range(from, to);
                } else {
                    buffer.kill_range(from, to, false);
                }
                if kind == 'C' {
                    self.insert();
                }
            }
            'f' | 't' => {
                let line_end = buffer.target(Move::LineEnd);
                if let Some(found) = buffer.text()[next..line_end.max(next)].find(c) {
                    buffer.set_caret(next + found);
                    if kind == 't' {
                        buffer.go(Move::Left);
                    }
                }
            }
            _ => {}
        }
        self.reset();
    }

    fn insert(&mut self) {
        self.mode = VimMode::Insert;
    }

    fn reset(&mut self) {
        (self.count, self.pending, self.finding) = (0, None, None);
    }
}

fn motion(c: char) -> Option<Move> {
    Some(match c {
        'h' => Move::Left,
        'l' | ' ' => Move::Right,
        'w' | 'W' => Move::WordRight,
        'b' | 'B' => Move::WordLeft,
        'e' | 'E' => Move::WordEnd,
        '0' => Move::LineStart,
        '^' => Move::LineText,
        '$' => Move::LineEnd,
        'G' => Move::End,
        _ => return None,
    })
}

/// Whole lines: `dd`, `cc`, `yy`.
fn lines(buffer: &mut Buffer, operator: char, times: usize) {
    buffer.go(Move::LineStart);
    let from = buffer.caret();
    let mut to = from;
    for _ in 0..times {
        to += buffer.text()[to..].find('\n').map_or(buffer.text().len() - to, |at| at + 1);
    }
    match operator {
        'y' => buffer.copy_lines(from, to),
        'c' => {
            let end = if buffer.text()[from..to].ends_with('\n') { to - 1 } else { to };
            buffer.kill_range(from, end, false);
        }
        _ => buffer.kill_range(from, to, false),
    }
}

fn swap_case(buffer: &mut Buffer) {
    let (at, next) = (buffer.caret(), buffer.target(Move::Right));
    let text = &buffer.text()[at..next];
    let swapped: String = text
        .chars()
        .flat_map(|c| {
            if c.is_uppercase() { c.to_lowercase().collect::<Vec<_>>() } else { c.to_uppercase().collect() }
        })
        .collect();
    if next > at && !text.starts_with('\n') {
        buffer.splice(at, next, &swapped);
    }
}
