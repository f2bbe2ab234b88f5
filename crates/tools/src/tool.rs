//! The trait, and what goes in and out of a call.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use project::Host;
use protocol::{CallId, FileRead, FileWrite, Location, ToolContent, ToolKind};
use serde_json::Value;

use crate::{Desk, ToolState};

/// How long a call may take, if the tool does not say.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Something a model can call.
#[async_trait]
pub trait Tool: Send + Sync {
    fn name(&self) -> &str;

    /// Read by the model; short and exact.
    fn description(&self) -> &str;

    /// JSON Schema of the arguments.
    fn schema(&self) -> Value;

    fn kind(&self) -> ToolKind;

    /// What it belongs to, for lists and for switching a whole group off.
    fn group(&self) -> Group;

    /// Whether every model is told of it at once. The others are found with `tool_search`.
    fn is_core(&self) -> bool {
        false
    }

    /// What a person reads while it runs: `read src/cart.rs`.
    fn title(&self, input: &Value) -> String;

    /// The files a call looks at or changes, for front ends that follow along.
    fn locations(&self, _input: &Value) -> Vec<Location> {
        vec![]
    }

    /// What the call is about to do, for the gate. The arguments fit the schema. What can not be told must be told as
    /// something that is asked about.
    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action>;

    /// The argument, a text, that a person may change before they allow the call.
    fn editable(&self) -> Option<&'static str> {
        None
    }

    /// What the call would change, for a person who is asked whether it may. Nothing where that can not be told.
    async fn foresee(&self, _input: Value, _context: &ToolContext) -> Vec<ToolContent> {
        vec![]
    }

    /// How long the call may take.
    fn time_limit(&self, _input: &Value) -> Duration {
        TIME_LIMIT
    }

    /// Runs the call. Dropping the future must stop it.
    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// The families of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Files,
    Search,
    Run,
    Git,
    Language,
    Web,
    Mind,
    Debug,
    Foreign,
}

impl Group {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Search => "search",
            Self::Run => "run",
            Self::Git => "git",
            Self::Language => "language",
            Self::Web => "web",
            Self::Mind => "mind",
            Self::Debug => "debug",
            Self::Foreign => "foreign",
        }
    }
}

/// Where a call runs, and what it may use.
#[derive(Clone)]
pub struct ToolContext {
    pub host: Arc<dyn Host>,
    /// Relative paths start here.
    pub cwd: PathBuf,
    pub call: CallId,
    /// What tools of this session remember between calls.
    pub state: Arc<ToolState>,
    /// The session around the call.
    pub desk: Arc<dyn Desk>,
}

impl ToolContext {
    /// The absolute path that the model means. Where it really leads is for the guard and the host to say.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.cwd.join(path)
    }
}

/// What a call answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// For the model.
    pub text: String,
    /// For the person, a few words: `lines 1-88`.
    pub summary: String,
    /// What front ends show beside or instead of the text: a diff.
    pub shown: Vec<ToolContent>,
    /// Pictures for the model.
    pub images: Vec<Picture>,
    /// What was read on the way.
    pub read: Vec<FileRead>,
    /// What was changed on the way.
    pub wrote: Vec<FileWrite>,
    /// Whether the text comes from outside (a page, another program's tool): marked as data for the model.
    pub is_foreign: bool,
}

impl ToolOutput {
    pub fn new(text: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { text: text.into(), summary: summary.into(), ..Self::default() }
    }
}

/// An image as bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    pub media_type: String,
    pub bytes: Vec<u8>,
}

/// Why a call failed, in words that help the model to do better.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(pub String);

impl ToolError {
    /// Arguments that do not fit the schema.
    pub fn bad_input(error: impl std::fmt::Display) -> Self {
        Self(format!("the arguments do not fit: {error}"))
    }
}

impl From<project::HostError> for ToolError {
    fn from(error: project::HostError) -> Self {
        use std::error::Error;
        let mut text = error.to_string();
        if let Some(source) = error.source() {
            text.push_str(&format!(": {source}"));
        }
        if let Some(hint) = error.hint() {
            text.push_str(&format!(" ({hint})"));
        }
        Self(text)
    }
}
