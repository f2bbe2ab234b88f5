//! What every tool that asks a language server has in common.

use std::marker::PhantomData;
use std::time::Duration;

use async_trait::async_trait;
use guard::{Action, Change};
use protocol::{FileWrite, ToolKind};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{OpenFile, PATIENCE, actions, open, position};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

/// A tool that asks a language server about the file at `path`.
#[async_trait]
pub(crate) trait Question: Send + Sync + 'static {
    const NAME: &'static str;
    const DESCRIPTION: &'static str;
    const KIND: ToolKind;
    /// The arguments beside `path`.
    type Input: DeserializeOwned + Send;

    fn schema() -> Value;

    fn title(input: &Value) -> String {
        format!("{} {}", Self::NAME, path(input))
    }

    /// Whether files change. Which ones is known only when the server has answered.
    fn changes_files(_input: &Value) -> bool {
        false
    }

    /// The answer of a host that knows it by itself, as an editor does: then no server is started.
    async fn known(_input: &Value, _context: &ToolContext) -> Result<Option<ToolOutput>, ToolError> {
        Ok(None)
    }

    async fn ask(input: Self::Input, file: OpenFile, context: &ToolContext) -> Result<ToolOutput, ToolError>;
}

/// A [`Question`] as a tool.
pub(crate) struct Asks<Q>(PhantomData<Q>);

impl<Q> Asks<Q> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

#[async_trait]
impl<Q: Question> Tool for Asks<Q> {
    fn name(&self) -> &str {
        Q::NAME
    }

    fn description(&self) -> &str {
        Q::DESCRIPTION
    }

    fn schema(&self) -> Value {
        Q::schema()
    }

    fn kind(&self) -> ToolKind {
        Q::KIND
    }

    fn group(&self) -> Group {
        Group::Language
    }

    fn title(&self, input: &Value) -> String {
        Q::title(input)
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let mut actions = actions(context, path(input));
        if Q::changes_files(input) {
            let paths = vec![context.host.roots().main().to_owned()];
            actions.push(Action::Write { change: Change::Edit, paths });
        }
        actions
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        PATIENCE
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        if let Some(known) = Q::known(&input, context).await? {
            return Ok(known);
        }
        let file = open(context, path(&input)).await?;
        Q::ask(serde_json::from_value(input).map_err(ToolError::bad_input)?, file, context).await
    }
}

pub(crate) fn path(input: &Value) -> &str {
    input.get("path").and_then(Value::as_str).unwrap_or_default()
}

/// A name that stands in a line of a file.
#[derive(Deserialize)]
pub(crate) struct NameInLine {
    line: u32,
    #[serde(default)]
    symbol: Option<String>,
}

impl NameInLine {
    pub(crate) fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "line": {"type": "integer", "minimum": 1},
                "symbol": {"type": "string", "description": "the name in that line"}
            },
            "required": ["path", "line"],
            "additionalProperties": false
        })
    }

    /// The parameters with which a server is asked about it.
    pub(crate) fn params(&self, file: &OpenFile) -> Result<Value, ToolError> {
        let position = position(&file.text, self.line, self.symbol.as_deref())?;
        Ok(json!({"textDocument": {"uri": file.uri}, "position": position}))
    }
}

/// What a call says that changed files.
pub(crate) fn changed(verb: &str, wrote: Vec<FileWrite>) -> ToolOutput {
    let names: Vec<&str> = wrote.iter().map(|file| file.path.as_str()).collect();
    let text = format!("{verb} {}\n", names.join(", "));
    let summary = format!("{} files", wrote.len());
    ToolOutput { wrote, ..ToolOutput::new(text, summary) }
}
