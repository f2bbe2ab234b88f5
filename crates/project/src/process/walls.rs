//! What is done in a child before it becomes its program, in a form that another process can be told.
#![expect(unsafe_code, reason = "`pre_exec` is unsafe; who builds walls vouches for them")]

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

/// Runs in the child, between `fork` and `exec`. An error of it is an error of the start.
pub type Hook = Box<dyn FnMut() -> io::Result<()> + Send + Sync>;

/// The last step of a child in a [`Place`]. It is given what becomes the program, and why not if it returns, which it
/// then tells.
pub type Finish<'a> = Box<dyn FnOnce(&dyn Fn() -> io::Error) -> io::Error + 'a>;

/// Walls around a child, see [`Command::within`](super::Command::within).
#[derive(Debug, Clone)]
pub struct Walls {
    /// Places that a child may be born in, each inside the one before: see [`Place`].
    pub places: Vec<Vec<u8>>,
    /// What is left to do in the child then.
    pub told: Vec<u8>,
    /// Builds it all around a child that was born outside.
    pub build: fn(&[u8]) -> io::Result<Hook>,
}

impl Walls {
    /// All that [`build`](Self::build) is told.
    pub(super) fn whole(&self) -> Vec<u8> {
        let mut whole = self.places.concat();
        whole.extend_from_slice(&self.told);
        whole
    }
}

/// Where a starter is: outside, or in a place that is made once for many programs.
pub trait Place {
    /// Takes this process, which has one thread, to a place further in, for good.
    fn enter(&self, told: &[u8]) -> io::Result<Box<dyn Place>>;

    /// Whether it still is what it was when it was entered.
    fn is_sound(&self) -> bool {
        true
    }

    /// What a child does not share with its starter, as flags of `clone`.
    fn apart(&self) -> i32 {
        0
    }

    /// What is left to do in the child. Where that makes the program a child of the child, how the program ended is
    /// written to `ending`, as the system tells it.
    fn build(&self, told: &[u8], ending: Option<BorrowedFd<'_>>) -> io::Result<Finish<'_>>;

    /// How long a starter stays when nothing is asked of it; without it, until it is dismissed.
    fn stays(&self) -> Option<Duration> {
        None
    }
}

pub(super) fn install(command: &mut Command, hook: Hook) {
    // SAFETY: `Command::within` asks for hooks that only make system calls; in a starter they may do anything.
    unsafe { command.pre_exec(hook) };
}
