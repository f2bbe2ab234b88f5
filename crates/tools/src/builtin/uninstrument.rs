//! `uninstrument`: takes out what `instrument` put in.

use std::path::PathBuf;

use async_trait::async_trait;
use guard::{Action, Change};
use protocol::{FileWrite, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::instrument::{Instrumented, Which, remove};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct Uninstrument;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    path: Option<String>,
}

#[async_trait]
impl Tool for Uninstrument {
    fn name(&self) -> &str {
        "uninstrument"
    }

    fn description(&self) -> &str {
        "Remove all lines that `instrument` put in, of one file or of all."
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": false})
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn group(&self) -> Group {
        Group::Debug
    }

    fn title(&self, input: &Value) -> String {
        format!("uninstrument {}", input.get("path").and_then(Value::as_str).unwrap_or_default())
            .trim_end()
            .to_owned()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let paths = files(input.get("path").and_then(Value::as_str), context);
        if paths.is_empty() {
            vec![Action::Inward]
        } else {
            vec![Action::Write { change: Change::Edit, paths }]
        }
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let mut wrote = Vec::new();
        let mut total = 0;
        for path in files(input.path.as_deref(), context) {
            let count = remove(&context.state, context.host.as_ref(), &path, Which::All).await?;
            if count > 0 {
                total += count;
                let bytes = context.host.stat(&path).await?.len;
                let path = path.strip_prefix(&context.cwd).unwrap_or(&path).to_string_lossy().into_owned();
                wrote.push(FileWrite { path, bytes, call: None, blob: None });
            }
        }
        let text = format!("removed {total} lines from {} files\n", wrote.len());
        Ok(ToolOutput { wrote, ..ToolOutput::new(text, format!("{total} lines")) })
    }
}

/// The one that is named, or all of the session.
fn files(path: Option<&str>, context: &ToolContext) -> Vec<PathBuf> {
    match path {
        Some(path) => vec![context.path(path)],
        None => context.state.extra::<Instrumented>().files(),
    }
}
