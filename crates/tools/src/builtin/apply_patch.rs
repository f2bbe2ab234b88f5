//! `apply_patch`: a patch over any number of files, all or nothing.

use async_trait::async_trait;
use guard::{Action, Change};
use protocol::{Location, ToolContent, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::changes::{FileChange, commit, foreseen, load, same_file};
use crate::patch::{self, FileEdit, FilePatch};
use crate::report::one_line;
use crate::text::Text;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

pub(crate) struct ApplyPatch;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    patch: String,
}

fn patches(input: &Value) -> Vec<FilePatch> {
    let patch = input.get("patch").and_then(Value::as_str).unwrap_or_default();
    patch::parse(patch).unwrap_or_default()
}

#[async_trait]
impl Tool for ApplyPatch {
    fn name(&self) -> &str {
        "apply_patch"
    }

    fn description(&self) -> &str {
        "Apply a patch: a unified diff, or `*** Begin Patch` with Add, Update, Delete File and `@@` hunks. All or nothing."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"patch": {"type": "string"}},
            "required": ["patch"],
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
        match patches(input).as_slice() {
            [] => "patch".to_owned(),
            [one] => format!("patch {}", one_line(&one.path)),
            [first, rest @ ..] => format!("patch {} and {} more", one_line(&first.path), rest.len()),
        }
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        let place = |patch: FilePatch| {
            let line = match &patch.change {
                FileEdit::Update { hunks, .. } => hunks.first().and_then(|hunk| hunk.start),
                _ => None,
            };
            Location { path: patch.path, line: line.and_then(|line| u32::try_from(line).ok()) }
        };
        patches(input).into_iter().map(place).collect()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let patches = patches(input);
        if patches.is_empty() {
            // Nothing that can be read: the call will say so, and changes nothing.
            return vec![Action::Write { change: Change::Edit, paths: vec![context.cwd.clone()] }];
        }
        let action = |patch: FilePatch| {
            let mut paths = vec![context.path(&patch.path)];
            paths.extend(patch.others.iter().map(|path| context.path(path)));
            let change = match patch.change {
                FileEdit::Copy { from, .. } => {
                    let from = Action::Read { paths: vec![context.path(from)] };
                    return vec![from, Action::Write { change: Change::Create, paths }];
                }
                FileEdit::Create { .. } => Change::Create,
                FileEdit::Delete { .. } => Change::Delete,
                FileEdit::Update { moved_to: None, .. } => Change::Edit,
                FileEdit::Update { moved_to: Some(to), .. } => {
                    let to = context.path(to);
                    if !paths.contains(&to) {
                        paths.push(to);
                    }
                    Change::Move
                }
            };
            vec![Action::Write { change, paths }]
        };
        patches.into_iter().flat_map(action).collect()
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
    let patches = patch::parse(&input.patch).map_err(|error| ToolError(error.to_string()))?;
    let count = patches.len();
    let mut changes = Vec::new();
    for patch in patches {
        let path = one_line(&patch.path);
        take(context, patch, &mut changes).await.map_err(|error| {
            let rest = if count > 1 { "\nNothing was changed." } else { "" };
            ToolError(format!("`{path}`: {error}{rest}"))
        })?;
    }
    Ok(changes)
}

