//! Whether a route is worth trying: a circuit breaker without a clock of its own.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Failures within this span count together.
const WINDOW_MS: i64 = 60_000;
const FAILURES_TO_OPEN: usize = 5;
/// Half of the last so many calls, too.
const CALLS_TO_JUDGE: usize = 10;
const FIRST_COOL_DOWN_MS: i64 = 30_000;
const LONGEST_COOL_DOWN_MS: i64 = 600_000;

/// The memory of one route. Times are milliseconds since 1970, handed in by the caller.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Breaker {
    state: State,
    /// When the recent failures happened.
    failures: VecDeque<i64>,
    /// The last calls, true for those that went well.
    calls: VecDeque<bool>,
    cool_down_ms: i64,
    /// Why the last call failed.
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Closed,
    /// Not tried before `until`.
    Open {
        until: i64,
    },
    /// One call is under way to see whether it is well again.
    Probing {
        since: i64,
    },
    /// The provider asked to be left alone until then. That is no failure of the route.
    Parked {
        until: i64,
    },
    /// Refused our credentials: not tried until the settings change.
    Disabled,
}

/// What a route looks like from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Condition {
    Closed,
    Open { until: i64 },
    HalfOpen,
    Parked { until: i64 },
    Disabled,
}

/// How a failed call is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// The route is at fault.
    Route,
    /// It wants to be left alone until this time.
    Park { until: i64 },
    /// It does not accept us.
    Credentials,
    /// We asked wrongly; the route is well.
    Caller,
}

impl Default for Breaker {
    fn default() -> Self {
        Self {
            state: State::Closed,
            failures: VecDeque::new(),
            calls: VecDeque::new(),
            cool_down_ms: FIRST_COOL_DOWN_MS,
            reason: None,
        }
    }
}

/// A probe whose caller vanished must not block the route for ever.
const PROBE_LIMIT_MS: i64 = 120_000;

impl Breaker {
    pub fn condition(&self, now: i64) -> Condition {
        match self.state {
            State::Closed => Condition::Closed,
            State::Open { until } if now < until => Condition::Open { until },
            State::Parked { until } if now < until => Condition::Parked { until },
            State::Parked { .. } => Condition::Closed,
            State::Open { .. } | State::Probing { .. } => Condition::HalfOpen,
            State::Disabled => Condition::Disabled,
        }
    }

    /// Whether there is anything to remember of it.
    pub fn is_troubled(&self) -> bool {
        self.state != State::Closed || !self.failures.is_empty()
    }

    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// When it may be tried again, if not now; none when nobody knows.
    pub fn free_at(&self, now: i64) -> Option<i64> {
        match self.state {
            State::Closed => Some(now),
            State::Open { until } | State::Parked { until } => Some(until.max(now)),
            State::Probing { since } => Some((since + PROBE_LIMIT_MS).max(now)),
            State::Disabled => None,
        }
    }

    /// Asks to make a call. When it says yes, the caller reports how it went.
    pub fn admit(&mut self, now: i64) -> bool {
        match self.state {
            State::Closed => true,
            State::Parked { until } if now >= until => {
                self.state = State::Closed;
                true
            }
            State::Open { until } if now >= until => {
                self.state = State::Probing { since: now };
                true
            }
            State::Probing { since } if now - since >= PROBE_LIMIT_MS || now < since => {
                self.state = State::Probing { since: now };
                true
            }
            _ => false,
        }
    }

    pub fn succeeded(&mut self) {
        let probing = matches!(self.state, State::Probing { .. });
        if probing {
            self.calls.clear();
        }
        self.state = State::Closed;
        self.failures.clear();
        self.cool_down_ms = FIRST_COOL_DOWN_MS;
        self.reason = None;
        self.note(true);
    }

    pub fn failed(&mut self, blame: Blame, reason: &str, now: i64) {
        let was_probing = matches!(self.state, State::Probing { .. });
        if blame != Blame::Caller {
            self.reason = Some(reason.to_owned());
        }
        match blame {
            // It answered, and that is what a probe wants to know.
            Blame::Caller if was_probing => self.succeeded(),
            Blame::Caller => {}
            Blame::Credentials => self.state = State::Disabled,
            Blame::Park { until } => self.state = State::Parked { until },
            Blame::Route if was_probing => {
                self.cool_down_ms = (self.cool_down_ms * 2).min(LONGEST_COOL_DOWN_MS);
                self.state = State::Open { until: now.saturating_add(self.cool_down_ms) };
            }
            Blame::Route => {
                self.note(false);
                // A clock that went back would keep old failures for ever; they go as well.
                self.failures.retain(|at| *at <= now && now - at < WINDOW_MS);
                self.failures.push_back(now);
                if self.failures.len() >= FAILURES_TO_OPEN || self.half_fail() {
                    self.state = State::Open { until: now.saturating_add(self.cool_down_ms) };
                    self.failures.clear();
                    self.calls.clear();
                }
            }
        }
    }

    fn note(&mut self, well: bool) {
        self.calls.push_back(well);
        while self.calls.len() > CALLS_TO_JUDGE {
            self.calls.pop_front();
        }
    }

    fn half_fail(&self) -> bool {
        self.calls.len() == CALLS_TO_JUDGE
            && self.calls.iter().filter(|well| !**well).count() * 2 >= CALLS_TO_JUDGE
    }
}

#[cfg(test)]
mod tests;
