//! What Linux offers.

pub(super) mod bubblewrap;
pub(super) mod landlock;
mod limits;
pub(super) mod namespaces;
mod seccomp;
mod sys;

/// Runs `setup` in the child before it becomes its program.
#[expect(unsafe_code, reason = "`before_exec` is unsafe; what is passed here only makes system calls")]
pub(super) fn hook(
    command: &mut project::Command,
    setup: impl FnMut() -> std::io::Result<()> + Send + Sync + 'static,
) {
    // SAFETY: every caller passes a function of this module that works on memory prepared before and makes system
    // calls, nothing else.
    unsafe { command.before_exec(setup) };
}
