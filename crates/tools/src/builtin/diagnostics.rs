//! `diagnostics`: errors and warnings of a file, as its compiler sees them.

use std::time::Duration;

use async_trait::async_trait;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::language::{OpenFile, Question};
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
    const DESCRIPTION: &'static str = "Errors and warnings of files, from the language server.";
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

    async fn ask(input: Input, file: OpenFile, context: &ToolContext) -> Result<ToolOutput, ToolError> {
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
