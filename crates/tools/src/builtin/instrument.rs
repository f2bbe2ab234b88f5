//! `instrument`: a line of code to see what happens, gone at the end of the turn.

use async_trait::async_trait;
use guard::{Action, Change};
use protocol::{FileWrite, Location, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::instrument::insert;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct Instrument;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    after: usize,
    code: String,
    #[serde(default)]
    keep: bool,
}

#[async_trait]
impl Tool for Instrument {
    fn name(&self) -> &str {
        "instrument"
    }

    fn description(&self) -> &str {
        "Put temporary lines (prints, asserts) into a source file. They are marked and removed at the end of the turn."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "after": {"type": "integer", "minimum": 0, "description": "line to put it after; 0 for the beginning"},
                "code": {"type": "string", "minLength": 1},
                "keep": {"type": "boolean", "description": "until `uninstrument`"}
            },
            "required": ["path", "after", "code"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn group(&self) -> Group {
        Group::Debug
    }

    fn title(&self, input: &Value) -> String {
        format!("instrument {}", super::path_argument(input))
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        let line = input.get("after").and_then(Value::as_u64).and_then(|line| u32::try_from(line + 1).ok());
        vec![Location { path: super::path_argument(input).to_owned(), line }]
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        vec![Action::Write { change: Change::Edit, paths: vec![context.path(super::path_argument(input))] }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        if input.code.trim().is_empty() {
            return Err(ToolError("`code` is empty".to_owned()));
        }
        let path = context.path(&input.path);
        let host = context.host.as_ref();
        let count = insert(&context.state, host, &path, input.after, &input.code, input.keep).await?;
        let bytes = context.host.stat(&path).await?.len;
        let until = if input.keep { "until `uninstrument`" } else { "until the end of the turn" };
        Ok(ToolOutput {
            wrote: vec![FileWrite { path: input.path.clone(), bytes, call: None, blob: None }],
            ..ToolOutput::new(
                format!("{count} lines are in `{}` after line {}, {until}\n", input.path, input.after),
                format!("{count} lines"),
            )
        })
    }
}
