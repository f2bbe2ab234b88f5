//! `repo_map`: what a project consists of, the important things first.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{Group, Tool, ToolContext, ToolError, ToolOutput, code};

pub(crate) struct RepoMap;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    tokens: Option<usize>,
    #[serde(default)]
    focus: Vec<String>,
}

#[async_trait]
impl Tool for RepoMap {
    fn name(&self) -> &str {
        "repo_map"
    }

    fn description(&self) -> &str {
        "An outline of the project: the files and symbols that others refer to most, within a budget of tokens."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "tokens": {"type": "integer", "minimum": 100, "maximum": 8000, "description": "1500 if absent"},
                "focus": {"type": "array", "items": {"type": "string"}, "description": "files that come first"}
            },
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn group(&self) -> Group {
        Group::Search
    }

    fn title(&self, _input: &Value) -> String {
        "repo_map".to_owned()
    }

    fn actions(&self, _input: &Value, context: &ToolContext) -> Vec<Action> {
        vec![Action::Read { paths: vec![context.host.roots().main().to_owned()] }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let budget = input.tokens.unwrap_or(1500).clamp(100, 8000);
        code::ask(context, move |searcher| {
            let map = searcher.repo_map(budget, &input.focus);
            Ok(ToolOutput::new(map.text, format!("{} of {} files", map.files, map.of)))
        })
        .await
    }
}
