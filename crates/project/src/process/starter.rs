//! A small process that starts others for us.
//!
//! Starting a program takes a copy of who starts it, walls around it take more, and a copy costs what the memory of
//! the one that is copied is large: most of what a shell command cost was this. So on Linux the program runs once more
//! as a *starter*, with nothing in its memory, is told what to start, and copies itself. What it starts is our child,
//! not its own: `clone` can say so. `docs/decisions/0041-a-starter.md` says more.
//!
//! Walls that many programs share are built once, around a starter that is made for them: see [`Place`].
//!
//! Everything works without it. Where there is none, or it fails, we start the program ourselves.

mod family;
mod fork;
mod image;
mod order;
mod running;
mod server;
mod wire;

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use family::Family;
pub(super) use order::Order;
pub use wire::{Told, Words};

use super::walls::{Place, Walls};

/// What the starter is called in a list of processes.
const NAME: &str = "covey-starter";

static ALLOWED: AtomicBool = AtomicBool::new(false);
static FAMILY: Mutex<Family> = Mutex::new(Family::new());

/// To be called first thing in `main`: here a starter is told what it is, and does not return. In every other process
/// it allows starters to be made of this program.
pub fn may_be_starter(outside: &dyn Place) {
    if std::env::args_os().next().is_some_and(|name| name == NAME) {
        server::serve(outside);
    }
    ALLOWED.store(true, Ordering::Release);
}

/// To be called last in `main`: ends all starters, which would end by themselves a moment later.
pub fn dismiss_starter() {
    family().dismiss();
}

/// Why a program was not started by the starter.
#[derive(Debug)]
pub(super) enum Refusal {
    /// There is no starter: another way may work.
    NoStarter,
    /// The program does not run, or nobody knows whether it does.
    Failed(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// Whether this program can be made a starter.
pub(super) fn is_allowed() -> bool {
    ALLOWED.load(Ordering::Acquire)
}

/// Has `order` carried out; the number of the process, which is our child.
pub(super) fn start(order: &Order<'_>, walls: Option<&Walls>) -> Result<i32, Refusal> {
    family().start(order, walls)
}

fn family() -> MutexGuard<'static, Family> {
    FAMILY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until a program runs, or does not: then its pipe holds why.
pub(super) fn outcome(pipe: &io::PipeReader) -> io::Result<()> {
    match wire::read_number(pipe.as_fd())? {
        None => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(error)),
    }
}
