//! `edit`: replace text in files.

use async_trait::async_trait;
use guard::{Action, Change};
use protocol::{Location, ToolContent, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::changes::{FileChange, canonical, commit, foreseen, load, same_file};
use crate::edit::{self, Edit as Replacement};
use crate::report::one_line;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct Edit;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    old: Option<String>,
    #[serde(default)]
    new: Option<String>,
    #[serde(default)]
    replace_all: bool,
    #[serde(default)]
    edits: Vec<One>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct One {
    #[serde(default)]
    path: Option<String>,
    old: String,
    new: String,
    #[serde(default)]
    replace_all: bool,
}

impl Input {
    /// One edit or several, as a list.
    fn all(self) -> Result<Vec<(String, One)>, ToolError> {
        let Self { path, old, new, replace_all, edits } = self;
        let first = match (old, new) {
            (Some(old), Some(new)) => Some(One { path: path.clone(), old, new, replace_all }),
            (None, None) => None,
            _ => return Err(ToolError("`old` and `new` go together".to_owned())),
        };
        let all: Vec<One> = first.into_iter().chain(edits).collect();
        if all.is_empty() {
            return Err(ToolError("nothing to edit: give `path`, `old` and `new`, or `edits`".to_owned()));
        }
        let named = |one: One| match one.path.clone().or_else(|| path.clone()) {
            Some(path) => Ok((path, one)),
            None => Err(ToolError("`path` is missing".to_owned())),
        };
        all.into_iter().map(named).collect()
    }
}

/// The files that are named, each once.
fn files(input: &Value) -> Vec<String> {
    let path = |value: &Value| value.get("path").and_then(Value::as_str).map(str::to_owned);
    let edits = input.get("edits").and_then(Value::as_array);
    let mut files: Vec<String> = path(input).into_iter().collect();
    files.extend(edits.into_iter().flatten().filter_map(path));
    let mut seen = std::collections::HashSet::new();
    files.retain(|path| seen.insert(path.clone()));
    files
}

#[async_trait]
impl Tool for Edit {
    fn name(&self) -> &str {
        "edit"
    }

    fn description(&self) -> &str {
        "Replace text in files. `old` must be there once; add lines around it if not. With `edits`, several in order, all or none."
    }

    fn schema(&self) -> Value {
        let text = json!({"type": "string"});
        let all = json!({"type": "boolean"});
        json!({
            "type": "object",
            "properties": {
                "path": text,
                "old": {"type": "string", "description": "as in the file, without line numbers"},
                "new": text,
                "replace_all": {"type": "boolean", "description": "every place"},
                "edits": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"path": text, "old": text, "new": text, "replace_all": all},
                    "required": ["old", "new"],
                    "additionalProperties": false
                }}
            },
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
        match files(input).as_slice() {
            [] => "edit".to_owned(),
            [one] => format!("edit {}", one_line(one)),
            [first, rest @ ..] => format!("edit {} and {} more", one_line(first), rest.len()),
        }
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        files(input).into_iter().map(|path| Location { path, line: None }).collect()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let paths = files(input).iter().map(|path| context.path(path)).collect();
        vec![Action::Write { change: Change::Edit, paths }]
    }

    async fn foresee(&self, input: Value, context: &ToolContext) -> Vec<ToolContent> {
        foreseen(plan(input, context).await)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        commit(plan(input, context).await?, context).await
    }
}

async fn plan(input: Value, context: &ToolContext) -> Result<Vec<FileChange>, ToolError> {
    let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
    let edits = input.all()?;
    let count = edits.len();
    let mut changes: Vec<FileChange> = Vec::new();
    for (number, (path, one)) in edits.into_iter().enumerate() {
        let failed = |error: String| {
            let name = one_line(&path);
            match count {
                1 => ToolError(format!("`{name}`: {error}")),
                _ => ToolError(format!(
                    "edit {} of {count}, `{name}`: {error}\nNothing was changed.",
                    number + 1
                )),
            }
        };
        let at = match changes.iter().position(|change| same_file(context, &change.path, &path)) {
            Some(at) => at,
            None => {
                changes.push(start(context, &path).await.map_err(|error| match count {
                    1 => error,
                    _ => failed(error.0),
                })?);
                changes.len() - 1
            }
        };
        let change = &mut changes[at];
        let Some(text) = &change.new else { continue };
        let replacement = Replacement { old: &one.old, new: &one.new, replace_all: one.replace_all };
        let (text, found) = edit::apply(text, replacement).map_err(|miss| failed(miss.to_string()))?;
        change.new = Some(text);
        change.note = found.note().map(str::to_owned).or(change.note.take());
    }
    Ok(changes)
}

/// A file before its first edit.
async fn start(context: &ToolContext, path: &str) -> Result<FileChange, ToolError> {
    let old = load(context, path).await?;
    let seen = canonical(context, path).ok().and_then(|place| context.state.seen(&place));
    // The text that is replaced was just found there, so nobody's work is lost; but there is more that is new.
    let note = seen.is_some_and(|seen| seen != old.stamp);
    let note = note.then(|| "somebody else changed the file since you read it".to_owned());
    let new = Some(old.text.clone());
    Ok(FileChange { path: path.to_owned(), old: Some(old), new, moved_to: None, executable: None, note })
}
