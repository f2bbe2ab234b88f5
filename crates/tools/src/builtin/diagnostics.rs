//! `diagnostics`: errors and warnings of a file, as its compiler sees them.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::language::{Diagnostic, OpenFile, Question, path};
use crate::{ToolContext, ToolError, ToolOutput};

/// How long findings are waited for: some servers load the project first.
const WAIT: Duration = Duration::from_secs(60);
const MOST: usize = 100;

pub(crate) struct Diagnostics;

#[derive(Deserialize)]
pub(crate) struct Input {
    #[serde(default)]
    errors_only: bool,
}

#[async_trait]
impl Question for Diagnostics {
    const NAME: &'static str = "diagnostics";
    const DESCRIPTION: &'static str = "Errors and warnings of files, from the editor or the language server.";
    const KIND: ToolKind = ToolKind::Read;
    type Input = Input;

    fn schema() -> Value {
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

    async fn known(input: &Value, context: &ToolContext) -> Result<Option<ToolOutput>, ToolError> {
        let path = context.path(path(input));
        let found = context.host.findings(&path).await?;
        let errors_only = input.get("errors_only").and_then(Value::as_bool).unwrap_or_default();
        let told = |found: Vec<project::Finding>| {
            told(found.into_iter().map(Diagnostic::from).collect(), errors_only, &path, context)
        };
        Ok(found.map(told))
    }

    async fn ask(input: Input, file: OpenFile, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Some(found) = file.server.diagnostics(&file.uri, WAIT).await else {
            return Err(ToolError(
                "the language server said nothing yet; it may still be loading the project".to_owned(),
            ));
        };
        Ok(told(found, input.errors_only, &file.path, context))
    }
}

fn told(mut found: Vec<Diagnostic>, errors_only: bool, path: &Path, context: &ToolContext) -> ToolOutput {
    found.retain(|one| one.is_error() || !errors_only);
    found.sort_by_key(|one| (one.severity, one.line));
    let root = context.host.roots().main().to_owned();
    let name = path.strip_prefix(&root).unwrap_or(path);
    let lines: Vec<String> = found.iter().take(MOST).map(|one| one.line_in(name)).collect();
    let errors = found.iter().filter(|one| one.is_error()).count();
    let text = match found.is_empty() {
        true => "no problems\n".to_owned(),
        false => lines.join("\n") + "\n",
    };
    ToolOutput::new(text, format!("{errors} errors, {} others", found.len() - errors))
}
