//! Which of several equals is asked first: health, then latency, then price, then how they were written down.

use std::cmp::Ordering;

use protocol::Usage;

use super::{Health, Route};

/// What a route that nobody has measured is taken to need until its first word. A quicker one is not left for it, and a
/// slower one gives it a chance.
const ASSUMED_LATENCY_MS: f64 = 1_000.0;

/// An agent's call: a long prompt and a short answer.
const TYPICAL: (u64, u64) = (10_000, 1_000);

/// How a route compares to its equals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Standing {
    pub(super) rank: usize,
    /// Failures of the last minute.
    failures: usize,
    /// Steps of twice as long: less than that is chance, and going back and forth would empty providers' caches.
    slowness: i32,
    /// Of a typical call. What nobody knows comes last.
    price: f64,
}

impl Standing {
    pub(super) fn of(route: &Route, health: &Health) -> Self {
        let (failures, latency) = health.record(route.model.id(), &route.fingerprint);
        let prices = route.model.info().prices;
        let usage = Usage { input: TYPICAL.0, output: TYPICAL.1, ..Usage::default() };
        Self {
            rank: route.rank,
            failures,
            slowness: latency.unwrap_or(ASSUMED_LATENCY_MS).max(1.0).log2().round() as i32,
            price: prices.map_or(f64::INFINITY, |prices| prices.cost(&usage)),
        }
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let order = self.rank.cmp(&other.rank).then(self.failures.cmp(&other.failures));
        order.then(self.slowness.cmp(&other.slowness)).then(self.price.total_cmp(&other.price))
    }

    /// Why the other one is asked before this one, in words for a person; `None` if it is not for its standing.
    pub(super) fn why_after(&self, other: &Self) -> Option<&'static str> {
        if self.rank != other.rank || self.compare(other) != Ordering::Greater {
            return None;
        }
        Some(if self.failures != other.failures {
            "its equal failed less in the last minute"
        } else if self.slowness != other.slowness {
            "its equal answers sooner"
        } else {
            "its equal costs less"
        })
    }
}
