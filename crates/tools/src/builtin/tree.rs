//! `tree`: folders in folders.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use super::path_argument;
use crate::paths::{self, Names, base};
use crate::report::{counted, one_line};
use crate::walk::{Stop, Walk, blocking};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const DEFAULT_DEPTH: usize = 3;
const MAX_DEPTH: usize = 20;
/// Lines of one answer.
const MAX_LINES: usize = 600;
/// Entries of one folder that are told, so that one crowded folder does not hide the others.
const MAX_IN_FOLDER: usize = 40;
/// Entries that are looked at, for the counts.
const MAX_WALKED: usize = 200_000;

pub(crate) struct Tree;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    depth: Option<usize>,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    ignored: bool,
}

#[async_trait]
impl Tool for Tree {
    fn name(&self) -> &str {
        "tree"
    }

    fn description(&self) -> &str {
        "Show a folder as a tree, three levels deep unless told otherwise. Leaves out what is hidden or ignored."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "the project if absent"},
                "depth": {"type": "integer", "minimum": 1, "maximum": MAX_DEPTH},
                "hidden": {"type": "boolean", "description": "also hidden files"},
                "ignored": {"type": "boolean", "description": "also files that git ignores"}
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

    fn title(&self, input: &Value) -> String {
        format!("tree {}", one_line(path_argument(input)))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        paths::look(context, &paths::argument(input, "path"))
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let path = input.path.as_deref().unwrap_or(".");
        let base = base(context, path)?;
        if !base.is_dir() {
            return Err(ToolError(format!("`{}` is not a folder", one_line(path))));
        }
        let root = Names::of(context).name(&base);
        let walk = Walk::new(base.clone()).with(input.hidden, input.ignored);
        let depth = input.depth.unwrap_or(DEFAULT_DEPTH).min(MAX_DEPTH);
        let drawn = blocking(move |stop| draw(&walk, &base, depth, stop)).await?;
        let mut text = format!("{}/\n{}", one_line(&root), drawn.text);
        if drawn.lines >= MAX_LINES {
            text.push_str(&format!("… cut after {MAX_LINES} lines; show one folder, or less depth\n"));
        }
        Ok(ToolOutput::new(text, counted(drawn.entries, "entry")))
    }
}

#[derive(Default)]
struct Drawn {
    text: String,
    lines: usize,
    entries: usize,
}

fn draw(walk: &Walk, base: &Path, depth: usize, stop: &Stop) -> Drawn {
    let mut drawn = Drawn::default();
    let mut builder = walk.builder();
    builder.max_depth(Some(depth)).sort_by_file_name(Ord::cmp);
    // How many of each open folder were told, and how many not; the innermost last.
    let mut open: Vec<(PathBuf, usize, usize)> = vec![(base.to_owned(), 0, 0)];
    let mut skipped: Option<PathBuf> = None;
    for entry in builder.build().flatten().filter(|entry| entry.depth() > 0).take(MAX_WALKED) {
        if stop.is_set() || drawn.lines >= MAX_LINES {
            break;
        }
        if skipped.as_ref().is_some_and(|skipped| entry.path().starts_with(skipped)) {
            continue;
        }
        while open.last().is_some_and(|(folder, ..)| entry.path().parent() != Some(folder)) {
            close(&mut open, &mut drawn);
        }
        let level = open.len();
        let Some((_, told, untold)) = open.last_mut() else { break };
        drawn.entries += 1;
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        if *told == MAX_IN_FOLDER {
            *untold += 1;
            skipped = is_dir.then(|| entry.path().to_owned());
            continue;
        }
        *told += 1;
        drawn.lines += 1;
        let name = one_line(&entry.file_name().to_string_lossy());
        let mark = match entry.file_type() {
            Some(kind) if kind.is_dir() => "/",
            Some(kind) if kind.is_symlink() => " (link)",
            _ => "",
        };
        drawn.text.push_str(&format!("{}{name}{mark}\n", "  ".repeat(level)));
        if is_dir {
            open.push((entry.path().to_owned(), 0, 0));
        }
    }
    while !open.is_empty() {
        close(&mut open, &mut drawn);
    }
    drawn
}

fn close(open: &mut Vec<(PathBuf, usize, usize)>, drawn: &mut Drawn) {
    let level = open.len();
    if let Some((_, _, untold)) = open.pop()
        && untold > 0
    {
        drawn.lines += 1;
        drawn.text.push_str(&format!("{}… {untold} more\n", "  ".repeat(level)));
    }
}
