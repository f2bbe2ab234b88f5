//! What an agent's turn tells people's own programs, and what they answer.

use std::path::PathBuf;

use guard::HookSays;
use protocol::{HookEvent, HookRan};
use serde_json::{Map, Value};

/// Something that hooks may want to hear of.
#[derive(Debug, Clone)]
pub struct HookCall {
    pub on: HookEvent,
    /// The tool that is called, if one is.
    pub tool: Option<String>,
    /// The files that it touches, relative to the project.
    pub paths: Vec<PathBuf>,
    /// What the hook reads beside that: `input`, `result`, `prompt`, …
    pub detail: Map<String, Value>,
}

impl HookCall {
    pub fn new(on: HookEvent) -> Self {
        Self { on, tool: None, paths: Vec::new(), detail: Map::new() }
    }

    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.detail.insert(name.to_owned(), value.into());
        self
    }
}

/// What all hooks together said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookAnswer {
    /// The strictest word.
    pub says: Option<HookSays>,
    /// What the tool is to be given instead.
    pub input: Option<Value>,
    /// What the model is told.
    pub context: Vec<String>,
    /// Who said something, for the record.
    pub ran: Vec<HookRan>,
}
