//! Where prompts are written.

mod buffer;
mod chips;
mod history;
mod layout;
mod vim;

pub(crate) use buffer::{Buffer, Move};
pub(crate) use chips::{Chip, Chips};
pub(crate) use history::History;
pub(crate) use layout::Laid;
pub(crate) use vim::{Vim, VimMode, VimStep};

use protocol::Content;
use serde::{Deserialize, Serialize};

/// A paste longer than this is folded.
const FOLD_LINES: usize = 6;
const FOLD_BYTES: usize = 1_000;

/// What is being written, with what is attached to it.
#[derive(Default)]
pub(crate) struct Composer {
    pub(crate) buffer: Buffer,
    chips: Chips,
    pub(crate) vim: Option<Vim>,
    /// Changes since it was last kept.
    pub(crate) touched: bool,
}

/// What is kept of it, so that nothing typed is lost with the process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub(crate) struct Draft {
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) chips: Vec<Chip>,
}

impl Composer {
    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.text().is_empty()
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.buffer.text().trim().is_empty()
    }

    /// The text with its folded parts as they are shown.
    #[cfg(test)]
    pub(crate) fn shown(&self) -> String {
        self.chips.shown(self.buffer.text())
    }

    /// Replaces everything; the old text can be had back by undoing.
    pub(crate) fn set(&mut self, text: &str) {
        let clean = self.chips.clean(text);
        self.buffer.replace(&clean);
        self.touched = true;
    }

    pub(crate) fn type_text(&mut self, text: &str) {
        let clean = self.chips.clean(text);
        self.buffer.insert(&clean);
        self.touched = true;
    }

    /// A paste: in full where it is short, as a chip where it is long.
    pub(crate) fn paste(&mut self, text: &str) {
        let lines = text.lines().count();
        if text.len() <= FOLD_BYTES && lines <= FOLD_LINES {
            self.type_text(text);
            return;
        }
        let label =
            if lines > 1 { format!("{lines} lines") } else { crate::format::bytes(text.len() as u64) };
        self.attach(Chip::Text { label, text: text.to_owned() });
    }

    pub(crate) fn attach(&mut self, chip: Chip) {
        match self.chips.add(chip) {
            Ok(mark) => self.buffer.insert(mark.encode_utf8(&mut [0; 4])),
            Err(Chip::Text { text, .. }) => self.type_text(&text),
            Err(Chip::Image(_)) => {}
        }
        self.touched = true;
    }

    /// Opens the chip before the caret, if there is one.
    pub(crate) fn unfold(&mut self) -> bool {
        let Some(mark) = self.buffer.before_caret() else { return false };
        let Some(Chip::Text { text, .. }) = self.chips.get(mark) else { return false };
        let text = text.clone();
        self.buffer.delete(Move::Left);
        self.type_text(&text);
        true
    }

    pub(crate) fn layout(&self, columns: usize) -> Laid {
        Laid::new(self.buffer.text(), self.buffer.caret(), columns, &self.chips)
    }

    /// What is sent: the text in full, pictures before it. Empties the composer.
    pub(crate) fn take(&mut self) -> (String, Vec<Content>) {
        let text = self.buffer.take();
        let content = self.chips.content(&text);
        let plain = self.chips.expanded(&text);
        self.chips = Chips::default();
        self.touched = true;
        (plain, content)
    }

    /// The text as an editor gets it.
    pub(crate) fn expanded(&self) -> String {
        self.chips.expanded(self.buffer.text())
    }

    pub(crate) fn draft(&self) -> Draft {
        Draft { text: self.buffer.text().to_owned(), chips: self.chips.all().to_vec() }
    }

    pub(crate) fn restore(&mut self, draft: Draft) {
        self.chips = Chips::from(draft.chips);
        self.buffer.replace(&draft.text);
    }
}

#[cfg(test)]
mod tests;
