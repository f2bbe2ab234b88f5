//! What runs in the forked child before it becomes another program: the only unsafe code in this crate.
//!
//! Between `fork` and `exec` another thread's lock (the allocator's, for one) may be held forever, so these
//! closures only make system calls and format into a buffer on the stack.
#![expect(unsafe_code, reason = "`pre_exec` is unsafe; these closures only make async-signal-safe calls")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// What a child leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leads {
    /// A process group in our session.
    Group,
    /// A session, whose terminal is its standard input.
    Session,
}

/// Where and as what the next child announces itself. Filled in before each spawn, read in the child.
#[derive(Debug)]
pub(super) struct Announcement {
    pipe: AtomicI32,
    token: AtomicU64,
}

impl Announcement {
    /// Makes every child of `command` lead its own group and tell the watcher so before it runs anything.
    pub(super) fn install(command: &mut Command, leads: Leads) -> Arc<Self> {
        let announcement = Arc::new(Self { pipe: AtomicI32::new(-1), token: AtomicU64::new(0) });
        let in_child = Arc::clone(&announcement);
        match leads {
            Leads::Group => drop(command.process_group(0)),
            // SAFETY: two system calls.
            Leads::Session => drop(unsafe { command.pre_exec(take_terminal) }),
        }
        // SAFETY: `announce` allocates nothing and takes no lock; see the module docs.
        unsafe { command.pre_exec(move || in_child.announce()) };
        announcement
    }

    /// `pipe` must stay open until the spawn returned; the watcher's lock sees to that.
    pub(super) fn aim(&self, pipe: &impl AsRawFd, token: u64) {
        self.pipe.store(pipe.as_raw_fd(), Ordering::Release);
        self.token.store(token, Ordering::Release);
    }

    fn announce(&self) -> io::Result<()> {
        let pipe: RawFd = self.pipe.load(Ordering::Acquire);
        // SAFETY: `aim` was called with an open pipe, and the fork copied it.
        let pipe = unsafe { BorrowedFd::borrow_raw(pipe) };
        announce(pipe, self.token.load(Ordering::Acquire), Numbered::AsOutside)
    }
}

/// Whether a child has the number that it has outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbered {
    AsOutside,
    /// It is the first of a PID namespace, and `/proc` is still the one from outside.
    #[cfg(target_os = "linux")]
    Anew,
}

/// Tells the watcher of the group that this process leads.
pub(super) fn announce(pipe: BorrowedFd<'_>, token: u64, numbered: Numbered) -> io::Result<()> {
    let pid = rustix::process::getpid();
    // The group is set before; were that to change, a registered group that does not exist would protect nobody, so
    // the spawn fails instead.
    if rustix::process::getpgrp() != pid {
        return Err(io::Error::from_raw_os_error(rustix::io::Errno::PERM.raw_os_error()));
    }
    let number = match numbered {
        Numbered::AsOutside => pid.as_raw_pid().cast_unsigned(),
        #[cfg(target_os = "linux")]
        Numbered::Anew => number_outside()?,
    };
    let mut buffer = [0_u8; LINE];
    // A pipe takes writes this small whole or not at all.
    rustix::io::write(pipe, registration(&mut buffer, token, number))?;
    Ok(())
}

/// Our number in the namespace that `/proc` is of.
#[cfg(target_os = "linux")]
fn number_outside() -> io::Result<u32> {
    let mut buffer = [std::mem::MaybeUninit::uninit(); 16];
    let (number, _) = rustix::fs::readlinkat_raw(rustix::fs::CWD, c"/proc/self", &mut buffer)?;
    let digits = std::str::from_utf8(number).ok().and_then(|digits| digits.parse().ok());
    digits.ok_or_else(|| io::Error::from_raw_os_error(rustix::io::Errno::SRCH.raw_os_error()))
}

/// Begins a session, and with it a group, and makes standard input its terminal.
pub(super) fn take_terminal() -> io::Result<()> {
    rustix::process::setsid()?;
    rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
    Ok(())
}

/// Detaches the watcher from our terminal and session, so Ctrl-C and a hang-up pass it by.
pub(super) fn leave_session(command: &mut Command) {
    // SAFETY: one system call.
    unsafe { command.pre_exec(|| rustix::process::setsid().map(drop).map_err(io::Error::from)) };
}

/// Room for `+ `, two numbers of at most 20 digits, a space and the line end.
pub(super) const LINE: usize = 48;

/// `+ TOKEN PID` and a line end, formatted without allocating.
pub(super) fn registration(buffer: &mut [u8; LINE], token: u64, pid: u32) -> &[u8] {
    let mut start = LINE;
    let mut put = |byte: u8| {
        start -= 1;
        buffer[start] = byte;
    };
    put(b'\n');
    digits(u64::from(pid), &mut put);
    put(b' ');
    digits(token, &mut put);
    put(b' ');
    put(b'+');
    &buffer[start..]
}

/// The digits of `number`, last one first.
fn digits(mut number: u64, put: &mut impl FnMut(u8)) {
    loop {
        put(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            return;
        }
    }
}
