//! What is left to do inside new namespaces: give up every right, and look after the program.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Instant;

use libc::{c_int, sock_filter};

use super::seccomp::{self, Sockets};
use super::sys::{self, Shared, Signals};
use super::{landlock, limits};
use crate::sandbox::policy::Limits;

/// What a program may do, whatever it is.
pub(super) struct Rights {
    filter: Vec<sock_filter>,
    scope: Option<OwnedFd>,
    user: bool,
    /// Whether a PID namespace has a bound of its own on processes.
    bounds_processes: bool,
}

impl Rights {
    pub(super) fn new(user: bool) -> io::Result<Self> {
        Ok(Self {
            filter: seccomp::filter(Sockets::All, false),
            scope: landlock::scope_of_everything()?,
            user,
            bounds_processes: sys::kernel() >= (6, 14),
        })
    }

    /// What to write to `pid_max` of a new PID namespace.
    pub(super) fn most_processes(&self, limits: &Limits) -> Option<Vec<u8>> {
        let most = limits.processes.filter(|_| self.bounds_processes);
        most.map(|most| most.max(512).to_string().into_bytes())
    }

    /// Gives up every other right, in the process that becomes the program.
    pub(super) fn restrict(&self, limits: &Limits, signals: &Signals) -> io::Result<()> {
        limits::apply(limits, self.user);
        if let Some(scope) = &self.scope {
            sys::landlock_restrict(scope.as_raw_fd())?;
        }
        sys::close_on_exec_from(3)?;
        sys::filter_calls(&self.filter)?;
        sys::restore_signals(signals);
        Ok(())
    }
}

/// Where it is told how a program ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ending {
    /// To a process that shares memory with us.
    Shared(Shared),
    /// To whoever reads this file.
    File(c_int),
}

/// The first process of a PID namespace: collects what others leave behind until the program ended, or its time is
/// over. All others end with it. Signals are blocked.
pub(super) fn look_after(program: c_int, ending: Ending, limits: &Limits) -> ! {
    sys::hide_memory().ok();
    match ending {
        Ending::Shared(_) => sys::close_from(0),
        Ending::File(file) => {
            // A number that is known to be the lowest.
            if sys::renumber(file, 0).is_err() {
                sys::exit(1)
            }
            sys::close_from(1);
        }
    }
    let over = limits.time.and_then(|time| Instant::now().checked_add(time));
    loop {
        let left = over.map(|over| over.saturating_duration_since(Instant::now()));
        let status = match sys::collect() {
            Ok(Some((pid, status))) if pid == program => status,
            Ok(None) if !sys::wait_for_child(left) => libc::SIGKILL,
            Ok(_) => continue,
            Err(_) => sys::exit(1),
        };
        match ending {
            Ending::Shared(shared) => shared.set(status),
            Ending::File(_) => sys::write_number(0, status),
        }
        sys::exit(0)
    }
}
