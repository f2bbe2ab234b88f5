//! `stat`: what is at a path.

use std::time::SystemTime;

use async_trait::async_trait;
use guard::Action;
use project::EntryKind;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::changes::canonical;
use crate::paths::{self, Names, OneOrMany, expand};
use crate::report::{counted, one_line};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const MAX_PATHS: usize = 200;

pub(crate) struct Stat;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: OneOrMany,
}

#[async_trait]
impl Tool for Stat {
    fn name(&self) -> &str {
        "stat"
    }

    fn description(&self) -> &str {
        "Tell of files or folders: kind, size, when it changed, where a link leads, whether it is there at all."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"path": paths::schema("or globs")},
            "required": ["path"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn group(&self) -> Group {
        Group::Files
    }

    fn title(&self, input: &Value) -> String {
        format!("stat {}", paths::titled(input, "path"))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        paths::look(context, &paths::argument(input, "path"))
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let files = expand(context, input.path.as_slice(), MAX_PATHS).await?;
        let mut text = String::new();
        for path in &files.paths {
            text.push_str(&format!("{}: {}\n", one_line(path), describe(context, path).await));
        }
        if files.more > 0 {
            text.push_str(&format!("… {} more\n", files.more));
        }
        Ok(ToolOutput::new(text, counted(files.paths.len(), "path")))
    }
}

async fn describe(context: &ToolContext, path: &str) -> String {
    let stat = match context.host.stat(&context.path(path)).await {
        Ok(stat) => stat,
        Err(error) => return ToolError::from(error).0,
    };
    let what = match stat.kind {
        EntryKind::File => counted(usize::try_from(stat.len).unwrap_or(usize::MAX), "byte"),
        EntryKind::Dir => "folder".to_owned(),
        EntryKind::Symlink => "link".to_owned(),
        EntryKind::Other => "pipe, socket or device".to_owned(),
    };
    let changed = stat.modified.map(|time| format!(", changed {}", moment(time))).unwrap_or_default();
    let names = Names::of(context);
    let place = canonical(context, path).map(|place| names.name(&place)).unwrap_or_default();
    let plain = std::path::Path::new(path).components().collect::<std::path::PathBuf>();
    let is_link = !place.is_empty() && names.name(&context.path(plain)) != place;
    let leads = if is_link { format!(", really `{}`", one_line(&place)) } else { String::new() };
    format!("{what}{changed}{leads}")
}

fn moment(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time)
        .map_or_else(|_| "at no usual time".to_owned(), |time| format!("{time:.0}"))
}
