//! A small process that starts others for us.
//!
//! Starting a program takes a copy of who starts it, walls around it take two more, and a copy costs what the memory
//! of the one that is copied is large: most of what a shell command cost was this. So on Linux the program runs once
//! more as a *starter*, with nothing in its memory, is told what to start, and copies itself. What it starts is our
//! child, not its own: `clone` can say so. `docs/decisions/0041-a-starter.md` says more.
//!
//! Everything works without it. Where there is none, or it fails, we start the program ourselves.

mod fork;
mod order;
mod server;
mod wire;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

pub(super) use order::Order;
pub use wire::{Told, Words};

use super::walls::BuildWalls;

/// What the starter is called in a list of processes.
const NAME: &str = "covey-starter";
/// An answer takes less than a millisecond. One that does not come in this time will not come.
const PATIENCE: Duration = Duration::from_secs(10);
/// So often another one is started where one was lost.
const MOST_STARTERS: u32 = 5;

static ALLOWED: AtomicBool = AtomicBool::new(false);
static STARTER: Mutex<Starter> = Mutex::new(Starter { running: None, started: 0 });

/// To be called first thing in `main`: here a starter is told what it is, and does not return. In every other process
/// it allows starters to be made of this program.
pub fn may_be_starter(build: BuildWalls) {
    if std::env::args_os().next().is_some_and(|name| name == NAME) {
        server::serve(build);
    }
    ALLOWED.store(true, Ordering::Release);
}

/// To be called last in `main`: ends the starter, which would end by itself a moment later.
pub fn dismiss_starter() {
    STARTER.lock().unwrap_or_else(PoisonError::into_inner).stop();
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
pub(super) fn start(order: &Order<'_>) -> Result<i32, Refusal> {
    STARTER.lock().unwrap_or_else(PoisonError::into_inner).start(order)
}

struct Starter {
    running: Option<Running>,
    started: u32,
}

struct Running {
    process: std::process::Child,
    socket: OwnedFd,
}

impl Starter {
    fn start(&mut self, order: &Order<'_>) -> Result<i32, Refusal> {
        let message = order.encode();
        // One that is gone is noticed here, before anything was asked of it: the next one is asked instead.
        for _ in 0..2 {
            let socket = self.socket()?;
            match wire::send(socket, &message, &order.files()) {
                Ok(()) => return self.answer(),
                Err(rustix::io::Errno::MSGSIZE | rustix::io::Errno::NOBUFS) => {
                    return Err(Refusal::NoStarter);
                }
                Err(_) => self.stop(),
            }
        }
        Err(Refusal::NoStarter)
    }

    fn answer(&mut self) -> Result<i32, Refusal> {
        let Some(running) = &self.running else { return Err(Refusal::NoStarter) };
        match wire::receive_number(&running.socket) {
            Ok(number) if number > 0 => Ok(number),
            // Nothing was made, for whatever reason: perhaps we can.
            Ok(_) => Err(Refusal::NoStarter),
            Err(error) => {
                self.stop();
                Err(Refusal::Failed(error))
            }
        }
    }

    /// The way to one that lives.
    fn socket(&mut self) -> Result<&OwnedFd, Refusal> {
        if self.running.is_none() {
            if self.started >= MOST_STARTERS {
                return Err(Refusal::NoStarter);
            }
            self.started += 1;
            self.running = Some(Running::new().map_err(|_| Refusal::NoStarter)?);
        }
        self.running.as_ref().map(|running| &running.socket).ok_or(Refusal::NoStarter)
    }

    fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
    }
}

impl Running {
    fn new() -> io::Result<Self> {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        set_socket_timeout(&ours, Timeout::Recv, Some(PATIENCE))?;
        set_socket_timeout(&ours, Timeout::Send, Some(PATIENCE))?;
        // By this name it is the program that runs now, whatever was installed in its place since.
        let mut command = Command::new("/proc/self/exe");
        command.arg0(NAME).stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null());
        let running = Self { process: command.spawn()?, socket: ours };
        match wire::receive_number(&running.socket) {
            Ok(server::READY) => Ok(running),
            Ok(_) => Err(running.stop()),
            Err(error) => {
                running.stop();
                Err(error)
            }
        }
    }

    fn stop(mut self) -> io::Error {
        // Both only fail when it is already gone.
        self.process.kill().ok();
        self.process.wait().ok();
        io::Error::other("the starter does not answer")
    }
}

/// Waits until a program runs, or does not: then its pipe holds why.
pub(super) fn outcome(pipe: &io::PipeReader) -> io::Result<()> {
    match wire::read_number(pipe.as_fd())? {
        None => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(error)),
    }
}