/// Works out what becomes of one more file.
async fn take(
    context: &ToolContext,
    patch: FilePatch,
    changes: &mut Vec<FileChange>,
) -> Result<(), ToolError> {
    let FilePatch { path, change: edit, executable, .. } = named(context, patch, changes).await;
    let misfit = |error: patch::PatchError| ToolError(error.to_string());
    let known = changes.iter().position(|change| {
        // Where a file has moved away from another may come.
        let is_here = change.moved_to.is_none() || !matches!(edit, FileEdit::Create { .. });
        is_here && same_file(context, &change.path, &path)
            || change.moved_to.as_ref().is_some_and(|to| same_file(context, to, &path))
    });
    let (new, executable) = match edit {
        FileEdit::Create { ref text } => (Some(Text::new(text.clone())), executable),
        FileEdit::Copy { ref from, ref hunks } => {
            let known = changes.iter().find(|change| same_file(context, &change.path, from));
            // A copy is of what was there before the patch.
            let before = match known.and_then(|change| change.old.clone()) {
                Some(old) => old,
                None => load(context, from).await?,
            };
            let mode = context.host.stat(&context.path(from)).await.ok().and_then(|stat| stat.mode);
            let runs = mode.is_some_and(|mode| mode & 0o100 != 0).then_some(true);
            (Some(patch::apply(&before.text, hunks).map_err(misfit)?), executable.or(runs))
        }
        FileEdit::Update { .. } | FileEdit::Delete { .. } => (None, executable),
    };
    if new.is_some() {
        let leaves =
            changes.iter().any(|change| change.moved_to.is_some() && same_file(context, &change.path, &path));
        match known.map(|at| &mut changes[at]) {
            // Taken away and made anew in one patch: replaced.
            Some(change) if change.new.is_none() => {
                (change.new, change.executable) = (new, executable);
            }
            Some(_) => return Err(ToolError("the patch makes it twice".to_owned())),
            None if !leaves && context.host.stat(&context.path(&path)).await.is_ok() => {
                return Err(ToolError("it is already there; update it instead".to_owned()));
            }
            None => changes.push(FileChange { path, old: None, new, moved_to: None, executable, note: None }),
        }
        return Ok(());
    }
    let at = match known {
        Some(at) => at,
        None => {
            let old = load(context, &path).await?;
            let new = Some(old.text.clone());
            changes.push(FileChange {
                path,
                old: Some(old),
                new,
                moved_to: None,
                executable: None,
                note: None,
            });
            changes.len() - 1
        }
    };
    let change = &mut changes[at];
    let Some(text) = &change.new else {
        return Err(ToolError("the patch already deletes it".to_owned()));
    };
    match edit {
        FileEdit::Update { moved_to, hunks } => {
            change.new = Some(patch::apply(text, &hunks).map_err(misfit)?);
            change.moved_to = moved_to.or(change.moved_to.take());
            change.executable = executable.or(change.executable);
            change.note = change.executable.map(|executable| {
                if executable { "can be run now" } else { "can not be run any more" }.to_owned()
            });
        }
        FileEdit::Delete { hunks } => {
            let left =
                if hunks.is_empty() { None } else { Some(patch::apply(text, &hunks).map_err(misfit)?) };
            if left.is_some_and(|left| !left.original().is_empty()) {
                return Err(ToolError(
                    "the patch deletes it, but it holds more than the patch knows".to_owned(),
                ));
            }
            change.new = None;
        }
        FileEdit::Create { .. } | FileEdit::Copy { .. } => {}
    }
    Ok(())
}

/// The same with the name that is meant, where a diff leaves a choice: that of a file that is there, and for a new one
/// that in a folder that is.
async fn named(context: &ToolContext, mut patch: FilePatch, changes: &[FileChange]) -> FilePatch {
    if patch.others.is_empty() {
        return patch;
    }
    let others = std::mem::take(&mut patch.others);
    let is_there = async |path: &str| {
        changes.iter().any(|change| change.new.is_some() && same_file(context, &change.path, path))
            || context.host.stat(&context.path(path)).await.is_ok()
    };
    if let FileEdit::Create { .. } = patch.change {
        for path in std::iter::once(&patch.path).chain(&others) {
            let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
            if context.host.stat(&context.path(folder)).await.is_ok() {
                patch.path = path.clone();
                break;
            }
        }
        return patch;
    }
    if let FileEdit::Update { moved_to: moved_to @ Some(_), .. } = &mut patch.change {
        let (old, new) = (is_there(&patch.path).await, is_there(&others[0]).await);
        // Both are there: a diff of two files, for the one with the plainer name.
        if old && new {
            patch.path = patch::likeliest(&patch.path, &others[0]).remove(0);
        }
        if old && !new {
            return patch;
        }
        *moved_to = None;
    }
    if !is_there(&patch.path).await {
        for path in others {
            if is_there(&path).await {
                patch.path = path;
                break;
            }
        }
    }
    patch
}
