//! How much an agent may do without asking.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Ordered from the tightest to the loosest.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, TS, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// No writes.
    Explore,
    /// Read, then propose.
    Plan,
    /// Reads run, the rest asks.
    #[default]
    Ask,
    /// File edits in the project run, commands ask.
    Edit,
    /// The safety classifier decides.
    Auto,
    /// No questions; the sandbox stays.
    Full,
}

impl Mode {
    pub const NAMES: &'static [&'static str] = &["explore", "plan", "ask", "edit", "auto", "full"];

    pub fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a mode ({names})", names = Mode::NAMES.join(", "))]
pub struct UnknownMode(String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const ALL: [Mode; 6] = [Mode::Explore, Mode::Plan, Mode::Ask, Mode::Edit, Mode::Auto, Mode::Full];
        ALL.into_iter().find(|mode| mode.as_str() == text).ok_or_else(|| UnknownMode(text.to_owned()))
    }
}
