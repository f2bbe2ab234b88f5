//! One starter, as seen by us.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::server::{ENTER, READY, UNSOUND};
use super::wire::{self, Words};
use super::{NAME, Refusal};

/// An answer takes less than a millisecond. One that does not come in this time will not come.
const PATIENCE: Duration = Duration::from_secs(10);

/// Stopped when dropped.
#[derive(Debug)]
pub(super) struct Running {
    pid: Pid,
    socket: OwnedFd,
}

/// Why there is no process.
pub(super) enum NotStarted {
    /// It has not heard of it: it is gone, or no longer fit. Another one may be asked.
    Unheard,
    Refused(Refusal),
}

impl Running {
    /// Runs this program as a starter.
    pub(super) fn first() -> io::Result<Self> {
        let (ours, theirs) = sockets()?;
        // By this name it is the program that runs now, whatever was installed in its place since.
        let mut command = Command::new("/proc/self/exe");
        command.arg0(NAME).stdin(theirs).stdout(Stdio::null()).stderr(Stdio::null());
        Self::greeted(command.spawn()?.id().cast_signed(), ours)
    }

    /// Has it make another one that goes to a place further in.
    pub(super) fn further(&self, place: &[u8]) -> Result<Self, NotStarted> {
        let refused = |error| NotStarted::Refused(Refusal::Failed(error));
        let (ours, theirs) = sockets().map_err(refused)?;
        let mut words = Words::default();
        words.put(ENTER).put(place);
        let pid = self.ask(words.bytes(), &[theirs.as_fd()])?;
        // As long as we held its end too, ours would not end with it.
        drop(theirs);
        Self::greeted(pid, ours).map_err(|_| NotStarted::Refused(Refusal::NoStarter))
    }

    /// One that listens.
    fn greeted(pid: i32, socket: OwnedFd) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?;
        let running = Self { pid, socket };
        match wire::receive_number(&running.socket)? {
            READY => Ok(running),
            _ => Err(io::Error::other("the starter does not answer")),
        }
    }

    /// Tells it something; the number of the process that it makes.
    pub(super) fn ask(&self, message: &[u8], files: &[BorrowedFd<'_>]) -> Result<i32, NotStarted> {
        match wire::send(&self.socket, message, files) {
            Ok(()) => {}
            Err(Errno::MSGSIZE | Errno::NOBUFS) => return Err(NotStarted::Refused(Refusal::NoStarter)),
            Err(_) => return Err(NotStarted::Unheard),
        }
        match wire::receive_number(&self.socket) {
            Ok(pid @ 1..) => Ok(pid),
            Ok(UNSOUND) => Err(NotStarted::Unheard),
            // Nothing was made, for whatever reason: perhaps we can.
            Ok(_) => Err(NotStarted::Refused(Refusal::NoStarter)),
            // It went before it read what it was told.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Err(NotStarted::Unheard),
            Err(error) => Err(NotStarted::Refused(Refusal::Failed(error))),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both only fail when it is already gone.
        kill_process(self.pid, Signal::KILL).ok();
        rustix::io::retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::empty())).ok();
    }
}

fn sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&ours, Timeout::Recv, Some(PATIENCE))?;
    set_socket_timeout(&ours, Timeout::Send, Some(PATIENCE))?;
    Ok((ours, theirs))
}
