//! What files were before an agent changed them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::CallId;

/// The state of some files was kept, or files were brought back to a state that was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Checkpoint {
    /// Counts up within a session.
    pub checkpoint: u32,
    pub did: CheckpointAction,
    /// The call before which it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub call: Option<CallId>,
    /// The files, relative to the project.
    pub paths: Vec<String>,
    /// What could not be kept, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointAction {
    Taken,
    Undone,
    Redone,
}
