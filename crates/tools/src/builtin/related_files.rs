//! `related_files`: what belongs to a file.

use async_trait::async_trait;
use guard::Action;
use index::{Commit, Relation};
use protocol::{Location, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::path_argument;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput, code};

/// How much of the history is looked at for files that change together.
const COMMITS: usize = 500;

pub(crate) struct RelatedFiles;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    #[serde(default)]
    limit: Option<usize>,
}

#[async_trait]
impl Tool for RelatedFiles {
    fn name(&self) -> &str {
        "related_files"
    }

    fn description(&self) -> &str {
        "Files that belong to a file: what it imports, who imports it, its tests, what changes together with it."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50}
            },
            "required": ["path"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn group(&self) -> Group {
        Group::Search
    }

    fn title(&self, input: &Value) -> String {
        format!("related_files {}", path_argument(input))
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        vec![Location { path: path_argument(input).to_owned(), line: None }]
    }

    fn actions(&self, _input: &Value, context: &ToolContext) -> Vec<Action> {
        vec![Action::Read { paths: vec![context.host.roots().main().to_owned()] }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let root = context.host.roots().main().to_owned();
        let resolved = context.host.roots().resolve(&input.path, &context.cwd);
        let path = match resolved {
            Ok(resolved) => resolved.relative().to_string_lossy().into_owned(),
            Err(error) => return Err(ToolError(error.to_string())),
        };
        let limit = input.limit.unwrap_or(15).clamp(1, 50);
        // Without a history there is simply nothing to say about it.
        let history: Vec<Commit> = index::commits(&root, COMMITS).await.unwrap_or_default();
        code::ask(context, move |searcher| {
            let related = searcher.related_files(&path, limit, &history);
            let mut text = String::new();
            for file in &related {
                let how = match file.relation {
                    Relation::Imports => "imported by it",
                    Relation::ImportedBy => "imports it",
                    Relation::Test => "tests",
                    Relation::CoChange => "changes with it",
                };
                text.push_str(&format!("{}  ({how})\n", file.file));
            }
            if related.is_empty() {
                text.push_str("nothing is known to belong to it\n");
            }
            Ok(ToolOutput::new(text, format!("{} files", related.len())))
        })
        .await
    }
}
