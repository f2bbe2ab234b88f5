//! The trait, and what goes in and out of a call.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use project::Host;
use protocol::{FileRead, Location, ToolKind};
use serde_json::Value;

/// Something a model can call.
#[async_trait]
pub trait Tool: Send + Sync {
    fn name(&self) -> &'static str;

    /// Read by the model; short and exact.
    fn description(&self) -> &'static str;

    /// JSON Schema of the arguments.
    fn schema(&self) -> Value;

    fn kind(&self) -> ToolKind;

    /// What a person reads while it runs: `read src/cart.rs`.
    fn title(&self, input: &Value) -> String;

    /// The files a call looks at or changes, for front ends that follow along.
    fn locations(&self, _input: &Value) -> Vec<Location> {
        vec![]
    }

    /// What must be granted before this call may run.
    fn need(&self, input: &Value, context: &ToolContext) -> Need;

    /// Runs the call. Dropping the future must stop it.
    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// Whether a call may run without a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Need {
    Nothing,
    /// The person's word, for the given reasons. With it, the call may use `path` too.
    Permission {
        reasons: Vec<String>,
        path: PathBuf,
    },
}

/// Where a call runs.
#[derive(Clone)]
pub struct ToolContext {
    pub host: Arc<dyn Host>,
    /// Relative paths start here.
    pub cwd: PathBuf,
}

/// What a call answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// For the model.
    pub text: String,
    /// For the person, a few words: `lines 1-88`.
    pub summary: String,
    /// What was read on the way.
    pub read: Vec<FileRead>,
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
