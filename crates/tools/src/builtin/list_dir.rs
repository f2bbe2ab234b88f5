//! `list_dir`: what is in a folder.

use async_trait::async_trait;
use guard::Action;
use project::EntryKind;
use protocol::{Location, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::path_argument;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const MAX_ENTRIES: usize = 500;

pub(crate) struct ListDir;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    path: Option<String>,
}

#[async_trait]
impl Tool for ListDir {
    fn name(&self) -> &str {
        "list_dir"
    }

    fn description(&self) -> &str {
        "List a folder: one name a line, folders end in `/`, files with their size in bytes."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "relative to the project, or absolute; the project itself if absent"}
            },
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn group(&self) -> Group {
        Group::Files
    }

    fn is_core(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        format!("list_dir {}", path_argument(input))
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        vec![Location { path: path_argument(input).to_owned(), line: None }]
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        vec![Action::Read { paths: vec![context.path(path_argument(input))] }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let path = context.cwd.join(input.path.as_deref().unwrap_or("."));
        let listing = context.host.list(&path, MAX_ENTRIES).await?;

        let mut text = String::new();
        for entry in &listing.entries {
            let name = entry.name.to_string_lossy();
            // A name may hold a line break; it must not look like two entries.
            let name = name.replace(['\n', '\r'], "\u{fffd}");
            match entry.kind {
                EntryKind::Dir => text.push_str(&format!("{name}/\n")),
                EntryKind::File => text.push_str(&format!("{name}  {}\n", entry.len)),
                EntryKind::Symlink => text.push_str(&format!("{name} (link)\n")),
                EntryKind::Other => text.push_str(&format!("{name} (special)\n")),
            }
        }
        let (shown, total) = (listing.entries.len(), listing.total);
        if total == 0 {
            text.push_str("(the folder is empty)\n");
        }
        let mut summary = if shown == 1 { "1 entry".to_owned() } else { format!("{shown} entries") };
        if shown < total {
            text.push_str(&format!("… only the first {shown} of {total} are listed\n"));
            summary = format!("{shown} of {total} entries");
        }
        Ok(ToolOutput::new(text, summary))
    }
}
