//! How a turn ends.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The outcome of a turn, as scripts see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The agent finished what it had to say.
    Done,
    /// Somebody stopped it.
    Cancelled,
    /// It finished, but something was refused because nobody was there to allow it.
    Denied,
    /// A limit on steps, time, tokens or money stopped it.
    Limit,
    Error,
}

/// Why, where the outcome alone does not say what to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// The model declined to answer.
    Refused,
    /// The answer reached the model's output limit.
    OutputLimit,
    MaxSteps,
    Timeout,
    Budget,
    /// The agent went round in circles.
    Stalled,
    /// No model or agent could be reached.
    Unreachable,
    /// The event log could not be written.
    Storage,
    /// The process ended in the middle of the turn; found when the session was opened again.
    Interrupted,
}

impl Stop {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Denied => "denied",
            Self::Limit => "limit",
            Self::Error => "error",
        }
    }
}
