//! Namespaces of our own: a child sees its own processes, its own network and the files of its [`view`].
//!
//! Here a child that was started outside builds all of it around itself; most commands of a session are born in
//! [places](super::places) where some of it is there already.
//!
//! Three processes come of one start. The *waiter* is the child that is known outside: it stays there, in the process
//! group that Covey kills, and ends as the program ended. The *init* is the first process of the PID namespace: when
//! it dies, the kernel kills all others in there, and it dies with the waiter. The third becomes the program.
//!
//! [`view`]: crate::sandbox::view

use std::ffi::CString;
use std::io;

use libc::c_int;

use super::inside::{self, Ending, Rights};
use super::mounts::{self, Steps};
use super::sys::{self, Fork, Shared};
use super::told::{Own, Room, View, Walls};
use crate::sandbox::policy::Limits;
use crate::sandbox::view::Mount;

/// Everything the child needs, made before it is forked.
pub(super) struct Setup {
    shared: Namespaces,
    steps: Steps,
    folder: CString,
    rights: Rights,
    limits: Limits,
    most_processes: Option<Vec<u8>>,
}

impl Setup {
    /// What was told, made ready.
    pub(super) fn heard(told: &[u8]) -> io::Result<Self> {
        let Walls { room, view, own: Own { folder, limits } } = Walls::hear(told)?;
        let rights = Rights::new(room.user)?;
        Ok(Self {
            shared: Namespaces::new(room),
            steps: Steps::new(view.mounts)?,
            folder: mounts::terminated(&folder)?,
            most_processes: rights.most_processes(&limits),
            rights,
            limits,
        })
    }

    /// In the forked child. Returns in the process that is to become the program; the others stay in here.
    pub(super) fn apply(&mut self) -> io::Result<()> {
        let signals = sys::block_signals();
        let ending = Shared::new(STILL_RUNNING)?;
        let waiter = sys::pidfd(sys::own_pid())?;
        self.shared.make(libc::CLONE_NEWNS | libc::CLONE_NEWPID)?;
        if let Fork::Parent(init) = sys::fork(libc::SIGCHLD)? {
            wait_outside(init, ending);
        }
        sys::die_with_parent()?;
        if sys::ready(waiter, 0) {
            // The waiter died before we could tell that we want to go with it.
            return Err(io::Error::from_raw_os_error(libc::ECHILD));
        }
        self.steps.take()?;
        mounts::mount_processes(self.most_processes.as_deref())?;
        // The folder it starts in was opened on what is covered now.
        sys::change_folder(&self.folder)?;
        // For the program too, which is a copy.
        sys::bound_capabilities(0);
        sys::drop_capabilities(0)?;
        sys::no_new_privileges()?;
        if let Fork::Parent(program) = sys::fork(libc::SIGCHLD)? {
            inside::look_after(program, Ending::Shared(ending), &self.limits);
        }
        self.rights.restrict(&self.limits, &signals)
    }
}

/// Namespaces that can be shared.
pub(super) struct Namespaces {
    kinds: c_int,
    /// Who we are outside, which is who we are inside.
    users: Vec<u8>,
    groups: Vec<u8>,
}

impl Namespaces {
    pub(super) fn new(room: Room) -> Self {
        let mut kinds = libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | libc::CLONE_NEWCGROUP;
        if room.user {
            kinds |= libc::CLONE_NEWUSER;
        }
        if !room.network {
            kinds |= libc::CLONE_NEWNET;
        }
        let (uid, gid) = sys::effective_ids();
        let map = |id: u32| format!("{id} {id} 1\n").into_bytes();
        Self { kinds, users: map(uid), groups: map(gid) }
    }

    /// Makes new ones, and others beside them, around this process.
    pub(super) fn make(&self, others: c_int) -> io::Result<()> {
        sys::unshare(self.kinds | others)?;
        if self.kinds & libc::CLONE_NEWUSER != 0 {
            sys::write_file(c"/proc/self/setgroups", b"deny")?;
            sys::write_file(c"/proc/self/uid_map", &self.users)?;
            sys::write_file(c"/proc/self/gid_map", &self.groups)?;
        }
        if self.kinds & libc::CLONE_NEWNET != 0 { sys::loopback_up() } else { Ok(()) }
    }
}

/// What [`Shared`] holds until the program ended: no status of a process that ended looks like this.
const STILL_RUNNING: c_int = -1;

/// The waiter: outside, with nothing open, until the init is gone.
fn wait_outside(init: c_int, ending: Shared) -> ! {
    sys::hide_memory().ok();
    sys::close_from(0);
    sys::wait(init).ok();
    match ending.get() {
        // Killed before the program ended by itself.
        STILL_RUNNING => sys::end_like(libc::SIGKILL),
        status => sys::end_like(status),
    }
}

/// Whether namespaces can be made here: with a user namespace, which anybody may try, or without, which is root's.
pub(crate) fn probe(view: impl Fn() -> io::Result<Vec<Mount>>) -> io::Result<bool> {
    let attempt = |user| {
        let limits = Limits { time: None, ..Limits::default() };
        let walls = Walls {
            room: Room { number: None, network: false, user },
            view: View { mounts: view()?, table: None },
            own: Own { folder: "/".into(), limits },
        };
        let mut command = project::command("/bin/sh");
        command.args(["-c", ":"]).env_clear().cwd("/");
        super::within(&mut command, &walls);
        let status = command.spawn().map_err(|error| cause(&error))?.wait_blocking()?;
        if status.success() { Ok(()) } else { Err(io::Error::other("nothing runs in there")) }
    };
    match attempt(true) {
        Ok(()) => Ok(true),
        Err(error) => attempt(false).map(|()| false).map_err(|_| error),
    }
}

/// What the system said.
fn cause(error: &project::SpawnError) -> io::Error {
    match std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>()) {
        Some(source) => {
            source.raw_os_error().map_or(io::ErrorKind::Other.into(), io::Error::from_raw_os_error)
        }
        None => io::Error::other(error.to_string()),
    }
}
