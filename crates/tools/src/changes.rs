//! Several files changed together, or none.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use project::{ByteRange, Expect, Host, HostError, MAX_READ, Stamp};
use protocol::{FileWrite, ToolContent};

use crate::report::{Report, Told};
use crate::text::Text;
use crate::{ToolContext, ToolError, ToolOutput};

/// A file as it is now.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) text: Text,
    pub(crate) bytes: Vec<u8>,
    pub(crate) stamp: Stamp,
}

/// What becomes of one file.
#[derive(Debug, Clone)]
pub(crate) struct FileChange {
    /// As the model named it.
    pub(crate) path: String,
    /// Absent when the file is new.
    pub(crate) old: Option<Loaded>,
    /// Absent when the file goes.
    pub(crate) new: Option<Text>,
    /// Where it moves to.
    pub(crate) moved_to: Option<String>,
    /// Whether it becomes a file that can be run, or stops being one.
    pub(crate) executable: Option<bool>,
    /// What the model should know about this one: `matched apart from white space`.
    pub(crate) note: Option<String>,
}

/// Where a path of the model's really leads.
pub(crate) fn canonical(context: &ToolContext, path: &str) -> Result<PathBuf, ToolError> {
    let resolved = context.host.roots().resolve(path, &context.cwd).map_err(HostError::from)?;
    Ok(resolved.absolute().to_owned())
}

/// The whole of a file that is to be changed.
pub(crate) async fn load(context: &ToolContext, path: &str) -> Result<Loaded, ToolError> {
    let target = context.path(path);
    let read = context.host.read(&target, ByteRange::first(MAX_READ)).await?;
    if read.total_len > MAX_READ as u64 {
        return Err(ToolError(format!(
            "`{path}` has {} bytes, too many to change at once (at most {MAX_READ}); use a command for it",
            read.total_len
        )));
    }
    let text = Text::decode(&read.bytes).map_err(|error| ToolError(format!("`{path}` is {error}")))?;
    Ok(Loaded { text, stamp: read.stamp(), bytes: read.bytes })
}

/// Makes all the changes and tells of them. When one fails, those before it are taken back.
pub(crate) async fn commit(changes: Vec<FileChange>, context: &ToolContext) -> Result<ToolOutput, ToolError> {
    let mut steps = Vec::new();
    for change in &changes {
        let encoded = change.new.as_ref().map(Text::encode).transpose();
        let new = encoded.map_err(|error| ToolError(format!("`{}`: {error}", change.path)))?;
        steps.push(Step {
            from: context.path(&change.path),
            to: context.path(change.moved_to.as_ref().unwrap_or(&change.path)),
            old: change.old.as_ref().map(|old| (old.bytes.clone(), old.stamp)),
            new,
            executable: change.executable,
        });
    }
    // What can fail goes first, what is hard to take back last.
    steps.sort_by_key(|step| (step.new.is_none(), step.from != step.to));
    let steps = places_first(steps);
    let host = context.host.clone();
    // In a task of its own: a call that is cancelled half-way must not leave half of the files changed.
    let made = tokio::spawn(async move { make(&host, steps).await }).await;
    let made = made.unwrap_or_else(|error| Err(ToolError(format!("the change broke off: {error}"))))?;
    context.state.edited();
    for (path, stamp) in made {
        if let Ok(resolved) = context.host.roots().resolve(&path, &context.cwd) {
            context.state.saw(resolved.absolute(), stamp);
        }
    }
    Ok(told(&changes))
}

/// What the changes will look like.
pub(crate) fn foreseen(changes: Result<Vec<FileChange>, ToolError>) -> Vec<ToolContent> {
    changes.map(|changes| told(&changes).shown).unwrap_or_default()
}

struct Step {
    from: PathBuf,
    to: PathBuf,
    old: Option<(Vec<u8>, Stamp)>,
    new: Option<Vec<u8>>,
    executable: Option<bool>,
}

enum Done {
    Created(PathBuf, Stamp),
    Written(PathBuf, Vec<u8>, Stamp),
    Renamed(PathBuf, PathBuf),
    Removed(PathBuf, Vec<u8>, Option<u32>),
    MadeRunnable(PathBuf, u32),
}

impl Step {
    /// Whether something has to go from where this one leads before it can be made.
    fn waits_for(&self, other: &Self) -> bool {
        let frees = other.new.is_none() || other.from != other.to;
        let comes = self.new.is_some() && (self.old.is_none() || self.from != self.to);
        frees && comes && self.to.starts_with(&other.from)
    }
}

/// In an order in which every place is free when something comes there: a file that moves away and one that is made in its
/// place, a file that becomes a folder. Those that wait for each other stay as they are, and fail.
fn places_first(steps: Vec<Step>) -> Vec<Step> {
    let mut waiting = steps;
    let mut ordered: Vec<Step> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let is_free = |at: &usize| {
            let others = waiting.iter().enumerate().filter(|(other, _)| other != at);
            others.into_iter().all(|(_, other)| !waiting[*at].waits_for(other))
        };
        let next = (0..waiting.len()).find(is_free).unwrap_or(0);
        ordered.push(waiting.remove(next));
    }
    ordered
}

