//! What a terminal would show in the end: no escape sequences, and of a progress bar only its last state.

#[cfg(test)]
mod tests;

/// A line longer than this is handed on in parts; a carriage return no longer takes back what was handed on.
const MAX_LINE: usize = 32 * 1024;

/// Takes pieces of output as they come, cut anywhere, and gives whole lines.
#[derive(Default)]
pub(crate) struct Cleaner {
    state: State,
    /// The line that is being written, which a carriage return may take back.
    line: Vec<u8>,
    /// A carriage return came; what comes next says whether it ends the line or starts it anew.
    returned: bool,
    /// Whole lines that were not handed on yet: on a terminal each ends in `\r\n`, and one by one they are too many.
    whole: Vec<u8>,
}

#[derive(Default, Clone, Copy)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After `ESC (` and the like: one more byte.
    Charset,
    /// `ESC [ … letter`.
    Control,
    /// `ESC ] … BEL` or `ESC ] … ESC \`: a title, a link.
    Command,
    /// An ESC inside of a command.
    CommandEscape,
}

impl Cleaner {
    /// Hands the lines that `bytes` completes to `sink`.
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut sink: impl FnMut(&[u8])) {
        while let Some(first) = bytes.first() {
            if matches!(self.state, State::Text) && !is_special(*first) {
                let plain = bytes.iter().position(|byte| is_special(*byte)).unwrap_or(bytes.len());
                let (run, rest) = bytes.split_at(plain);
                self.plain(run, &mut sink);
                bytes = rest;
            } else {
                self.special(*first, &mut sink);
                bytes = &bytes[1..];
            }
        }
        self.hand_on(&mut sink);
    }

    fn hand_on(&mut self, sink: &mut impl FnMut(&[u8])) {
        if !self.whole.is_empty() {
            sink(&self.whole);
            self.whole.clear();
        }
    }

    /// The line that is not complete yet.
    pub(crate) fn partial(&self) -> &[u8] {
        &self.line
    }

    /// Nothing more comes: gives what is left.
    pub(crate) fn finish(&mut self, mut sink: impl FnMut(&[u8])) {
        if !self.line.is_empty() {
            sink(&self.line);
            self.line.clear();
        }
    }

    /// Text and line breaks.
    fn plain(&mut self, run: &[u8], sink: &mut impl FnMut(&[u8])) {
        if self.returned {
            self.returned = false;
            if run.first() != Some(&b'\n') {
                self.line.clear();
            }
        }
        let whole = run.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        if whole > 0 {
            self.whole.append(&mut self.line);
            self.whole.extend_from_slice(&run[..whole]);
        }
        self.line.extend_from_slice(&run[whole..]);
        if self.line.len() > MAX_LINE {
            self.whole.append(&mut self.line);
        }
        if self.whole.len() > MAX_LINE {
            self.hand_on(sink);
        }
    }

    fn special(&mut self, byte: u8, sink: &mut impl FnMut(&[u8])) {
        self.state = match (self.state, byte) {
            (State::Text, 0x1b) => State::Escape,
            (State::Text, b'\r') => {
                self.returned = true;
                State::Text
            }
            (State::Text, 0x08) => {
                // One character back, however many bytes it has.
                while self.line.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
                State::Text
            }
            (State::Text, _) => State::Text,
            (State::Escape, b'[') => State::Control,
            (State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::Command,
            (State::Escape, b'(' | b')' | b'*' | b'+' | b'#' | b'%') => State::Charset,
            (State::Escape, 0x1b) => State::Escape,
            (State::Escape | State::Charset, _) => State::Text,
            (State::Control, 0x40..=0x7e) => State::Text,
            // A line break ends whatever this was: nothing that is meant well has one inside.
            (State::Control | State::Command, b'\n') => {
                self.plain(b"\n", sink);
                State::Text
            }
            (State::Control, _) => State::Control,
            (State::Command, 0x07) => State::Text,
            (State::Command, 0x1b) => State::CommandEscape,
            (State::CommandEscape, b'\\') => State::Text,
            (State::Command | State::CommandEscape, _) => State::Command,
        };
    }
}

/// What is not simply shown. Bytes from 0x80 on are parts of characters.
fn is_special(byte: u8) -> bool {
    (byte < 0x20 && byte != b'\n' && byte != b'\t') || byte == 0x7f
}
