//! Agents that end in the middle of their work are started again: after a moment, after a longer one, and then not.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use protocol::AgentId;

/// This many unexpected ends …
const MOST: usize = 3;
/// … in this time, and the agent is not started again.
const WINDOW: Duration = Duration::from_secs(5 * 60);
/// Between an unexpected end and the next start; four times that after the second.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Debug, Default)]
pub(crate) struct Crashes(Mutex<HashMap<AgentId, Vec<Instant>>>);

impl Crashes {
    pub(crate) fn note(&self, id: &AgentId, now: Instant) {
        let mut crashes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = crashes.entry(id.clone()).or_default();
        times.retain(|time| now.duration_since(*time) < WINDOW);
        times.push(now);
    }

    /// How long to wait before the next start; the error is how often it ended.
    pub(crate) fn pause(&self, id: &AgentId, now: Instant) -> Result<Duration, usize> {
        let crashes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh =
            |times: &Vec<Instant>| times.iter().filter(|time| now.duration_since(**time) < WINDOW).count();
        match crashes.get(id).map_or(0, fresh) {
            recent if recent < MOST => Ok(PAUSE * u32::try_from(recent * recent).unwrap_or(0)),
            recent => Err(recent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_in_five_minutes_and_it_is_not_started_again() {
        let (crashes, id, other) = (Crashes::default(), AgentId::new("a"), AgentId::new("b"));
        let start = Instant::now();
        let minute = |minutes: u64| start + Duration::from_secs(60 * minutes);
        assert_eq!(crashes.pause(&id, minute(0)), Ok(Duration::ZERO));
        crashes.note(&id, minute(0));
        assert_eq!(crashes.pause(&id, minute(0)), Ok(PAUSE));
        crashes.note(&id, minute(1));
        assert_eq!(crashes.pause(&id, minute(1)), Ok(PAUSE * 4));
        crashes.note(&id, minute(2));
        assert_eq!(
            (crashes.pause(&id, minute(2)), crashes.pause(&other, minute(2))),
            (Err(3), Ok(Duration::ZERO))
        );
        // The first is forgotten after its time, and then the others.
        assert_eq!(crashes.pause(&id, minute(5)), Ok(PAUSE * 4));
        assert_eq!(crashes.pause(&id, minute(7)), Ok(Duration::ZERO));
    }
}