async fn make(host: &Arc<dyn Host>, steps: Vec<Step>) -> Result<Vec<(PathBuf, Stamp)>, ToolError> {
    let mut done = Vec::new();
    let mut stamps = Vec::new();
    for step in steps {
        if let Err(error) = make_one(host.as_ref(), step, &mut done, &mut stamps).await {
            let mut error = ToolError::from(error);
            let others = done.len();
            for path in take_back(host.as_ref(), done).await {
                error.0.push_str(&format!("; `{}` could not be put back", path.display()));
            }
            if others > 0 {
                error.0.push_str(" (nothing was changed)");
            }
            return Err(error);
        }
    }
    Ok(stamps)
}

async fn make_one(
    host: &dyn Host,
    step: Step,
    done: &mut Vec<Done>,
    stamps: &mut Vec<(PathBuf, Stamp)>,
) -> Result<(), HostError> {
    let Step { from, to, old, new, executable } = step;
    let runs = executable.filter(|_| new.is_some()).map(|executable| (to.clone(), executable));
    match (old, new) {
        (None, Some(new)) => {
            let stamp = host.write(&to, new, Expect::Absent).await?;
            done.push(Done::Created(to.clone(), stamp));
            stamps.push((to, stamp));
        }
        (Some((bytes, seen)), Some(new)) => {
            let mut stamp = seen;
            if bytes != new {
                stamp = host.write(&from, new, Expect::Unchanged(seen)).await?;
                done.push(Done::Written(from.clone(), bytes, stamp));
            }
            if from != to {
                // Moved, not written anew, so that it keeps its mode.
                host.rename(&from, &to).await?;
                done.push(Done::Renamed(from, to.clone()));
            }
            stamps.push((to, stamp));
        }
        (Some((bytes, _)), None) => {
            let mode = host.stat(&from).await?.mode;
            host.remove(&from).await?;
            done.push(Done::Removed(from, bytes, mode));
        }
        (None, None) => {}
    }
    if let Some((path, executable)) = runs
        && let Some(mode) = host.stat(&path).await?.mode
    {
        // Whoever may read it may run it, as git has it.
        let wanted = if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 };
        host.set_mode(&path, wanted).await?;
        done.push(Done::MadeRunnable(path, mode));
    }
    Ok(())
}

/// Undoes the steps, the last first; answers what could not be.
async fn take_back(host: &dyn Host, done: Vec<Done>) -> Vec<PathBuf> {
    let mut stuck = Vec::new();
    for step in done.into_iter().rev() {
        let (path, result) = match step {
            Done::Created(path, stamp) => {
                let unchanged = host.stat(&path).await.is_ok_and(|stat| stat.modified == stamp.modified);
                let result = if unchanged { host.remove(&path).await } else { Ok(()) };
                (path, result)
            }
            Done::Written(path, bytes, stamp) => {
                let result = host.write(&path, bytes, Expect::Unchanged(stamp)).await.map(drop);
                (path, result)
            }
            Done::Renamed(from, to) => {
                let result = host.rename(&to, &from).await;
                (to, result)
            }
            Done::Removed(path, bytes, mode) => {
                let mut result = host.write(&path, bytes, Expect::Absent).await.map(drop);
                if let (Ok(()), Some(mode)) = (&result, mode) {
                    result = host.set_mode(&path, mode).await;
                }
                (path, result)
            }
            Done::MadeRunnable(path, mode) => {
                let result = host.set_mode(&path, mode).await;
                (path, result)
            }
        };
        if result.is_err() {
            stuck.push(path);
        }
    }
    stuck
}

fn told(changes: &[FileChange]) -> ToolOutput {
    let mut report = Report::default();
    let mut output = ToolOutput::default();
    for change in changes {
        let old = change.old.as_ref().map(|old| old.text.plain());
        let new = change.new.as_ref().map(Text::plain);
        report.add(Told {
            path: &change.path,
            old,
            new,
            moved_to: change.moved_to.as_deref(),
            note: change.note.as_deref(),
        });
        let path = change.moved_to.clone().unwrap_or_else(|| change.path.clone());
        if change.moved_to.is_some() {
            output.wrote.push(FileWrite { path: change.path.clone(), bytes: 0, call: None, blob: None });
        }
        let bytes =
            change.new.as_ref().and_then(|new| new.encode().ok()).map_or(0, |bytes| bytes.len() as u64);
        output.wrote.push(FileWrite { path: path.clone(), bytes, call: None, blob: None });
        let (old, new) = report.shown(old, new.unwrap_or_default());
        output.shown.push(ToolContent::Diff { path, old, new });
    }
    let (text, summary) = report.finish();
    ToolOutput { text, summary, ..output }
}

/// Whether two names are of one file, so that a list does not change it twice.
pub(crate) fn same_file(context: &ToolContext, a: &str, b: &str) -> bool {
    let place = |path: &str| canonical(context, path).unwrap_or_else(|_| Path::new(path).to_owned());
    a == b || place(a) == place(b)
}
