//! Places that the commands of a session are born in.
//!
//! A *room* has users, an empty network, IPC and names: all commands of a session share it, so one finds the server
//! that another started. In a room there are *views*, mounts that are arranged once. A command that is born in one has
//! a copy of these mounts, its own processes, and nothing left to do but to look away from all others.
//!
//! Each is kept by a starter that is in there: see [`project::Place`].

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use libc::c_int;
use project::{Finish, Place};

use super::inside::{self, Ending, Rights};
use super::mounts::{self, Steps};
use super::namespaces::{Namespaces, Setup};
use super::sys;
use super::told::{self, Own, Room, View};

/// A view that nobody uses keeps what was mounted when it was made from being unmounted for real.
const STAYS: Duration = Duration::from_secs(60);

/// Where the first starter is.
pub struct Outside;

struct InRoom {
    user: bool,
}

struct InView {
    rights: Rights,
    steps: Steps,
    /// Which mounts were seen where, when they were new.
    seen: Vec<Option<u64>>,
}

impl Place for Outside {
    fn enter(&self, told: &[u8]) -> io::Result<Box<dyn Place>> {
        let room = told::only(told, Room::hear)?;
        Namespaces::new(room).make(0)?;
        sys::hide_memory()?;
        Ok(Box::new(InRoom { user: room.user }))
    }

    fn build(&self, told: &[u8], _: Option<BorrowedFd<'_>>) -> io::Result<Finish<'_>> {
        let mut setup = Setup::heard(told)?;
        Ok(Box::new(move |become_it| match setup.apply() {
            Ok(()) => become_it(),
            Err(error) => error,
        }))
    }
}

impl Place for InRoom {
    fn enter(&self, told: &[u8]) -> io::Result<Box<dyn Place>> {
        let mut steps = Steps::new(told::only(told, View::hear)?.mounts)?;
        let rights = Rights::new(self.user)?;
        sys::unshare(libc::CLONE_NEWNS)?;
        steps.take()?;
        // What is open here was opened on what is covered now.
        sys::change_folder(c"/")?;
        // Children are to have nothing of this, so they need not give it up one by one.
        sys::bound_capabilities(0);
        sys::no_new_privileges()?;
        let seen: Vec<_> = steps.seen().collect();
        // Without their numbers nobody could tell whether they are still there.
        if seen.iter().all(Option::is_none) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(Box::new(InView { rights, steps, seen }))
    }

    fn build(&self, _: &[u8], _: Option<BorrowedFd<'_>>) -> io::Result<Finish<'_>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl Place for InView {
    fn enter(&self, _: &[u8]) -> io::Result<Box<dyn Place>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// What is deleted or replaced outside takes a mount on it along, and with it a wall.
    fn is_sound(&self) -> bool {
        self.steps.seen().eq(self.seen.iter().copied())
    }

    fn apart(&self) -> c_int {
        libc::CLONE_NEWNS | libc::CLONE_NEWPID
    }

    fn build(&self, told: &[u8], ending: Option<BorrowedFd<'_>>) -> io::Result<Finish<'_>> {
        // Where the program starts is seen to: it is born where it can be found.
        let Own { folder: _, limits } = told::only(told, Own::hear)?;
        let ending = ending.ok_or(io::ErrorKind::InvalidInput)?.as_raw_fd();
        let most_processes = self.rights.most_processes(&limits);
        Ok(Box::new(move |become_it| {
            let signals = sys::block_signals();
            let alone = mounts::mount_processes(most_processes.as_deref());
            if let Err(error) = alone.and_then(|()| sys::drop_capabilities(0)) {
                return error;
            }
            let mut failure = None;
            let program = sys::fork_and_wait(&mut || {
                failure = Some(match self.rights.restrict(&limits, &signals) {
                    Ok(()) => become_it(),
                    Err(error) => error,
                });
            });
            match (program, failure) {
                (Ok(program), None) => inside::look_after(program, Ending::File(ending), &limits),
                (Err(error), _) | (_, Some(error)) => error,
            }
        }))
    }

    fn stays(&self) -> Option<Duration> {
        Some(STAYS)
    }
}

/// A number that changes whenever something is mounted or unmounted outside, if the system tells.
pub(in crate::sandbox) fn mount_table() -> Option<u64> {
    static TABLE: Mutex<Option<(File, u64)>> = Mutex::new(None);
    let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    if table.is_none() {
        *table = Some((File::open("/proc/self/mountinfo").ok()?, 0));
    }
    let (file, changes) = table.as_mut()?;
    *changes += u64::from(sys::changed(file.as_raw_fd()).ok()?);
    Some(*changes)
}
