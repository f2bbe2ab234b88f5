//! `list_dir`: what is in a folder.

use async_trait::async_trait;
use guard::Action;
use project::EntryKind;
use protocol::{Location, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::paths::{self, Names, OneOrMany, base, split};
use crate::report::{counted, one_line};
use crate::walk::{Filter, Walk};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const MAX_ENTRIES: usize = 500;
const MAX_FOLDERS: usize = 20;
/// Entries that are looked at to find the folders that a pattern names.
const MAX_WALKED: usize = 100_000;

pub(crate) struct ListDir;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    path: OneOrMany,
}

#[async_trait]
impl Tool for ListDir {
    fn name(&self) -> &str {
        "list_dir"
    }

    fn description(&self) -> &str {
        "List folders: one name a line, folders end in `/`, files with their size."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": paths::schema("the project if absent")
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
        format!("list_dir {}", paths::titled(input, "path"))
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        let paths = paths::argument(input, "path").into_iter();
        paths.map(|path| Location { path, line: None }).collect()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        paths::look(context, &paths::argument(input, "path"))
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let folders = match input.path.as_slice() {
            [] => vec![".".to_owned()],
            paths => expand_folders(context, paths)?,
        };
        if let [path] = folders.as_slice() {
            return list(context, path).await;
        }
        let mut all = ToolOutput::new("", counted(folders.len(), "folder"));
        for path in &folders {
            all.text.push_str(&format!("==> {} <==\n", one_line(path)));
            match list(context, path).await {
                Ok(one) => all.text.push_str(&one.text),
                Err(error) => all.text.push_str(&format!("error: {error}\n")),
            }
        }
        Ok(all)
    }
}

/// The folders that patterns name, and the paths that are none as they are.
fn expand_folders(context: &ToolContext, paths: &[String]) -> Result<Vec<String>, ToolError> {
    let names = Names::of(context);
    let mut folders = Vec::new();
    for path in paths {
        let (start, pattern) = split(context, path);
        let Some(pattern) = pattern else {
            folders.push(path.clone());
            continue;
        };
        let base = base(context, start)?;
        let filter = Filter::new(&[pattern.to_owned()])?;
        let before = folders.len();
        for entry in Walk::new(base.clone()).builder().build().flatten().take(MAX_WALKED) {
            let below = entry.path().strip_prefix(&base).unwrap_or(entry.path());
            if entry.file_type().is_some_and(|kind| kind.is_dir()) && entry.depth() > 0 && filter.takes(below)
            {
                folders.push(names.name(entry.path()));
            }
        }
        folders[before..].sort();
        if folders.len() == before {
            return Err(ToolError(format!("no folder matches `{path}`")));
        }
        if folders.len() > MAX_FOLDERS {
            return Err(ToolError(format!(
                "more than {MAX_FOLDERS} folders match; use `tree`, or name fewer"
            )));
        }
    }
    Ok(folders)
}

async fn list(context: &ToolContext, path: &str) -> Result<ToolOutput, ToolError> {
    let listing = context.host.list(&context.path(path), MAX_ENTRIES).await?;
    let mut text = String::new();
    for entry in &listing.entries {
        // A name may hold a line break; it must not look like two entries.
        let name = one_line(&entry.name.to_string_lossy());
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
    let mut summary = counted(shown, "entry");
    if shown < total {
        text.push_str(&format!("… only the first {shown} of {total} are listed\n"));
        summary = format!("{shown} of {total} entries");
    }
    Ok(ToolOutput::new(text, summary))
}
