//! What is done in a child before it becomes its program, in a form that another process can be told.
#![expect(unsafe_code, reason = "`pre_exec` is unsafe; who builds walls vouches for them")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Runs in the child, between `fork` and `exec`. An error of it is an error of the start.
pub type Hook = Box<dyn FnMut() -> io::Result<()> + Send + Sync>;

/// Makes of what was told what is to be done. The same function in every process of this program.
pub type BuildWalls = fn(&[u8]) -> io::Result<Hook>;

/// Walls around a child, see [`Command::within`](super::Command::within).
#[derive(Debug, Clone)]
pub struct Walls {
    pub told: Vec<u8>,
    pub build: BuildWalls,
}

pub(super) fn install(command: &mut Command, hook: Hook) {
    // SAFETY: `Command::within` asks for hooks that only make system calls; in a starter they may do anything.
    unsafe { command.pre_exec(hook) };
}
