//! `memory_read`: what earlier sessions thought worth keeping.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde_json::{Value, json};

use crate::memory;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct MemoryRead;

#[async_trait]
impl Tool for MemoryRead {
    fn name(&self) -> &str {
        "memory_read"
    }

    fn description(&self) -> &str {
        "Read what was remembered of this project in earlier sessions."
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {}, "additionalProperties": false})
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn title(&self, _input: &Value) -> String {
        "memory_read".to_owned()
    }

    /// The person's own notes for this project, made for this very reader.
    fn actions(&self, _input: &Value, _context: &ToolContext) -> Vec<Action> {
        vec![Action::Inward]
    }

    async fn call(&self, _input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let text = memory::read(context)?;
        let count = text.lines().filter(|line| line.starts_with("- ")).count();
        let text = if text.trim().is_empty() { "(nothing is remembered yet)\n".to_owned() } else { text };
        Ok(ToolOutput::new(text, format!("{count} entries")))
    }
}
