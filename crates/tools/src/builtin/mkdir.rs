//! `mkdir`: new folders.

use async_trait::async_trait;
use guard::{Action, Change};
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::paths::{self, OneOrMany};
use crate::report::{counted, one_line};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct Mkdir;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: OneOrMany,
}

#[async_trait]
impl Tool for Mkdir {
    fn name(&self) -> &str {
        "mkdir"
    }

    fn description(&self) -> &str {
        "Make folders, and those missing on the way. `write` makes its folders itself."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"path": paths::schema("one or several")},
            "required": ["path"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn group(&self) -> Group {
        Group::Files
    }

    fn title(&self, input: &Value) -> String {
        format!("mkdir {}", paths::titled(input, "path"))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let paths = paths::argument(input, "path").iter().map(|path| context.path(path)).collect();
        vec![Action::Write { change: Change::Create, paths }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let mut text = String::new();
        for path in input.path.as_slice() {
            context
                .host
                .make_dir(&context.path(path))
                .await
                .map_err(|error| ToolError(format!("{text}{}", ToolError::from(error))))?;
            text.push_str(&format!("{}/ is there\n", one_line(path)));
        }
        Ok(ToolOutput::new(text, counted(input.path.as_slice().len(), "folder")))
    }
}
