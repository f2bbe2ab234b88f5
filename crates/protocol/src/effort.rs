//! How much a model thinks before it answers.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// From least to most. Each vendor has its own words for it; those are found where the request is made.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Not at all, or as little as the model can.
    None,
    Low,
    Medium,
    High,
    /// As much as the model can.
    Max,
}

impl Effort {
    pub const NAMES: &'static [&'static str] = &["none", "low", "medium", "high", "max"];

    pub fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not how much a model can think ({names})", names = Effort::NAMES.join(", "))]
pub struct UnknownEffort(String);

impl FromStr for Effort {
    type Err = UnknownEffort;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const ALL: [Effort; 5] = [Effort::None, Effort::Low, Effort::Medium, Effort::High, Effort::Max];
        ALL.into_iter().find(|effort| effort.as_str() == text).ok_or_else(|| UnknownEffort(text.to_owned()))
    }
}
