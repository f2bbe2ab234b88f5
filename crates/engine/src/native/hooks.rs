//! How a hook keeps the built-in agent from stopping.

/// How often in one turn it may.
pub(super) const MAX_GO_ON: usize = 3;

/// The words with which the agent goes on when a hook wants it to.
pub(super) fn go_on_prompt(because: &str) -> String {
    format!("[covey: do not stop yet, a hook says: {because}]")
}
