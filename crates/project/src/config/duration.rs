//! Time spans as people write them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// A [`Duration`] written as `250ms`, `30s`, `5m`, `2h`, `7d`, or several of those as in `1h30m`.
///
/// A bare number is refused: nobody can tell whether it means seconds or milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HumanDuration(pub Duration);

/// The text is not a time span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotADuration;

impl fmt::Display for NotADuration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("expected a time span such as `30s` or `1h30m`")
    }
}

impl std::error::Error for NotADuration {}

impl FromStr for HumanDuration {
    type Err = NotADuration;

    fn from_str(text: &str) -> Result<Self, NotADuration> {
        let mut total = Duration::ZERO;
        let mut rest = text;
        loop {
            let digits = rest.find(|letter: char| !letter.is_ascii_digit()).ok_or(NotADuration)?;
            let (number, after) = rest.split_at(digits);
            let unit = after.find(|letter: char| letter.is_ascii_digit()).unwrap_or(after.len());
            let (unit, after) = after.split_at(unit);
            let milliseconds: u64 = match unit {
                "ms" => 1,
                "s" => 1_000,
                "m" => 60_000,
                "h" => 3_600_000,
                "d" => 86_400_000,
                _ => return Err(NotADuration),
            };
            let number: u64 = number.parse().map_err(|_| NotADuration)?;
            let span = Duration::from_millis(number.checked_mul(milliseconds).ok_or(NotADuration)?);
            total = total.checked_add(span).ok_or(NotADuration)?;
            if after.is_empty() {
                return Ok(Self(total));
            }
            rest = after;
        }
    }
}

impl<'de> Deserialize<'de> for HumanDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}
