//! Prompts of before.

use std::collections::VecDeque;

const MAX: usize = 2_000;

#[derive(Debug, Default)]
pub(crate) struct History {
    entries: VecDeque<String>,
    /// Where browsing is, from the newest; none when what is shown is new.
    at: Option<usize>,
    /// What was being written when browsing began.
    pending: String,
}

impl History {
    pub(crate) fn new(entries: impl IntoIterator<Item = String>) -> Self {
        let mut history = Self::default();
        entries.into_iter().for_each(|entry| history.add(&entry));
        history
    }

    pub(crate) fn add(&mut self, text: &str) {
        self.at = None;
        if text.trim().is_empty() || self.entries.back().is_some_and(|last| last == text) {
            return;
        }
        self.entries.push_back(text.to_owned());
        if self.entries.len() > MAX {
            self.entries.pop_front();
        }
    }

    /// The prompt before the one that is shown.
    pub(crate) fn older(&mut self, shown: &str) -> Option<String> {
        let next = self.at.map_or(0, |at| at + 1);
        let entry = self.nth(next)?.to_owned();
        if self.at.is_none() {
            shown.clone_into(&mut self.pending);
        }
        self.at = Some(next);
        Some(entry)
    }

    /// The one after it; at the end what was being written.
    pub(crate) fn newer(&mut self) -> Option<String> {
        let at = self.at?;
        self.at = at.checked_sub(1);
        match self.at {
            Some(at) => self.nth(at).map(str::to_owned),
            None => Some(std::mem::take(&mut self.pending)),
        }
    }

    pub(crate) fn is_browsing(&self) -> bool {
        self.at.is_some()
    }

    pub(crate) fn settle(&mut self) {
        self.at = None;
    }

    fn nth(&self, from_newest: usize) -> Option<&str> {
        let at = self.entries.len().checked_sub(from_newest + 1)?;
        self.entries.get(at).map(String::as_str)
    }

    /// Those that hold `words`, the newest first, each once.
    pub(crate) fn search(&self, words: &str) -> Vec<&str> {
        let wanted = words.to_lowercase();
        let mut seen = std::collections::HashSet::new();
        let fits =
            |entry: &&String| wanted.split_whitespace().all(|word| entry.to_lowercase().contains(word));
        self.entries
            .iter()
            .rev()
            .filter(fits)
            .map(String::as_str)
            .filter(|entry| seen.insert(*entry))
            .take(200)
            .collect()
    }
}
