//! `covey session undo`, `redo`, `diff`: what an agent did to files, and taking it back.

use std::path::{Path, PathBuf};

use engine::{Checkpoints, Direction, FileState, UndoError, UndoPlan, UndoStep, UndoTarget};
use project::Project;
use protocol::{Checkpoint, CheckpointAction, EventBody, SessionId, Timestamp};
use serde_json::{Value, json};
use sessions::{ListOptions, Store};

use super::one_session;
use crate::cli::UndoArguments;
use crate::confirm::confirmed;
use crate::exit::{Exit, Failure};
use crate::terminal::{Stream, Style, one_line, print, tell};

pub(super) fn undo(store: &Store, arguments: &UndoArguments) -> Result<Exit, Failure> {
    let work = Work::open(store, arguments.session.as_deref())?;
    let target = target(arguments);
    let plan = work.checkpoints.plan_undo(&target, arguments.path.as_deref()).map_err(failure)?;
    work.carry_out(store, &plan, arguments)
}

pub(super) fn redo(store: &Store, arguments: &UndoArguments) -> Result<Exit, Failure> {
    let work = Work::open(store, arguments.session.as_deref())?;
    let plan = work.checkpoints.plan_redo().map_err(failure)?;
    work.carry_out(store, &plan, arguments)
}

/// What the session did to files until now, as a unified diff.
pub(super) fn diff(
    store: &Store,
    session: Option<&str>,
    turn: Option<String>,
    path: Option<&Path>,
    json: bool,
) -> Result<Exit, Failure> {
    let work = Work::open(store, session)?;
    let target = turn.map_or(UndoTarget::All, UndoTarget::Turn);
    let plan = match work.checkpoints.plan_undo(&target, path) {
        Ok(plan) => plan,
        Err(UndoError::NothingToUndo) => return Ok(Exit::Done),
        Err(error) => return Err(failure(error)),
    };
    for step in &plan.steps {
        let name = step.path.display().to_string();
        let before = work.checkpoints.text(&step.path, &step.then).unwrap_or(None);
        let now = work.checkpoints.current(step);
        if json {
            let text = |bytes: &Option<Vec<u8>>| {
                bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            };
            let line = json!({"path": name, "before": text(&before), "now": text(&now)});
            print(&format!("{line}\n"))?;
            continue;
        }
        if step.now == FileState::Folder || step.then == FileState::Folder {
            continue;
        }
        print(&unified(&name, before.as_deref(), now.as_deref(), Style::of(Stream::Out)))?;
    }
    Ok(Exit::Done)
}

/// A session and its checkpoints.
struct Work {
    session: SessionId,
    checkpoints: Checkpoints,
}

impl Work {
    fn open(store: &Store, query: Option<&str>) -> Result<Self, Failure> {
        let session = match query {
            Some(query) => one_session(store, query)?,
            None => newest_here(store)?,
        };
        let view = store.open_view(&session)?;
        let project = Project::discover(Path::new(&view.cwd)).map_err(|error| {
            Failure::new(format!("the project of this session is gone: {error}"))
                .hint("its files can only be restored where they were")
        })?;
        let root = project.root().canonicalize().unwrap_or_else(|_| project.root().to_owned());
        let checkpoints = Checkpoints::at(&store.dir(&session), &root, view.folders);
        Ok(Self { session, checkpoints })
    }

    fn carry_out(&self, store: &Store, plan: &UndoPlan, arguments: &UndoArguments) -> Result<Exit, Failure> {
        let ask = !arguments.yes && !arguments.dry_run && !arguments.json;
        if !arguments.json {
            self.preview(plan)?;
        }
        if plan.is_empty() {
            return self.report(plan, &[], arguments);
        }
        if arguments.dry_run {
            return self.report(plan, &[], arguments);
        }
        if ask && !confirmed("do this?", "look with --dry-run, and do it with --yes")? {
            tell("nothing was changed");
            return Ok(Exit::Cancelled);
        }
        // A session that runs would not know that its files changed under it.
        let now = Timestamp::now();
        let opened = store.open_writer(&self.session, now)?;
        drop(opened);
        let done = self.checkpoints.carry_out(plan, arguments.force).map_err(failure)?;
        let did = match plan.direction {
            Direction::Undo => CheckpointAction::Undone,
            Direction::Redo => CheckpointAction::Redone,
        };
        let checkpoint = Checkpoint {
            checkpoint: plan.ids.first().copied().unwrap_or_default(),
            did,
            call: None,
            paths: done.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            left_out: vec![],
        };
        store.note(&self.session, EventBody::Checkpoint(checkpoint), now)?;
        self.report(plan, &done, arguments)
    }

