//! What was spent.

use std::ops::{Add, AddAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ModelRef;

/// Tokens by class, and money where a price is known.
///
/// `input` is the whole prompt; `cache_read` and `cache_write` are parts of it. `output` is all that the model
/// produced; `reasoning` is a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, TS, JsonSchema)]
#[serde(default)]
pub struct Usage {
    #[ts(type = "number")]
    pub input: u64,
    #[ts(type = "number")]
    pub output: u64,
    #[ts(type = "number")]
    pub cache_read: u64,
    #[ts(type = "number")]
    pub cache_write: u64,
    #[ts(type = "number")]
    pub reasoning: u64,
    /// Absent when the price of a model that was used is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cost_usd: Option<f64>,
}

impl Usage {
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        // Unknown plus known is unknown, unless one side spent nothing at all.
        let cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(a), Some(b)) => Some(a + b),
            (cost, None) if other.total() == 0 => cost,
            (None, cost) if self.total() == 0 => cost,
            _ => None,
        };
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            cost_usd,
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// What one call to a model cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct UsageReport {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<ModelRef>,
    #[serde(flatten)]
    pub usage: Usage,
    /// The provider told nothing that can be believed, so this is a guess.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub estimated: bool,
}
