//! `diagnostics`: errors and warnings of a file, as its compiler sees them.

use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use super::path_argument;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput, language};

/// How long findings are waited for: some servers load the project first.
const WAIT: Duration = Duration::from_secs(60);
const MOST: usize = 100;

pub(crate) struct Diagnostics;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    #[serde(default)]
    errors_only: bool,
}

#[async_trait]
impl Tool for Diagnostics {
    fn name(&self) -> &str {
        "diagnostics"
    }

    fn description(&self) -> &str {
        "Errors and warnings of files, from the language server."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "errors_only": {"type": "boolean"}
            },
            "required": ["path"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn group(&self) -> Group {
        Group::Language
    }

    fn title(&self, input: &Value) -> String {
        format!("diagnostics {}", path_argument(input))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        language::actions(context, input.get("path").and_then(Value::as_str))
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        language::PATIENCE
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let file = language::open(context, &input.path).await?;
        let Some(mut found) = file.server.diagnostics(&file.uri, WAIT).await else {
            return Err(ToolError(
                "the language server said nothing yet; it may still be loading the project".to_owned(),
            ));
        };
        found.retain(|one| one.is_error() || !input.errors_only);
        found.sort_by_key(|one| (one.severity, one.line));
        let root = context.host.roots().main().to_owned();
        let name = file.path.strip_prefix(&root).unwrap_or(&file.path);
        let lines: Vec<String> = found.iter().take(MOST).map(|one| one.line_in(name)).collect();
        let errors = found.iter().filter(|one| one.is_error()).count();
        let text = match found.is_empty() {
            true => "no problems\n".to_owned(),
            false => lines.join("\n") + "\n",
        };
        Ok(ToolOutput::new(text, format!("{errors} errors, {} others", found.len() - errors)))
    }
}
