//! Noticing that a turn goes round in circles.
//!
//! The model is told once, in the result where it shows; if it goes on like that the turn ends with a reason. Asking the
//! same thing again is no circle while the answer changes: that is how one waits for something. Nor is it one after a file
//! came to be what it never was: then the same check with the same result is how one goes on.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use protocol::ToolContent;
use serde_json::Value;

#[cfg(test)]
mod tests;

/// The same call with the same result this often, and the model is told.
const SAME: u32 = 3;
/// This many failed calls in a row, and the model is told.
const FAILED: u32 = 10;
/// A file that came back to a state it had before this often swings.
const SWINGS: u32 = 2;

/// What a turn did so far.
#[derive(Default)]
pub(super) struct StallWatch(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    outcomes: HashMap<u64, u32>,
    /// The states that each file had, oldest first.
    files: HashMap<String, Vec<u64>>,
    failed: u32,
    told: Told,
    stalled: Option<String>,
}

/// Whether the model was told.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Told {
    #[default]
    No,
    /// In this step, so that it could not mend its ways yet.
    Now,
    Before,
}

impl StallWatch {
    /// The model has seen the results so far, and calls again.
    pub(super) fn next_step(&self) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.told == Told::Now {
            seen.told = Told::Before;
        }
    }

    /// Takes one outcome; answers what the model should be told with it.
    pub(super) fn outcome(&self, name: &str, input: &Value, text: &str, failed: bool) -> Option<String> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = seen.outcomes.entry(hash(&(name, input.to_string(), text))).or_default();
        *count += 1;
        let same = *count;
        seen.failed = if failed { seen.failed + 1 } else { 0 };
        if same >= SAME {
            return seen.circle(format!(
                "`{name}` was called {same} times with the same arguments and the same result"
            ));
        }
        if seen.failed >= FAILED {
            let count = seen.failed;
            return seen.circle(format!("{count} calls in a row failed"));
        }
        None
    }

    /// Takes what a call made of files.
    pub(super) fn changes(&self, shown: &[ToolContent]) -> Option<String> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut note = None;
        let mut is_new = false;
        for content in shown {
            let ToolContent::Diff { path, old, new } = content else { continue };
            let (before, after) = (hash(&old.as_deref().unwrap_or_default()), hash(&new.as_str()));
            let states = seen.files.entry(path.clone()).or_default();
            if states.last() != Some(&before) {
                states.push(before);
            }
            is_new |= !states.contains(&after);
            states.push(after);
            let back = states.iter().filter(|state| **state == after).count();
            if u32::try_from(back).unwrap_or(u32::MAX) > SWINGS {
                note = seen.circle(format!("`{path}` swings between the same states"));
            }
        }
        if is_new && note.is_none() && seen.stalled.is_none() {
            seen.outcomes.clear();
            seen.failed = 0;
        }
        note
    }

    /// Why the turn should end, if it should.
    pub(super) fn stalled(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).stalled.clone()
    }
}

impl Seen {
    /// Once it is said; the next time it is over, except that counts start anew for the model to mend its ways.
    fn circle(&mut self, what: String) -> Option<String> {
        match self.told {
            Told::No => self.told = Told::Now,
            Told::Now => return None,
            Told::Before => {
                self.stalled = Some(what);
                return None;
            }
        }
        self.outcomes.clear();
        self.files.clear();
        self.failed = 0;
        Some(format!("[covey: {what}. Do something else, or stop and say what is in the way.]"))
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
