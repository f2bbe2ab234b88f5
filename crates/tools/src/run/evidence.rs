//! What was found out by running checks, and whether it still holds.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::tally::Counts;
use crate::ToolState;

/// One check that really ran.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// `build`, `test` or `lint`.
    pub check: &'static str,
    pub command: String,
    /// None when it did not end by itself.
    pub exit_code: Option<i32>,
    /// When its output had numbers.
    pub counts: Option<Counts>,
    pub took: Duration,
    pub started: Instant,
    /// The first ones, by name or as the compiler put them.
    pub failures: Vec<String>,
}

impl Evidence {
    pub fn passed(&self) -> bool {
        self.exit_code == Some(0) && self.counts.is_none_or(|counts| counts.failed == 0)
    }

    /// Whether nothing was edited since it started.
    pub fn is_fresh(&self, state: &ToolState) -> bool {
        state.last_edit().is_none_or(|edit| edit < self.started)
    }

    /// One line: what ran, how it ended, what was counted.
    pub(crate) fn line(&self) -> String {
        let word = if self.passed() { "passed" } else { "FAILED" };
        let exit =
            self.exit_code.map_or_else(|| "did not end".to_owned(), |code| format!("exit code {code}"));
        let mut line = format!("{} {word}: `{}`, {exit}", self.check, self.command);
        if let Some(Counts { passed, failed, skipped }) = self.counts {
            line.push_str(&format!(", {passed} passed, {failed} failed, {skipped} skipped"));
            if self.counts.is_some_and(|counts| counts.ran() == 0) {
                line.push_str(" (NO TEST RAN)");
            }
        }
        line.push_str(&format!(", {} s", self.took.as_secs()));
        line
    }
}

/// The last run of each command of a session.
#[derive(Default)]
pub(crate) struct Ledger {
    runs: Mutex<Vec<Evidence>>,
}

impl Ledger {
    pub(crate) fn add(&self, evidence: Evidence) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|known| known.command != evidence.command);
        runs.push(evidence);
    }

    pub(crate) fn all(&self) -> Vec<Evidence> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The last run of each check of this session, oldest first.
pub fn evidence(state: &ToolState) -> Vec<Evidence> {
    state.extra::<Ledger>().all()
}
