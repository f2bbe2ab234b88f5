//! What the gate's answer means for the built-in agent: the room that a call gets, or the words for the model.

use agents::Refusal;
use guard::{Action, Verdict};
use project::Grants;
use protocol::Mode;
use tools::ToolError;

/// The room that a verdict gives. What does not exist can not be opened up; whoever needs it says so themselves.
///
/// Mode `full` asks nothing, but it opens no sandbox: what a program reaches for outside stays out of reach.
pub(super) fn room(verdict: &Verdict, actions: &[Action], mode: Mode) -> Grants {
    let was_asked = verdict.decision == guard::Ruling::Ask;
    if mode == Mode::Full && !was_asked && actions.iter().any(runs_a_program) {
        return Grants::default();
    }
    let there = |paths: &[std::path::PathBuf]| paths.iter().filter(|path| path.exists()).cloned().collect();
    let needs = &verdict.needs;
    Grants { reads: there(&needs.reads), writes: there(&needs.writes), network: needs.network() }
}

fn runs_a_program(action: &Action) -> bool {
    matches!(action, Action::Shell { .. } | Action::Program { .. })
}

pub(super) fn refused(refusal: Refusal) -> ToolError {
    ToolError(match refusal {
        Refusal::Forbidden(reason) => {
            format!("denied: {reason}. Do not try it in another way; go on without it and say so.")
        }
        Refusal::Denied(reason) => format!("denied: {reason}"),
        Refusal::Cancelled => "cancelled by the person before it ran".to_owned(),
    })
}
