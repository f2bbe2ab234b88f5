//! Rules: what a person allows, wants to be asked about, or forbids.

mod matching;
mod parse;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use parse::{Rule, RuleError};

pub(crate) use matching::{Subject, program};

/// What a rule does with what it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Allow,
    Ask,
    Deny,
}

/// Where a rule comes from, for people who wonder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The settings.
    Config,
    /// `--allow` and `--deny`.
    Flag,
    /// An answer that holds for this session.
    Session,
    /// An answer that holds for this project.
    Project,
    /// An answer that holds everywhere.
    User,
}

/// A rule with what it does and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub rule: Rule,
    pub effect: Effect,
    pub source: Source,
}

/// All rules that hold at some place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSet {
    entries: Vec<Entry>,
}

impl RuleSet {
    /// Adds a rule, as a person wrote it.
    pub fn add(&mut self, effect: Effect, source: Source, text: &str) -> Result<(), RuleError> {
        self.push(Entry { rule: text.parse()?, effect, source });
        Ok(())
    }

    /// Adds a rule. The same rule with the same effect counts once.
    pub fn push(&mut self, entry: Entry) {
        if !self.entries.contains(&entry) {
            self.entries.push(entry);
        }
    }

    /// Removes rules with this text; answers how many there were.
    pub fn remove(&mut self, text: &str) -> usize {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.rule.text() != text);
        before - self.entries.len()
    }

    pub fn extend(&mut self, other: &RuleSet) {
        for entry in &other.entries {
            self.push(entry.clone());
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The rule that decides about a subject: a deny if there is one, else the most specific, and of two that are
    /// equally so the one that asks.
    pub(crate) fn decides<'r>(
        sets: &[&'r RuleSet],
        tool: &str,
        subject: &Subject,
        place: &matching::Place<'_>,
    ) -> Option<&'r Entry> {
        let entries = sets.iter().flat_map(|set| &set.entries);
        let hits = entries.filter(|entry| entry.rule.matches(tool, subject, place));
        hits.max_by_key(|entry| {
            let strict = match entry.effect {
                Effect::Deny => 2,
                Effect::Ask => 1,
                Effect::Allow => 0,
            };
            (entry.effect == Effect::Deny, entry.rule.specificity(), strict)
        })
    }
}

pub(crate) use matching::Place;
