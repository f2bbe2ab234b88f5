//! What the person decided before: rules that they made, and how often they said yes and no.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::rules::{Effect, Entry, RuleSet, Source};

#[cfg(test)]
mod tests;

/// After this many seconds an answer counts half.
const HALF_LIFE: f64 = 30.0 * 86_400.0;

/// So many times yes, and a rule is proposed.
const ENOUGH: f64 = 4.5;

/// What is remembered, for one person.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// By the project's root; empty for every project.
    pub rules: BTreeMap<String, Vec<Kept>>,
    /// By the project's root, then by the rule that would allow exactly what was asked.
    pub counts: BTreeMap<String, BTreeMap<String, Count>>,
}

/// A rule that an answer made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub rule: String,
    pub effect: Effect,
    /// Seconds since 1970.
    pub at: u64,
}

/// How often something was allowed and refused, fading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Count {
    pub yes: f64,
    pub no: f64,
    pub at: u64,
}

impl Count {
    /// As much as is left of it now.
    pub fn faded(self, now: u64) -> Self {
        let left = 0.5_f64.powf(now.saturating_sub(self.at) as f64 / HALF_LIFE);
        Self { yes: self.yes * left, no: self.no * left, at: now }
    }
}

/// Why memory can not be used.
#[derive(Debug, thiserror::Error)]
#[error("what the guard remembers can not be kept in `{}`", path.display())]
pub struct MemoryError {
    pub path: PathBuf,
    pub source: io::Error,
}

impl Memory {
    /// Where it is kept below the person's data folder.
    pub fn file(data: &Path) -> PathBuf {
        data.join("guard/memory.json")
    }

    /// What is remembered. A file that is not there or not understood remembers nothing: that asks more, not less.
    pub fn load(data: &Path) -> Self {
        let text = std::fs::read_to_string(Self::file(data)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Changes what is remembered, one process at a time.
    pub fn change<T>(data: &Path, change: impl FnOnce(&mut Self) -> T) -> Result<T, MemoryError> {
        let path = Self::file(data);
        let failed = |source| MemoryError { path: path.clone(), source };
        let folder = path.parent().unwrap_or(data);
        project::create_private_dir(folder).map_err(failed)?;
        let lock = std::fs::File::create(folder.join("memory.lock")).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut memory = Self::load(data);
        let result = change(&mut memory);
        let text = serde_json::to_vec_pretty(&memory).map_err(|error| failed(error.into()))?;
        project::write_private_atomic(&path, &text).map_err(failed)?;
        Ok(result)
    }

    /// The rules that hold in a project.
    pub fn rules_for(&self, root: &Path) -> RuleSet {
        let mut set = RuleSet::default();
        for (key, source) in
            [(root.to_string_lossy().into_owned(), Source::Project), (String::new(), Source::User)]
        {
            for kept in self.rules.get(&key).into_iter().flatten() {
                if let Ok(rule) = kept.rule.parse() {
                    set.push(Entry { rule, effect: kept.effect, source });
                }
            }
        }
        set
    }

    /// Keeps rules for a project, or for every one. The latest word on a rule is the one that counts.
    pub fn keep(&mut self, root: Option<&Path>, rules: &[String], effect: Effect, now: u64) {
        let key = root.map(|root| root.to_string_lossy().into_owned()).unwrap_or_default();
        let kept = self.rules.entry(key).or_default();
        for rule in rules {
            kept.retain(|known| known.rule != *rule);
            kept.push(Kept { rule: rule.clone(), effect, at: now });
        }
    }

    /// Counts an answer. Answers what is now so clear that a rule may be proposed: these very things, nothing wider.
    pub fn count(&mut self, root: &Path, rules: &[String], yes: bool, now: u64) -> Option<Vec<String>> {
        let counts = self.counts.entry(root.to_string_lossy().into_owned()).or_default();
        for rule in rules {
            let count = counts.entry(rule.clone()).or_default();
            *count = count.faded(now);
            if yes { count.yes += 1.0 } else { count.no += 1.0 }
        }
        counts.retain(|_, count| {
            let left = count.faded(now);
            left.yes + left.no > 0.05
        });
        let clear =
            |rule: &String| counts.get(rule).is_some_and(|count| count.yes >= ENOUGH && count.no < 0.5);
        (yes && !rules.is_empty() && rules.iter().all(clear)).then(|| rules.to_vec())
    }

    /// Forgets rules and counts with this text, in a project and everywhere; all of the project's without one.
    pub fn forget(&mut self, root: &Path, rule: Option<&str>) -> usize {
        let project = root.to_string_lossy().into_owned();
        let mut gone = 0;
        for key in [project.clone(), String::new()] {
            if rule.is_none() && key.is_empty() {
                continue;
            }
            if let Some(kept) = self.rules.get_mut(&key) {
                let before = kept.len();
                kept.retain(|kept| rule.is_some_and(|rule| kept.rule != rule));
                gone += before - kept.len();
            }
        }
        if let Some(counts) = self.counts.get_mut(&project) {
            let before = counts.len();
            counts.retain(|text, _| rule.is_some_and(|rule| text != rule));
            gone += before - counts.len();
        }
        self.rules.retain(|_, kept| !kept.is_empty());
        self.counts.retain(|_, counts| !counts.is_empty());
        gone
    }
}
