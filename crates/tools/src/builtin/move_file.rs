//! `move`: files and folders to another place.

use async_trait::async_trait;
use guard::{Action, Change};
use project::EntryKind;
use protocol::{FileWrite, Location, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::changes::canonical;
use crate::report::one_line;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct Move;

/// Where from and where to; of `copy` too.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FromTo {
    pub(super) from: String,
    pub(super) to: String,
}

pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "from": {"type": "string"},
            "to": {"type": "string", "description": "a path where nothing is, or a folder to put it in"}
        },
        "required": ["from", "to"],
        "additionalProperties": false
    })
}

pub(super) fn ends(input: &Value) -> (&str, &str) {
    let text = |name: &str| input.get(name).and_then(Value::as_str).unwrap_or(".");
    (text("from"), text("to"))
}

/// The place itself, or below it when a folder is there.
pub(super) async fn target(context: &ToolContext, from: &str, to: &str) -> Result<String, ToolError> {
    let is_folder = context.host.stat(&context.path(to)).await.is_ok_and(|stat| stat.kind == EntryKind::Dir);
    if !is_folder {
        return Ok(to.to_owned());
    }
    let name = std::path::Path::new(from).file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| ToolError(format!("`{}` has no name of its own", one_line(from))))?;
    Ok(format!("{}/{name}", to.trim_end_matches('/')))
}

#[async_trait]
impl Tool for Move {
    fn name(&self) -> &str {
        "move"
    }

    fn description(&self) -> &str {
        "Move or rename a file or folder. Never over something that is there."
    }

    fn schema(&self) -> Value {
        schema()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Move
    }

    fn group(&self) -> Group {
        Group::Files
    }

    fn title(&self, input: &Value) -> String {
        let (from, to) = ends(input);
        format!("move {} to {}", one_line(from), one_line(to))
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        let (from, to) = ends(input);
        [from, to].map(|path| Location { path: path.to_owned(), line: None }).into()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let (from, to) = ends(input);
        vec![Action::Write { change: Change::Move, paths: vec![context.path(from), context.path(to)] }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let FromTo { from, to } = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let to = target(context, &from, &to).await?;
        let seen = canonical(context, &from).ok().and_then(|place| context.state.seen(&place));
        context.host.rename(&context.path(&from), &context.path(&to)).await?;
        context.state.edited();
        if let (Some(stamp), Ok(place)) = (seen, canonical(context, &to)) {
            context.state.saw(&place, stamp);
        }
        let bytes = context.host.stat(&context.path(&to)).await.map_or(0, |stat| stat.len);
        let mut output =
            ToolOutput::new(format!("moved {} to {}\n", one_line(&from), one_line(&to)), "moved");
        output.wrote.push(FileWrite { path: from, bytes: 0, call: None, blob: None });
        output.wrote.push(FileWrite { path: to, bytes, call: None, blob: None });
        Ok(output)
    }
}
