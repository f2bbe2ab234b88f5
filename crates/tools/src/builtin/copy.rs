//! `copy`: files and folders to another place.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use guard::{Action, Change};
use project::{ByteRange, EntryKind, Expect, MAX_READ};
use protocol::{FileWrite, Location, ToolKind};
use serde_json::Value;

use super::move_file::{FromTo, ends, schema, target};
use crate::report::{counted, one_line};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

/// What one call copies. Whoever wants more uses the shell, and the guard sees it.
const MAX_FILES: usize = 2000;
const MAX_BYTES: u64 = 256 * 1024 * 1024;
const MAX_DEPTH: usize = 64;

pub(crate) struct Copy;

#[async_trait]
impl Tool for Copy {
    fn name(&self) -> &str {
        "copy"
    }

    fn description(&self) -> &str {
        "Copy a file, or a folder with all in it. Never over something that is there. Links are left out."
    }

    fn schema(&self) -> Value {
        schema()
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn group(&self) -> Group {
        Group::Files
    }

    fn title(&self, input: &Value) -> String {
        let (from, to) = ends(input);
        format!("copy {} to {}", one_line(from), one_line(to))
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        let (from, to) = ends(input);
        [from, to].map(|path| Location { path: path.to_owned(), line: None }).into()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let (from, to) = ends(input);
        vec![
            Action::Read { paths: vec![context.path(from)] },
            Action::Write { change: Change::Create, paths: vec![context.path(to)] },
        ]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let FromTo { from, to } = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let to = target(context, &from, &to).await?;
        let (source, copy) = (context.path(&from), context.path(&to));
        let roots = context.host.roots();
        let place = |path: &Path| roots.resolve(path, &context.cwd).map(|place| place.absolute().to_owned());
        if let (Ok(source), Ok(copy)) = (place(&source), place(&copy))
            && copy.starts_with(&source)
        {
            return Err(ToolError(format!("`{}` lies in what is to be copied", one_line(&to))));
        }
        let found = find(context, &source).await?;
        for folder in &found.folders {
            context.host.make_dir(&copy.join(folder)).await?;
        }
        for (file, _) in &found.files {
            let target = if file.as_os_str().is_empty() { copy.clone() } else { copy.join(file) };
            copy_file(context, &source.join(file), &target).await?;
        }
        context.state.edited();
        let files = counted(found.files.len(), "file");
        let mut text = format!("copied {} to {}: {files}\n", one_line(&from), one_line(&to));
        if found.left_out > 0 {
            text.push_str(&format!("({} left out)\n", counted(found.left_out, "link or special file")));
        }
        let bytes = found.files.iter().map(|(_, bytes)| bytes).sum();
        let wrote = vec![FileWrite { path: to, bytes, call: None, blob: None }];
        Ok(ToolOutput { wrote, ..ToolOutput::new(text, files) })
    }
}

#[derive(Default)]
struct Found {
    /// Relative to what is copied; empty for the thing itself.
    folders: Vec<PathBuf>,
    files: Vec<(PathBuf, u64)>,
    left_out: usize,
}

/// All that is to be copied, before anything is.
async fn find(context: &ToolContext, source: &Path) -> Result<Found, ToolError> {
    let mut found = Found::default();
    let stat = context.host.stat(source).await?;
    if stat.kind != EntryKind::Dir {
        found.files.push((PathBuf::new(), stat.len));
    }
    let mut ahead = if stat.kind == EntryKind::Dir { vec![PathBuf::new()] } else { vec![] };
    while let Some(folder) = ahead.pop() {
        let listing = context.host.list(&source.join(&folder), MAX_FILES).await?;
        for entry in &listing.entries {
            let path = folder.join(&entry.name);
            match entry.kind {
                EntryKind::Dir => ahead.push(path),
                EntryKind::File => found.files.push((path, entry.len)),
                EntryKind::Symlink | EntryKind::Other => found.left_out += 1,
            }
        }
        let deep = folder.components().count() > MAX_DEPTH;
        found.folders.push(folder);
        let many = found.files.len() + found.folders.len() + ahead.len() > MAX_FILES;
        if deep || many || listing.total > listing.entries.len() {
            return Err(ToolError(format!("there is more to copy than {MAX_FILES} files; use the shell")));
        }
    }
    if found.files.iter().map(|(_, bytes)| bytes).sum::<u64>() > MAX_BYTES {
        return Err(ToolError(format!("there is more to copy than {MAX_BYTES} bytes; use the shell")));
    }
    Ok(found)
}

async fn copy_file(context: &ToolContext, from: &Path, to: &Path) -> Result<(), ToolError> {
    let mut bytes = Vec::new();
    loop {
        let range = ByteRange { offset: bytes.len() as u64, limit: MAX_READ };
        let block = context.host.read(from, range).await?.bytes;
        let is_last = block.len() < MAX_READ;
        bytes.extend(block);
        if is_last {
            break;
        }
        if bytes.len() as u64 > MAX_BYTES {
            return Err(ToolError("the file grows while it is copied".to_owned()));
        }
    }
    context.host.write(to, bytes, Expect::Absent).await?;
    // A script that could be run can be run where it is copied to.
    if let Some(mode) = context.host.stat(from).await?.mode {
        context.host.set_mode(to, mode).await?;
    }
    Ok(())
}
