//! What a person does to a session's past: taking back what was done to files, keeping things in the window.

use std::path::Path;

use protocol::{
    Checkpoint, CheckpointAction, Compaction, Content, EventBody, FileChange, FileEffect, ItemBody, Pin,
    Receipt, SessionId, SessionStatus,
};

use crate::EngineError;
use crate::checkpoint::{Checkpoints, Direction, Plan, State, Step, Target, UndoError};
use crate::engine::Engine;
use crate::prompt::{Place, Spec, fetch};
use crate::session::{Handle, SessionOp};

/// Longer files are not shown in a preview.
const MAX_SHOWN: usize = 256 * 1024;
/// A pinned thing is in every request.
const MAX_PINNED: usize = 32 * 1024;
/// Before the id of a message that is to be pinned.
const MESSAGE: &str = "message:";

impl Target {
    /// In the words of `Op::Undo`.
    pub fn parse(what: Option<&str>) -> Self {
        match what {
            None | Some("turn") => Self::LastTurn,
            Some("step") => Self::LastStep,
            Some("all") => Self::All,
            Some(id) if id.contains("_c") => Self::Call(id.to_owned()),
            Some(id) => Self::Turn(id.to_owned()),
        }
    }
}

impl Engine {
    /// Carries out what `plan` makes of the session's checkpoints, between turns, and records it.
    pub(crate) async fn change_files(
        &self,
        session: SessionId,
        force: bool,
        plan: impl FnOnce(&Checkpoints) -> Result<Plan, UndoError> + Send + 'static,
    ) -> Result<Receipt, EngineError> {
        let handle = self.handle(&session).await?;
        let Some(view) = handle.view().await else { return Err(EngineError::Closed(session)) };
        if view.status != SessionStatus::Idle {
            return Err(refused("a turn is running in this session", "stop it first"));
        }
        let checkpoints = self.checkpoints(&session, &handle, &view.folders);
        let work = move || {
            let plan = plan(&checkpoints)?;
            let paths = checkpoints.carry_out(&plan, force)?;
            let did = match plan.direction {
                Direction::Undo => CheckpointAction::Undone,
                Direction::Redo => CheckpointAction::Redone,
            };
            let paths = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
            let checkpoint = plan.ids.first().copied().unwrap_or_default();
            Ok(Checkpoint { checkpoint, did, call: None, paths, left_out: vec![] })
        };
        let done = run(work).await?;
        self.note(session, EventBody::Checkpoint(done), false).await
    }

    /// What taking back or doing again would do.
    pub(crate) async fn changes(
        &self,
        session: SessionId,
        what: Option<String>,
        path: Option<String>,
        redo: bool,
    ) -> Result<Vec<FileChange>, EngineError> {
        let handle = self.handle(&session).await?;
        let Some(view) = handle.view().await else { return Err(EngineError::Closed(session)) };
        let checkpoints = self.checkpoints(&session, &handle, &view.folders);
        let work = move || {
            let plan = match redo {
                true => checkpoints.plan_redo(),
                false => {
                    checkpoints.plan_undo(&Target::parse(what.as_deref()), path.as_deref().map(Path::new))
                }
            };
            match plan {
                Ok(plan) => Ok(plan.steps.iter().map(|step| preview(step, &checkpoints)).collect()),
                Err(UndoError::NothingToUndo | UndoError::NothingToRedo) => Ok(vec![]),
                Err(error) => Err(error),
            }
        };
        run(work).await
    }

    /// Folders that are gone are among them: an agent may have taken one away.
    fn checkpoints(&self, session: &SessionId, handle: &Handle, folders: &[String]) -> Checkpoints {
        Checkpoints::at(&self.folder(session), handle.host.roots().main(), folders)
    }

    pub(crate) async fn uncompact(&self, session: SessionId) -> Result<Receipt, EngineError> {
        self.note(session, EventBody::Compaction(Compaction::undo()), true).await
    }

