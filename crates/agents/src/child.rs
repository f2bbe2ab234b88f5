//! A turn that another turn starts: a sub-agent, a participant, a mention.

use std::sync::Arc;

use protocol::{Content, Limits, Mode, ModelRef, Stop, Usage};

use crate::Agent;

/// What a child turn is to do, and who does it.
#[derive(Clone)]
pub struct Child {
    pub agent: Arc<dyn Agent>,
    pub model: Option<ModelRef>,
    pub prompt: Vec<Content>,
    /// Never looser than its parent's.
    pub mode: Mode,
    /// Drawn from its parent's.
    pub limits: Limits,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildEnd {
    pub stop: Stop,
    /// The last thing it said.
    pub said: String,
    pub usage: Usage,
    pub steps: u32,
}
