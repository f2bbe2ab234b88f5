//! Text with a caret: moving, changing, cutting, and taking all of it back.

use unicode_segmentation::UnicodeSegmentation;

/// Steps that can be taken back.
const MAX_UNDO: usize = 500;

/// Where to, from the caret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    Left,
    Right,
    WordLeft,
    WordRight,
    /// The end of this word, or of the next.
    WordEnd,
    LineStart,
    LineEnd,
    /// The first character of the line that is no space.
    LineText,
    Start,
    End,
}

#[derive(Debug, Default)]
pub(crate) struct Buffer {
    text: String,
    caret: usize,
    undo: Vec<(String, usize)>,
    redo: Vec<(String, usize)>,
    /// What was cut, to be put back.
    killed: String,
    /// The last change, so that typing is taken back by words and cuts add up.
    last: Last,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Last {
    #[default]
    Other,
    Typed,
    Deleted,
    Killed,
}

impl Buffer {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn caret(&self) -> usize {
        self.caret
    }

    pub(crate) fn set_caret(&mut self, at: usize) {
        let at = at.min(self.text.len());
        self.caret = (0..=at).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0);
        self.last = Last::Other;
    }

    pub(crate) fn before_caret(&self) -> Option<char> {
        self.text[..self.caret].chars().next_back()
    }

    pub(crate) fn insert(&mut self, text: &str) {
        // A word is one step back, not a letter.
        let word = text.chars().count() == 1 && !text.starts_with(char::is_whitespace);
        if !(word && self.last == Last::Typed) {
            self.remember();
        }
        self.redo.clear();
        self.text.insert_str(self.caret, text);
        self.caret += text.len();
        self.last = if word { Last::Typed } else { Last::Other };
    }

    pub(crate) fn replace(&mut self, text: &str) {
        if self.text != text {
            self.remember();
            self.redo.clear();
        }
        text.clone_into(&mut self.text);
        self.caret = self.text.len();
        self.last = Last::Other;
    }

    /// Replaces a range, as a completion does.
    pub(crate) fn splice(&mut self, from: usize, to: usize, text: &str) {
        self.remember();
        self.redo.clear();
        self.text.replace_range(from..to, text);
        self.caret = from + text.len();
        self.last = Last::Other;
    }

    /// Everything, and nothing is left to take back.
    pub(crate) fn take(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        *self = Self { killed: std::mem::take(&mut self.killed), ..Self::default() };
        text
    }

    pub(crate) fn go(&mut self, to: Move) {
        self.caret = self.target(to);
        self.last = Last::Other;
    }

    /// Deletes from the caret to there.
    pub(crate) fn delete(&mut self, to: Move) {
        let (from, to) = self.range(to);
        if from == to {
            return;
        }
        if self.last != Last::Deleted {
            self.remember();
        }
        self.redo.clear();
        self.text.replace_range(from..to, "");
        self.caret = from;
        self.last = Last::Deleted;
    }

    /// Cuts from the caret to there. Cuts in a row are put back together.
    pub(crate) fn kill(&mut self, to: Move) {
        let before = self.caret;
        let (from, mut end) = self.range(to);
        if from == end && to == Move::LineEnd && end < self.text.len() {
            // At the end of a line, its break is what is cut.
            end += 1;
        }
        self.kill_range(from, end, from < before);
    }

    pub(crate) fn kill_range(&mut self, from: usize, to: usize, backwards: bool) {
        if from >= to {
            return;
        }
        self.remember();
        self.redo.clear();
        let cut: String = self.text.drain(from..to).collect();
        self.caret = from;
        match (self.last == Last::Killed, backwards) {
            (false, _) => self.killed = cut,
            (true, true) => self.killed.insert_str(0, &cut),
            (true, false) => self.killed.push_str(&cut),
        }
        self.last = Last::Killed;
    }

    pub(crate) fn copy_range(&mut self, from: usize, to: usize) {
        self.killed = self.text[from..to].to_owned();
        self.last = Last::Other;
    }

    /// The same for whole lines, which end in a break even where the text does not.
    pub(crate) fn copy_lines(&mut self, from: usize, to: usize) {
        self.copy_range(from, to);
        if !self.killed.ends_with('\n') {
            self.killed.push('\n');
        }
    }

    pub(crate) fn killed(&self) -> &str {
        &self.killed
    }

    pub(crate) fn yank(&mut self) {
        if !self.killed.is_empty() {
            self.last = Last::Other;
            let text = self.killed.clone();
            self.insert(&text);
            self.last = Last::Other;
        }
    }

    pub(crate) fn undo(&mut self) -> bool {
        let Some((text, caret)) = self.undo.pop() else { return false };
        self.redo.push((std::mem::replace(&mut self.text, text), self.caret));
        self.caret = caret;
        self.last = Last::Other;
        true
    }

    pub(crate) fn redo(&mut self) -> bool {
        let Some((text, caret)) = self.redo.pop() else { return false };
        self.undo.push((std::mem::replace(&mut self.text, text), self.caret));
        self.caret = caret;
        self.last = Last::Other;
        true
    }

    fn remember(&mut self) {
        self.undo.push((self.text.clone(), self.caret));
        if self.undo.len() > MAX_UNDO {
            self.undo.remove(0);
        }
    }

    fn range(&self, to: Move) -> (usize, usize) {
        let to = self.target(to);
        (self.caret.min(to), self.caret.max(to))
    }

    pub(crate) fn target(&self, to: Move) -> usize {
        let (before, after) = self.text.split_at(self.caret);
        match to {
            Move::Left => before.graphemes(true).next_back().map_or(0, |last| self.caret - last.len()),
            Move::Right => self.caret + after.graphemes(true).next().map_or(0, str::len),
            Move::WordLeft => {
                let trimmed = before.trim_end_matches(|c: char| !is_word(c));
                trimmed
                    .rfind(|c: char| !is_word(c))
                    .map_or(0, |at| at + trimmed[at..].chars().next().map_or(1, char::len_utf8))
            }
            Move::WordRight => {
                let skipped = after.find(|c: char| !is_word(c)).unwrap_or(after.len());
                let rest = &after[skipped..];
                self.caret + skipped + rest.find(is_word).unwrap_or(rest.len())
            }
            Move::WordEnd => {
                let begin = after.find(is_word).unwrap_or(after.len());
                let rest = &after[begin..];
                self.caret + begin + rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())
            }
            Move::LineStart => before.rfind('\n').map_or(0, |at| at + 1),
            Move::LineEnd => self.caret + after.find('\n').unwrap_or(after.len()),
            Move::LineText => {
                let start = before.rfind('\n').map_or(0, |at| at + 1);
                let line = &self.text[start..];
                start + line.find(|c: char| c == '\n' || !c.is_whitespace()).unwrap_or(line.len())
            }
            Move::Start => 0,
            Move::End => self.text.len(),
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
