//! `memory_write`: something for later sessions.

use async_trait::async_trait;
use guard::{Action, Change};
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::memory;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct MemoryWrite;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    forget: Option<String>,
}

#[async_trait]
impl Tool for MemoryWrite {
    fn name(&self) -> &str {
        "memory_write"
    }

    fn description(&self) -> &str {
        "Remember one fact about this project for later sessions, or with `forget` drop what holds that text. No secrets."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "minLength": 1, "description": "one self-contained sentence"},
                "forget": {"type": "string", "minLength": 1}
            },
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn title(&self, _input: &Value) -> String {
        "memory_write".to_owned()
    }

    /// Later sessions will believe it, so the person is asked as for any file of theirs.
    fn actions(&self, _input: &Value, context: &ToolContext) -> Vec<Action> {
        vec![Action::Write { change: Change::Edit, paths: memory::path(context).into_iter().collect() }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let done = match (input.text, input.forget) {
            (Some(text), None) => memory::add(context, &text)?,
            (None, Some(text)) => memory::forget(context, &text)?,
            _ => return Err(ToolError("either `text` or `forget`".to_owned())),
        };
        Ok(ToolOutput::new(format!("{done}\n"), done))
    }
}
