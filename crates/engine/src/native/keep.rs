//! Keeping what files were, around a call that changes some.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use guard::{Action, Level, Verdict};
use protocol::{CallId, Checkpoint, TurnId};
use tools::ToolError;

use crate::checkpoint::{Checkpoints, Mark, Pending, Scope, blocking};

/// What a call may change, as far as its actions tell. None when it only looks.
fn scope(actions: &[Action], verdict: &Verdict) -> Option<Scope> {
    let runs = actions.iter().any(|action| matches!(action, Action::Shell { .. } | Action::Program { .. }));
    if runs {
        let harmless = verdict.level == Level::Safe && !verdict.checkpoint;
        return (!harmless).then_some(Scope::Anything);
    }
    let paths: Vec<PathBuf> = actions
        .iter()
        .filter_map(|action| match action {
            Action::Write { paths, .. } => Some(paths.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    (!paths.is_empty()).then_some(Scope::Files(paths))
}

/// Whether a call with these actions changes something that is kept first.
pub(super) fn changes_something(actions: &[Action], verdict: &Verdict) -> bool {
    scope(actions, verdict).is_some()
}

/// Keeps what is about to change. A change that could not be taken back does not happen.
pub(super) async fn before(
    checkpoints: &Arc<Checkpoints>,
    turn: &TurnId,
    call: &CallId,
    actions: &[Action],
    verdict: &Verdict,
) -> Result<Option<Pending>, ToolError> {
    let Some(scope) = scope(actions, verdict) else { return Ok(None) };
    let mark = Mark { turn: turn.as_str().to_owned(), call: Some(call.as_str().to_owned()) };
    let checkpoints = checkpoints.clone();
    match blocking(move || checkpoints.before(mark, scope)).await {
        Ok(pending) => Ok(Some(pending)),
        Err(error) => {
            Err(ToolError(format!("nothing was changed, because a checkpoint could not be taken: {error}")))
        }
    }
}

/// Writes down what changed.
pub(super) async fn after(
    checkpoints: &Arc<Checkpoints>,
    call: &CallId,
    pending: Pending,
) -> io::Result<Option<Checkpoint>> {
    let checkpoints = checkpoints.clone();
    let record = blocking(move || checkpoints.after(pending)).await?;
    Ok(record.map(|record| record.taken(Some(call.clone()))))
}
