//! Trying again: when, and after how long.

use std::time::{Duration, SystemTime};

use net::header::{HeaderMap, RETRY_AFTER};

use crate::CallError;
use crate::error::{LONGEST_WAIT, wait_of};
use crate::random::random;

/// How persistent to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts after the first.
    pub retries: u32,
    /// The first wait; each one after it is twice as long, up to `longest`.
    pub base: Duration,
    /// The longest wait. A provider that asks for more is not waited for.
    pub longest: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { retries: 4, base: Duration::from_millis(500), longest: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// How long to wait before this attempt, counted from 1, or `None` to give up.
    pub(crate) fn wait(&self, error: &CallError, attempt: u32) -> Option<Duration> {
        if attempt > self.retries.min(error.patience()) {
            return None;
        }
        if let Some(asked) = error.retry_after() {
            // Exactly what was asked for: less is rude, more is slow.
            return (asked <= self.longest).then_some(asked);
        }
        let doubled = self.base.saturating_mul(1 << (attempt - 1).min(16));
        // Between three and five quarters, so that many clients do not come back at the same moment.
        let spread = 0.75 + 0.5 * (random() as f64 / u64::MAX as f64);
        Some(doubled.mul_f64(spread).min(self.longest))
    }
}

/// How long the provider wants us to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| *number >= 0.0);
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return wait_of(milliseconds / 1000.0);
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Some(seconds) = number(value) {
        return wait_of(seconds);
    }
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(http_date(value)?);
    Some(at.duration_since(now).unwrap_or_default().min(LONGEST_WAIT))
}

/// Seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that servers still send.
fn http_date(text: &str) -> Option<u64> {
    let mut words = text.split_once(", ")?.1.split(' ');
    let day: i64 = words.next()?.parse().ok()?;
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month_word = words.next()?;
    let month = names.iter().position(|name| *name == month_word)? as i64 + 1;
    let year: i64 = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(str::parse::<i64>);
    let (hour, minute, second) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next()?.ok()?);
    let in_range = (1..=31).contains(&day) && (1970..=9999).contains(&year);
    if !in_range || !(0..24).contains(&hour) || !(0..60).contains(&minute) || !(0..=60).contains(&second) {
        return None;
    }
    // Days of the proleptic Gregorian calendar, with years that begin in March so that the leap day comes last.
    let (y, m) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    u64::try_from(days * 86_400 + hour * 3600 + minute * 60 + second).ok()
}

#[cfg(test)]
mod tests;
