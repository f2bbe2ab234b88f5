//! Long pastes and pictures, each a single character of the text until it is sent.

use protocol::{Content, Image};
use serde::{Deserialize, Serialize};

/// Characters that no script uses stand for chips.
const FIRST: u32 = 0x10_F000;
const MAX: usize = 200;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Chip {
    Text { label: String, text: String },
    Image(Image),
}

#[derive(Debug, Default)]
pub(crate) struct Chips(Vec<Chip>);

impl From<Vec<Chip>> for Chips {
    fn from(chips: Vec<Chip>) -> Self {
        Self(chips)
    }
}

impl Chips {
    pub(super) fn all(&self) -> &[Chip] {
        &self.0
    }

    /// The character that stands for it; the chip itself if there are too many.
    pub(super) fn add(&mut self, chip: Chip) -> Result<char, Chip> {
        if self.0.len() >= MAX {
            return Err(chip);
        }
        let mark = char::from_u32(FIRST + self.0.len() as u32);
        self.0.push(chip);
        Ok(mark.unwrap_or('\u{fffd}'))
    }

    pub(super) fn get(&self, mark: char) -> Option<&Chip> {
        self.0.get((mark as u32).checked_sub(FIRST)? as usize)
    }

    /// What stands on the screen for `mark`.
    pub(super) fn label(&self, mark: char) -> Option<String> {
        let number = (mark as u32).wrapping_sub(FIRST) + 1;
        self.get(mark).map(|chip| match chip {
            Chip::Text { label, .. } => format!("[paste {number}: {label}]"),
            Chip::Image(image) => format!("[{}]", image.name.as_deref().unwrap_or("picture")),
        })
    }

    /// Text from outside without the characters that stand for chips.
    pub(super) fn clean(&self, text: &str) -> String {
        let reserved = |c: char| (FIRST..FIRST + MAX as u32).contains(&(c as u32));
        text.chars().map(|c| if reserved(c) { '\u{fffd}' } else { c }).collect()
    }

    #[cfg(test)]
    pub(super) fn shown(&self, text: &str) -> String {
        self.replaced(text, |mark, _| self.label(mark).unwrap_or_default())
    }

    /// With pastes in full. Pictures are left out: they go beside the text.
    pub(super) fn expanded(&self, text: &str) -> String {
        self.replaced(text, |_, chip| match chip {
            Chip::Text { text, .. } => text.clone(),
            Chip::Image(_) => String::new(),
        })
    }

    pub(super) fn content(&self, text: &str) -> Vec<Content> {
        let images = text.chars().filter_map(|c| match self.get(c)? {
            Chip::Image(image) => Some(Content::Image(image.clone())),
            Chip::Text { .. } => None,
        });
        let mut content: Vec<Content> = images.collect();
        let words = self.expanded(text);
        if !words.trim().is_empty() || content.is_empty() {
            content.push(Content::text(words.trim_end()));
        }
        content
    }

    fn replaced(&self, text: &str, with: impl Fn(char, &Chip) -> String) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match self.get(c) {
                Some(chip) => out.push_str(&with(c, chip)),
                None => out.push(c),
            }
        }
        out
    }
}
