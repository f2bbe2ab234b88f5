//! `write`: a whole file.

use async_trait::async_trait;
use guard::{Action, Change};
use project::HostError;
use protocol::{Location, ToolContent, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::path_argument;
use crate::changes::{FileChange, Loaded, canonical, commit, foreseen, load};
use crate::report::one_line;
use crate::text::Text;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    content: String,
}

#[async_trait]
impl Tool for Write {
    fn name(&self) -> &str {
        "write"
    }

    fn description(&self) -> &str {
        "Write a whole file, new or one that you have read. To change a part, use edit."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn group(&self) -> Group {
        Group::Files
    }

    fn is_core(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        format!("write {}", one_line(path_argument(input)))
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        vec![Location { path: path_argument(input).to_owned(), line: None }]
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let path = context.path(path_argument(input));
        let change = if path.symlink_metadata().is_ok() { Change::Edit } else { Change::Create };
        vec![Action::Write { change, paths: vec![path] }]
    }

    async fn foresee(&self, input: Value, context: &ToolContext) -> Vec<ToolContent> {
        foreseen(plan(input, context).await.map(|change| vec![change]))
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let change = plan(input, context).await?;
        let old = change.old.as_ref().map(|old| old.text.original());
        if old == change.new.as_ref().map(Text::original) {
            return Ok(ToolOutput::new(
                format!("{} already has this content\n", one_line(&change.path)),
                "no change",
            ));
        }
        commit(vec![change], context).await
    }
}

async fn plan(input: Value, context: &ToolContext) -> Result<FileChange, ToolError> {
    let Input { path, content } = serde_json::from_value(input).map_err(ToolError::bad_input)?;
    let old = match context.host.stat(&context.path(&path)).await {
        Ok(_) => Some(known(context, &path).await?),
        Err(HostError::NotFound { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let (new, note) = match &old {
        // Line ends, marks and encoding are the file's affair, unless the text says otherwise.
        Some(old) if old.text.is_crlf() && !content.contains("\r\n") => {
            (old.text.with(content.replace('\n', "\r\n")), Some("its \\r\\n line ends were kept"))
        }
        Some(old) if !old.bytes.is_empty() => (old.text.with(content), None),
        _ => (Text::new(content), None),
    };
    let note = note.map(str::to_owned);
    Ok(FileChange { path, old, new: Some(new), moved_to: None, executable: None, note })
}

/// The file that is to be replaced, if the model knows what it replaces.
async fn known(context: &ToolContext, path: &str) -> Result<Loaded, ToolError> {
    let old = load(context, path).await?;
    let seen = context.state.seen(&canonical(context, path)?);
    let name = one_line(path);
    match seen {
        // There is nothing to lose in an empty file.
        _ if old.bytes.is_empty() => Ok(old),
        Some(seen) if seen == old.stamp => Ok(old),
        Some(_) => {
            Err(ToolError(format!("`{name}` changed since you read it; read it again, then make the change")))
        }
        None => Err(ToolError(format!(
            "`{name}` is already there and you have not read it; read it first, or use edit"
        ))),
    }
}