    fn preview(&self, plan: &UndoPlan) -> Result<(), Failure> {
        if plan.is_empty() {
            return Ok(print("everything is as it was\n")?);
        }
        let style = Style::of(Stream::Out);
        for step in &plan.steps {
            let path = one_line(&step.path.display().to_string(), 200);
            let note =
                step.conflict.as_deref().map(|why| format!("  {}", style.warning(why))).unwrap_or_default();
            print(&format!("  {} {path}{note}\n", style.faint(verb(step))))?;
        }
        Ok(())
    }

    fn report(&self, plan: &UndoPlan, done: &[PathBuf], arguments: &UndoArguments) -> Result<Exit, Failure> {
        if arguments.json {
            let steps: Vec<Value> = plan
                .steps
                .iter()
                .map(|step| json!({"path": step.path.to_string_lossy(), "does": verb(step).trim(), "conflict": step.conflict}))
                .collect();
            let done: Vec<_> = done.iter().map(|path| path.to_string_lossy()).collect();
            let line = json!({"session": self.session, "plan": steps, "done": done});
            print(&format!("{line}\n"))?;
        } else if !done.is_empty() {
            let files =
                if done.len() == 1 { "1 path is".to_owned() } else { format!("{} paths are", done.len()) };
            let (how, back) = match plan.direction {
                Direction::Undo => ("as before", "redo"),
                Direction::Redo => ("changed again", "undo"),
            };
            print(&format!("{files} {how}; take it back with: covey session {back} {}\n", self.session))?;
        }
        Ok(Exit::Done)
    }
}

fn target(arguments: &UndoArguments) -> UndoTarget {
    match &arguments.what {
        None => UndoTarget::LastTurn,
        Some(word) if word == "turn" => UndoTarget::LastTurn,
        Some(word) if word == "step" => UndoTarget::LastStep,
        Some(word) if word == "all" => UndoTarget::All,
        Some(id) if id.contains("_c") => UndoTarget::Call(id.clone()),
        Some(id) => UndoTarget::Turn(id.clone()),
    }
}

/// What happens to a path, all equally long.
fn verb(step: &UndoStep) -> &'static str {
    match (&step.now, &step.then) {
        (_, FileState::Absent) => "delete ",
        (FileState::Absent, _) => "create ",
        _ => "restore",
    }
}

fn newest_here(store: &Store) -> Result<SessionId, Failure> {
    let cwd = std::env::current_dir()?.to_string_lossy().into_owned();
    let listing = store.list(&ListOptions { cwd: Some(cwd), limit: Some(1) })?;
    let newest = listing.sessions.into_iter().next();
    newest.map(|summary| summary.session).ok_or_else(|| {
        Failure::usage("there is no session in this folder").hint("name one: covey session list")
    })
}

fn failure(error: UndoError) -> Failure {
    let hint = match &error {
        UndoError::Conflict { .. } => Some("look with --dry-run; --force overwrites it"),
        UndoError::Impossible { .. } => Some("look with --dry-run; --force does the rest without it"),
        UndoError::NoSuchTarget(_) => Some("name a turn (t3), a call (t3_c1), `turn`, `step` or `all`"),
        _ => None,
    };
    let failure = Failure::from_error(&error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn unified(name: &str, before: Option<&[u8]>, now: Option<&[u8]>, style: Style) -> String {
    let is_text = |bytes: Option<&[u8]>| bytes.is_none_or(|bytes| std::str::from_utf8(bytes).is_ok());
    if !is_text(before) || !is_text(now) {
        return format!("{}\n", style.strong(&format!("{name}: a binary file changed")));
    }
    let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
    let (old, new) = (text(before), text(now));
    let label = |there: bool, side: &str| match (there, name.starts_with('/')) {
        (false, _) => "/dev/null".to_owned(),
        // In an added folder: nobody finds it by a path that begins elsewhere.
        (true, true) => name.to_owned(),
        (true, false) => format!("{side}/{name}"),
    };
    let diff = similar::TextDiff::from_lines(&old, &new)
        .unified_diff()
        .context_radius(3)
        .header(&label(before.is_some(), "a"), &label(now.is_some(), "b"))
        .to_string();
    let coloured = diff.lines().map(|line| match line.as_bytes().first() {
        Some(b'+') if !line.starts_with("+++") => style.good(line),
        Some(b'-') if !line.starts_with("---") => style.danger(line),
        Some(b'@') => style.faint(line),
        _ => line.to_owned(),
    });
    coloured.map(|line| format!("{line}\n")).collect()
}
