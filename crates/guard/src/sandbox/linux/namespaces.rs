//! Namespaces of our own: a child sees its own processes, its own network and the files of its [`view`].
//!
//! Three processes come of one start. The *waiter* is the child that std knows: it stays outside, in the process
//! group that Covey kills, and ends as the program ended. The *init* is the first process of the PID namespace: when
//! it dies, the kernel kills all others in there, and it dies with the waiter. The third becomes the program.
//!
//! [`view`]: crate::sandbox::view

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libc::{c_int, sock_filter};

use super::seccomp::{self, Sockets};
use super::sys::{self, Fork, Shared, Signals};
use super::told::Walls;
use super::{landlock, limits, rooms};
use crate::sandbox::policy::Limits;
use crate::sandbox::view::{Access, Expect, Mount};

/// Everything the child needs, made before it is forked.
pub(crate) struct Setup {
    room: Option<u64>,
    /// Who keeps the room that some of the namespaces are in, if there is one.
    keeper: Option<c_int>,
    user: bool,
    network: bool,
    identity: Identity,
    steps: Vec<Step>,
    folder: CString,
    filter: Vec<sock_filter>,
    scope: Option<OwnedFd>,
    limits: Limits,
    /// What to write to `pid_max` of the new PID namespace, on kernels that have one for each.
    most_processes: Option<Vec<u8>>,
}

/// Who we are outside, which is who the child is inside.
struct Identity {
    users: Vec<u8>,
    groups: Vec<u8>,
}

enum Step {
    Bind { source: CString, target: CString, access: Access, expect: Option<Expect>, tree: c_int },
    Memory(CString),
    Processes,
    Terminals,
}

impl Setup {
    /// What was told, made ready.
    pub(super) fn heard(told: &[u8]) -> io::Result<Self> {
        Self::new(Walls::hear(told)?)
    }

    fn new(Walls { room, view, folder, network, user, limits }: Walls) -> io::Result<Self> {
        let (uid, gid) = sys::effective_ids();
        let identity = Identity {
            users: format!("{uid} {uid} 1\n").into_bytes(),
            groups: format!("{gid} {gid} 1\n").into_bytes(),
        };
        let steps = view.into_iter().map(Step::new).collect::<io::Result<Vec<Step>>>()?;
        let most = limits.processes.filter(|_| sys::kernel() >= (6, 14));
        Ok(Self {
            room,
            keeper: None,
            user,
            network,
            identity,
            steps,
            folder: terminated(&folder)?,
            filter: seccomp::filter(Sockets::All, false),
            scope: landlock::scope_of_everything()?,
            limits,
            most_processes: most.map(|most| most.max(512).to_string().into_bytes()),
        })
    }

    /// Looks for its room. Without one it has everything for itself.
    pub(super) fn find_room(&mut self) {
        if let Some(room) = self.room.filter(|_| !self.network) {
            self.keeper = rooms::keeper(room, || self.make(self.shared())).ok();
        }
    }

    /// What is shared in a room.
    fn shared(&self) -> c_int {
        if self.user { rooms::KINDS } else { rooms::KINDS & !libc::CLONE_NEWUSER }
    }

    /// In the forked child. Returns in the process that is to become the program; the others stay in here.
    pub(crate) fn apply(&mut self) -> io::Result<()> {
        let signals = sys::block_signals();
        let ending = Shared::new(STILL_RUNNING)?;
        let waiter = sys::pidfd(sys::own_pid())?;
        self.leave()?;
        if let Fork::Parent(init) = sys::fork(libc::SIGCHLD)? {
            wait_outside(init, ending, self.limits.time.map(|time| time.as_millis()));
        }
        sys::die_with_parent()?;
        if sys::ready(waiter, 0) {
            // The waiter died before we could tell that we want to go with it.
            return Err(io::Error::from_raw_os_error(libc::ECHILD));
        }
        self.arrange()?;
        // For the program too, which is a copy.
        sys::drop_capabilities(0)?;
        sys::no_new_privileges()?;
        if let Fork::Parent(program) = sys::fork(libc::SIGCHLD)? {
            wait_inside(program, ending);
        }
        self.restrict(&signals)
    }

    /// Enters new namespaces, some of them those of its room.
    fn leave(&self) -> io::Result<()> {
        const OWN: c_int = libc::CLONE_NEWNS | libc::CLONE_NEWPID;
        if let Some(keeper) = self.keeper
            && sys::enter(keeper, self.shared()).is_ok()
        {
            return sys::unshare(OWN);
        }
        let mut flags = OWN | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | libc::CLONE_NEWCGROUP;
        if self.user {
            flags |= libc::CLONE_NEWUSER;
        }
        if !self.network {
            flags |= libc::CLONE_NEWNET;
        }
        self.make(flags)
    }

    /// Makes new namespaces, in which we are who we were.
    fn make(&self, kinds: c_int) -> io::Result<()> {
        sys::unshare(kinds)?;
        if kinds & libc::CLONE_NEWUSER != 0 {
            sys::write_file(c"/proc/self/setgroups", b"deny")?;
            sys::write_file(c"/proc/self/uid_map", &self.identity.users)?;
            sys::write_file(c"/proc/self/gid_map", &self.identity.groups)?;
        }
        if kinds & libc::CLONE_NEWNET != 0 { sys::loopback_up() } else { Ok(()) }
    }

