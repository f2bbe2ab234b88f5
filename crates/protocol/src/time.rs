//! Moments, to the millisecond, written as RFC 3339 in UTC.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use ts_rs::TS;

/// A moment. Always whole milliseconds, so what is written and read back is equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, TS)]
#[ts(type = "string")]
pub struct Timestamp(i64);

impl Timestamp {
    /// The clock now. The only place in this crate that looks at anything outside; callers of pure code pass it in.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_millisecond())
    }

    /// From milliseconds since 1970; moments outside the years that can be written are clamped to them.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(jiff::Timestamp::MIN.as_millisecond(), jiff::Timestamp::MAX.as_millisecond()))
    }

    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to here; zero when the clock went backwards.
    pub fn millis_since(self, earlier: Timestamp) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// `YYYYMMDD-HHMMSS`, for names of things.
    pub(crate) fn compact(self) -> String {
        self.jiff().strftime("%Y%m%d-%H%M%S").to_string()
    }

    fn jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

const PRINTER: jiff::fmt::temporal::DateTimePrinter =
    jiff::fmt::temporal::DateTimePrinter::new().precision(Some(3));

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PRINTER.print_timestamp(&self.jiff(), jiff::fmt::StdFmtWrite(f)).map_err(|_| fmt::Error)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<jiff::Timestamp>().map(|moment| Self(moment.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}
