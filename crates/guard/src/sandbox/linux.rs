//! What Linux offers.

pub(super) mod bubblewrap;
mod inside;
pub(super) mod landlock;
mod limits;
mod mounts;
pub(super) mod namespaces;
pub(super) mod places;
mod seccomp;
mod sys;
pub(super) mod told;

/// Builds walls of namespaces around a child.
#[expect(unsafe_code, reason = "`within` is unsafe; what is built here only makes system calls")]
pub(super) fn within(command: &mut project::Command, walls: &told::Walls) {
    let (places, told) = walls.tell();
    let build = |told: &[u8]| {
        let mut setup = namespaces::Setup::heard(told)?;
        Ok(Box::new(move || setup.apply()) as project::Hook)
    };
    // SAFETY: as below.
    unsafe { command.within(project::Walls { places, told, build }) };
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
