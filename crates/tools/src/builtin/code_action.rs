//! `code_action`: what the server offers to do about a line.

use std::time::Duration;

use async_trait::async_trait;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::language::{self, OpenFile, Question};
use crate::{ToolContext, ToolError, ToolOutput};

const WAIT: Duration = Duration::from_secs(5);
const MOST: usize = 30;

pub(crate) struct CodeAction;

#[derive(Deserialize)]
pub(crate) struct Input {
    line: u32,
    #[serde(default)]
    apply: Option<String>,
}

#[async_trait]
impl Question for CodeAction {
    const NAME: &'static str = "code_action";
    const DESCRIPTION: &'static str = "What the language server offers to fix or refactor in a line; with `apply`, the title of one, it is done.";
    const KIND: ToolKind = ToolKind::Edit;
    type Input = Input;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "line": {"type": "integer", "minimum": 1},
                "apply": {"type": "string"}
            },
            "required": ["path", "line"],
            "additionalProperties": false
        })
    }

    fn changes_files(input: &Value) -> bool {
        input.get("apply").is_some()
    }

    async fn ask(input: Input, file: OpenFile, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let start = language::position(&file.text, input.line, None)?;
        let end = json!({"line": input.line, "character": 0});
        let found = file.server.diagnostics(&file.uri, WAIT).await.unwrap_or_default();
        let about: Vec<Value> = found
            .iter()
            .filter(|one| one.line + 1 == u64::from(input.line))
            .map(|one| json!({"range": {"start": start, "end": end}, "message": one.message, "severity": one.severity}))
            .collect();
        let params = json!({"textDocument": {"uri": file.uri}, "range": {"start": start, "end": end},
            "context": {"diagnostics": about}});
        let answer = file.server.ask("textDocument/codeAction", params).await?;
        let offered: Vec<Value> = answer.as_array().cloned().unwrap_or_default();
        let title = |action: &Value| action["title"].as_str().unwrap_or_default().to_owned();
        let Some(wanted) = &input.apply else {
            let titles: Vec<String> = offered.iter().take(MOST).map(title).collect();
            let text = if titles.is_empty() {
                "nothing is offered there\n".to_owned()
            } else {
                titles.join("\n") + "\n"
            };
            return Ok(ToolOutput::new(text, format!("{} offered", offered.len())));
        };
        let Some(action) = offered.iter().find(|action| title(action) == *wanted) else {
            let titles: Vec<String> = offered.iter().take(MOST).map(title).collect();
            return Err(ToolError(format!(
                "`{wanted}` is not offered there; offered are: {}",
                titles.join("; ")
            )));
        };
        let action = match action.get("edit") {
            Some(_) => action.clone(),
            None => file.server.ask("codeAction/resolve", action.clone()).await?,
        };
        let files = language::paths_of(&action["edit"])?;
        if files.is_empty() {
            return Err(ToolError(
                "it would run something in the server instead of changing files".to_owned(),
            ));
        }
        Ok(language::changed("changed", language::apply(context, files).await?))
    }
}
