//! What Linux offers.

pub(super) mod bubblewrap;
pub(super) mod landlock;
mod limits;
pub(super) mod namespaces;
mod rooms;
mod seccomp;
mod sys;
pub(super) mod told;

/// Builds the walls that `told` describes around a child.
#[expect(unsafe_code, reason = "`within` is unsafe; what is built here only makes system calls")]
pub(super) fn within(command: &mut project::Command, told: Vec<u8>) {
    // SAFETY: as below.
    unsafe { command.within(project::Walls { told, build }) };
}

/// Makes walls of what was told.
fn build(told: &[u8]) -> std::io::Result<project::Hook> {
    let mut setup = namespaces::Setup::heard(told)?;
    Ok(Box::new(move || setup.apply()))
}

/// The same in a starter, for [`project::may_be_starter`].
pub fn build_in_starter(told: &[u8]) -> std::io::Result<project::Hook> {
    let mut setup = namespaces::Setup::heard(told)?;
    setup.find_room();
    Ok(Box::new(move || setup.apply()))
}

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
