//! `delete`: files and folders. What they held is kept by the session, for undo.

use async_trait::async_trait;
use guard::{Action, Change};
use project::HostError;
use protocol::{FileWrite, Location, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::paths::{self, OneOrMany};
use crate::report::one_line;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct Delete;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: OneOrMany,
}

#[async_trait]
impl Tool for Delete {
    fn name(&self) -> &str {
        "delete"
    }

    fn description(&self) -> &str {
        "Delete files, links, or folders with all in them. The person can undo it."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"path": paths::schema("one or several; no globs")},
            "required": ["path"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Delete
    }

    fn group(&self) -> Group {
        Group::Files
    }

    fn title(&self, input: &Value) -> String {
        format!("delete {}", paths::titled(input, "path"))
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        let paths = paths::argument(input, "path").into_iter();
        paths.map(|path| Location { path, line: None }).collect()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let paths = paths::argument(input, "path").iter().map(|path| context.path(path)).collect();
        vec![Action::Write { change: Change::Delete, paths }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let paths = input.path.as_slice();
        // All that can be known before is, so that a list is not left half done.
        for path in paths {
            check(context, path)?;
        }
        let mut output = ToolOutput::default();
        for path in paths {
            context
                .host
                .remove(&context.path(path))
                .await
                .map_err(|error| ToolError(format!("{}{}", output.text, ToolError::from(error))))?;
            output.text.push_str(&format!("deleted {}\n", one_line(path)));
            output.wrote.push(FileWrite { path: path.clone(), bytes: 0, call: None, blob: None });
        }
        context.state.edited();
        output.summary = crate::report::counted(paths.len(), "path");
        Ok(output)
    }
}

fn check(context: &ToolContext, path: &str) -> Result<(), ToolError> {
    let roots = context.host.roots();
    let place = roots.resolve_entry(path, &context.cwd).map_err(HostError::from)?;
    let place = place.absolute();
    // Also by a link or a `..`, and also a folder that holds one of the roots.
    let real = roots.resolve(path, &context.cwd).map_err(HostError::from);
    let is_link = place.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink());
    let holds_root =
        |real: &std::path::Path| roots.iter().any(|root| root.starts_with(real) && root.is_dir());
    if holds_root(place) || !is_link && real.is_ok_and(|real| holds_root(real.absolute())) {
        return Err(ToolError(format!("`{}` is the project itself and is not deleted", one_line(path))));
    }
    if place.symlink_metadata().is_err() {
        return Err(ToolError(format!("`{}` does not exist; nothing was deleted", one_line(path))));
    }
    Ok(())
}