    pub(crate) async fn pin(&self, session: SessionId, item: String) -> Result<Receipt, EngineError> {
        let handle = self.handle(&session).await?;
        let content = match item.strip_prefix(MESSAGE) {
            Some(id) => {
                let Some(view) = handle.view().await else { return Err(EngineError::Closed(session)) };
                let said = view.items.iter().find_map(|item| match &item.body {
                    ItemBody::Message { message, text, .. } if message.as_str() == id => Some(text.clone()),
                    _ => None,
                });
                said.map(|text| Content::text(&text[..text.floor_char_boundary(MAX_PINNED)]))
            }
            None => fetch(&Spec::parse(&item), &self.place(&handle), MAX_PINNED).await,
        };
        let Some(content) = content else {
            return Err(refused(
                &format!("there is no `{item}` to pin"),
                "name a file of the project, lines of it (src/a.rs:10-40), or `message:ID`",
            ));
        };
        if matches!(content, Content::Image(_)) {
            return Err(refused("a picture can not be pinned", "mention it in the prompt that needs it"));
        }
        self.note(session, EventBody::Pin(Pin { pin: item, content: Some(content) }), false).await
    }

    pub(crate) async fn unpin(&self, session: SessionId, item: String) -> Result<Receipt, EngineError> {
        let handle = self.handle(&session).await?;
        let Some(view) = handle.view().await else { return Err(EngineError::Closed(session)) };
        if !view.pins.iter().any(|pin| pin.pin == item) {
            let known: Vec<&str> = view.pins.iter().map(|pin| pin.pin.as_str()).collect();
            let hint = match known.is_empty() {
                true => "nothing is pinned".to_owned(),
                false => format!("pinned are: {}", known.join(", ")),
            };
            return Err(refused(&format!("`{item}` is not pinned"), &hint));
        }
        self.note(session, EventBody::Pin(Pin { pin: item, content: None }), false).await
    }

    async fn note(&self, session: SessionId, body: EventBody, idle: bool) -> Result<Receipt, EngineError> {
        self.ask(session, SessionOp::Note { body: Box::new(body), idle, changes_history: true }).await
    }

    /// Where prompts of an open session are typed.
    pub(crate) fn place(&self, handle: &Handle) -> Place {
        let root = handle.host.roots().main().to_owned();
        Place {
            index: self.index(&root),
            redactor: self.redactor(),
            servers: self.known_servers(&root),
            cwd: handle.cwd.clone(),
            host: handle.host.clone(),
            roles: self.roles(&root, &handle.cwd),
            root,
        }
    }
}

fn preview(step: &Step, checkpoints: &Checkpoints) -> FileChange {
    let does = match (&step.now, &step.then) {
        (_, State::Absent) => FileEffect::Delete,
        (State::Absent, _) => FileEffect::Create,
        _ => FileEffect::Restore,
    };
    let text = |bytes: Option<Vec<u8>>| {
        bytes.filter(|bytes| bytes.len() <= MAX_SHOWN).and_then(|bytes| String::from_utf8(bytes).ok())
    };
    FileChange {
        path: step.path.to_string_lossy().into_owned(),
        does,
        conflict: step.conflict.clone(),
        now: text(checkpoints.current(step)),
        then: text(checkpoints.text(&step.path, &step.then).ok().flatten()),
    }
}

fn refused(message: &str, hint: &str) -> EngineError {
    EngineError::Refused { message: message.to_owned(), hint: Some(hint.to_owned()) }
}

async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, UndoError> + Send + 'static,
) -> Result<T, EngineError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|error| {
            let hint = match &error {
                UndoError::Conflict { .. } => "look at what changed first, or force it",
                UndoError::Impossible { .. } => "forced, the rest is done without it",
                UndoError::NoSuchTarget(_) => "name a turn (t3), a call (t3_c1), `turn`, `step` or `all`",
                _ => {
                    let why = std::error::Error::source(&error).map(|why| format!(": {why}"));
                    let message = format!("{error}{}", why.unwrap_or_default());
                    return EngineError::Refused { message, hint: None };
                }
            };
            refused(&error.to_string(), hint)
        }),
        Err(error) => Err(EngineError::Storage { message: error.to_string(), hint: None }),
    }
}
