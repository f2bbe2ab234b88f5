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
/// Nobody is left alone for longer, whatever they ask for.
const LONGEST_PARK_MS: i64 = 24 * 3_600_000;

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

/// Whether a time is still to come. One that is further away than it ever was set shows that the clock went back:
/// it is over, or a route would stay shut for as long as the clock was wrong.
fn lies_ahead(until: i64, now: i64, longest: i64) -> bool {
    now < until && until.saturating_sub(now) <= longest
}

impl Breaker {
    pub fn condition(&self, now: i64) -> Condition {
        match self.state {
            State::Closed => Condition::Closed,
            State::Open { until } if lies_ahead(until, now, self.cool_down_ms) => Condition::Open { until },
            State::Parked { until } if lies_ahead(until, now, LONGEST_PARK_MS) => Condition::Parked { until },
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

    /// Failures that still count.
    pub fn recent_failures(&self, now: i64) -> usize {
        self.failures.iter().filter(|at| is_recent(**at, now)).count()
    }

    /// When it may be tried again, if not now; none when nobody knows.
    pub fn free_at(&self, now: i64) -> Option<i64> {
        match (self.condition(now), self.state) {
            (Condition::Open { until } | Condition::Parked { until }, _) => Some(until),
            (_, State::Probing { since }) if since <= now => {
                Some(since.saturating_add(PROBE_LIMIT_MS).max(now))
            }
            (Condition::Disabled, _) => None,
            _ => Some(now),
        }
    }

    /// Asks to make a call. When it says yes, the caller reports how it went.
    pub fn admit(&mut self, now: i64) -> bool {
        match self.state {
            State::Closed => true,
            State::Parked { until } if !lies_ahead(until, now, LONGEST_PARK_MS) => {
                self.state = State::Closed;
                true
            }
            State::Open { until } if !lies_ahead(until, now, self.cool_down_ms) => {
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

    /// The caller went away before it knew how the call goes. The next one probes in its place.
    pub fn abandoned(&mut self) {
        if let State::Probing { since } = self.state {
            self.state = State::Open { until: since };
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
            Blame::Park { until } => {
                self.state = State::Parked { until: until.min(now.saturating_add(LONGEST_PARK_MS)) };
            }
            Blame::Route if was_probing => {
                self.cool_down_ms = (self.cool_down_ms * 2).min(LONGEST_COOL_DOWN_MS);
                self.state = State::Open { until: now.saturating_add(self.cool_down_ms) };
            }
            Blame::Route => {
                self.note(false);
                // A clock that went back would keep old failures for ever; they go as well.
                self.failures.retain(|at| is_recent(*at, now));
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

fn is_recent(at: i64, now: i64) -> bool {
    at <= now && now.saturating_sub(at) < WINDOW_MS
}

#[cfg(test)]
mod tests;