    /// Arranges the files.
    fn arrange(&mut self) -> io::Result<()> {
        sys::keep_mounts_private()?;
        // Everything is picked up where it is now, before anything covers it.
        for step in &mut self.steps {
            if let Step::Bind { source, tree, .. } = step {
                *tree = sys::copy_tree(source)?;
            }
        }
        sys::restrict_tree(libc::AT_FDCWD, c"/", sys::READ_ONLY | sys::NO_SETUID | sys::NO_DEVICES)?;
        for step in &self.steps {
            step.take(self.most_processes.as_deref())?;
        }
        // The folder it starts in was opened on what is covered now.
        sys::change_folder(&self.folder)
    }

    /// Gives up every right to undo any of it.
    fn restrict(&self, signals: &Signals) -> io::Result<()> {
        limits::apply(&self.limits, self.user);
        if let Some(scope) = &self.scope {
            sys::landlock_restrict(scope.as_raw_fd())?;
        }
        sys::close_on_exec_from(3)?;
        sys::filter_calls(&self.filter)?;
        sys::restore_signals(signals);
        Ok(())
    }
}

impl Step {
    fn new(mount: Mount) -> io::Result<Self> {
        Ok(match mount {
            Mount::Bind { source, target, access, expect } => Self::Bind {
                source: terminated(&source)?,
                target: terminated(&target)?,
                access,
                expect,
                tree: -1,
            },
            Mount::Memory(target) => Self::Memory(terminated(&target)?),
            Mount::Processes => Self::Processes,
            Mount::Terminals => Self::Terminals,
        })
    }

    fn take(&self, most_processes: Option<&[u8]>) -> io::Result<()> {
        const PLAIN: u64 = libc::MS_NOSUID | libc::MS_NODEV;
        match self {
            Self::Bind { target, access, expect, tree, .. } => {
                let rights = match access {
                    Access::Read => sys::READ_ONLY | sys::NO_SETUID | sys::NO_DEVICES,
                    Access::Write => sys::NO_SETUID | sys::NO_DEVICES,
                    Access::Device => sys::NO_SETUID,
                };
                sys::restrict_tree(*tree, sys::EMPTY, rights)?;
                let place = sys::open(target, libc::O_PATH | libc::O_NOFOLLOW)?;
                if let Some(expect) = expect
                    && sys::identity(place)? != (expect.device, expect.inode)
                {
                    return Err(io::Error::from_raw_os_error(libc::ESTALE));
                }
                sys::attach_tree(*tree, place)?;
                sys::close(place);
                sys::close(*tree);
                Ok(())
            }
            Self::Memory(target) => sys::mount(c"tmpfs", target, PLAIN, c"mode=1777"),
            Self::Terminals => {
                let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
                sys::mount(c"devpts", c"/dev/pts", flags, c"newinstance,ptmxmode=0666,mode=0620")
            }
            Self::Processes => {
                sys::mount(c"proc", c"/proc", PLAIN | libc::MS_NOEXEC, c"")?;
                if let Some(most) = most_processes {
                    sys::write_file(c"/proc/sys/kernel/pid_max", most).ok();
                }
                // To root's number, if not to its rights, settings of the kernel would be writable.
                sys::restrict_tree(libc::AT_FDCWD, c"/proc", sys::READ_ONLY)
            }
        }
    }
}

/// What [`Shared`] holds until the program ended: no status of a process that ended looks like this.
const STILL_RUNNING: c_int = -1;

/// The waiter: outside, with nothing open, until the init is gone.
fn wait_outside(init: c_int, ending: Shared, milliseconds: Option<u128>) -> ! {
    sys::hide_memory().ok();
    sys::close_from(0);
    if let Some(most) = milliseconds {
        let most = c_int::try_from(most).unwrap_or(c_int::MAX);
        if sys::pidfd(init).is_ok_and(|init| !sys::ready(init, most)) {
            sys::kill(init, libc::SIGKILL).ok();
        }
    }
    sys::wait(init).ok();
    match ending.get() {
        // Killed before the program ended by itself.
        STILL_RUNNING => sys::end_like(libc::SIGKILL),
        status => sys::end_like(status),
    }
}

/// The init: collects what others leave behind until the program ended. All others end with it.
fn wait_inside(program: c_int, ending: Shared) -> ! {
    sys::hide_memory().ok();
    sys::close_from(0);
    loop {
        match sys::wait(-1) {
            Ok((pid, status)) if pid == program => {
                ending.set(status);
                sys::exit(0)
            }
            Ok(_) => {}
            Err(_) => sys::exit(1),
        }
    }
}

fn terminated(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}

/// Whether namespaces can be made here: with a user namespace, which anybody may try, or without, which is root's.
pub(crate) fn probe(view: impl Fn() -> io::Result<Vec<Mount>>) -> io::Result<bool> {
    let attempt = |user| {
        let limits = Limits { time: None, ..Limits::default() };
        let walls = Walls { room: None, view: view()?, folder: "/".into(), network: false, user, limits };
        let mut command = project::command("/bin/sh");
        command.args(["-c", ":"]).env_clear().cwd("/");
        super::within(&mut command, walls.tell());
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
