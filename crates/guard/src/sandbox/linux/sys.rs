//! System calls that std and our other libraries do not offer, each as a safe function.
//!
//! Most are called in a forked child, where another thread's lock may be held for ever: none allocates.
#![expect(unsafe_code, reason = "system calls; each wrapper says why its call is sound")]

use std::ffi::{CStr, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use libc::{c_int, c_long, c_uint, c_ulong};

pub(super) const EMPTY: &CStr = c"";

fn check(result: c_long) -> io::Result<c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn done(result: c_long) -> io::Result<()> {
    check(result).map(drop)
}

pub(super) fn unshare(flags: c_int) -> io::Result<()> {
    // SAFETY: takes no pointers.
    done(unsafe { libc::unshare(flags) }.into())
}

/// What [`fork`] tells.
pub(super) enum Fork {
    Child,
    Parent(c_int),
}

/// A copy of this process, with `exit_signal` told to its parent when it ends. Bypasses the C library, whose own
/// fork runs handlers that may take locks.
pub(super) fn fork(exit_signal: c_int) -> io::Result<Fork> {
    // SAFETY: no memory is shared and the stack is copied, as in a plain fork.
    let pid = check(unsafe {
        libc::syscall(
            libc::SYS_clone,
            exit_signal as c_ulong,
            null::<u8>(),
            null::<u8>(),
            null::<u8>(),
            null::<u8>(),
        )
    })?;
    Ok(if pid == 0 { Fork::Child } else { Fork::Parent(pid as c_int) })
}

/// Runs `child` in a process that has our memory, until it becomes a program or ends. We stand still meanwhile.
pub(super) fn fork_and_wait(child: &mut dyn FnMut()) -> io::Result<c_int> {
    extern "C" fn run(child: *mut c_void) -> c_int {
        // SAFETY: it is what is passed below, by who waits.
        unsafe { (*child.cast::<&mut dyn FnMut()>())() };
        1
    }
    const FLAGS: c_int = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // Two stacks in one memory: the child gets a piece of ours that is not used otherwise.
    let mut stack = MaybeUninit::<[u128; 4096]>::uninit();
    let (top, mut child) = (stack.as_mut_ptr().wrapping_add(1).cast(), child);
    // SAFETY: the stack and what runs on it are ours until the child needs them no more, which is when this returns.
    let pid = unsafe { libc::clone(run, top, FLAGS, (&raw mut child).cast()) };
    check(pid.into()).map(|pid| pid as c_int)
}

/// Ends this process at once: no destructors, nothing flushed.
pub(super) fn exit(status: c_int) -> ! {
    // SAFETY: does not return.
    unsafe { libc::_exit(status) }
}

/// Waits for a child; its number and how it ended.
pub(super) fn wait(pid: c_int) -> io::Result<(c_int, c_int)> {
    let mut status = 0;
    loop {
        // SAFETY: `status` outlives the call.
        match check(unsafe { libc::waitpid(pid, &raw mut status, 0) }.into()) {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            Err(error) => return Err(error),
            Ok(pid) => return Ok((pid as c_int, status)),
        }
    }
}

/// A child that ended, if there is one: its number and how.
pub(super) fn collect() -> io::Result<Option<(c_int, c_int)>> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    let pid = check(unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) }.into())?;
    Ok((pid > 0).then_some((pid as c_int, status)))
}

/// Waits until a child ended, with signals blocked. False when the time is over.
pub(super) fn wait_for_child(time: Option<Duration>) -> bool {
    // SAFETY: all zeroes is a valid set and a valid time; all outlive the calls.
    unsafe {
        let mut child: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut child);
        libc::sigaddset(&raw mut child, libc::SIGCHLD);
        let mut most: libc::timespec = std::mem::zeroed();
        let most = match time {
            Some(time) => {
                most.tv_sec = libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX);
                most.tv_nsec = time.subsec_nanos().into();
                &raw const most
            }
            None => null(),
        };
        libc::sigtimedwait(&raw const child, null_mut(), most) >= 0
            || *libc::__errno_location() != libc::EAGAIN
    }
}

pub(super) fn kill(pid: c_int, signal: c_int) -> io::Result<()> {
    // SAFETY: takes no pointers.
    done(unsafe { libc::kill(pid, signal) }.into())
}

pub(super) fn effective_ids() -> (u32, u32) {
    // SAFETY: they take nothing.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// The kernel's version, as far as it can be told.
pub(super) fn kernel() -> (u32, u32) {
    let text = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// Leaves the process group and the terminal.
pub(super) fn leave_session() {
    // SAFETY: takes nothing.
    unsafe { libc::setsid() };
}

/// Whether the kernel keeps us from sending signals to a process that is there.
pub(super) fn may_not_signal(pid: c_int) -> bool {
    kill(pid, 0).is_err_and(|error| error.raw_os_error() == Some(libc::EPERM))
}

pub(super) fn parent_pid() -> c_int {
    // SAFETY: takes nothing.
    unsafe { libc::syscall(libc::SYS_getppid) as c_int }
}

pub(super) fn own_pid() -> c_int {
    // SAFETY: takes nothing. The C library's own answer may be another process's after `fork` above.
    unsafe { libc::syscall(libc::SYS_getpid) as c_int }
}

pub(super) fn pidfd(pid: c_int) -> io::Result<c_int> {
    // SAFETY: takes no pointers.
    check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) }).map(|fd| fd as c_int)
}

/// Whether `fd` has something within `milliseconds` (-1: for ever). A pidfd has when its process ended.
pub(super) fn ready(fd: c_int, milliseconds: c_int) -> bool {
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    loop {
        // SAFETY: one entry, which outlives the call.
        match check(unsafe { libc::poll(&raw mut poll, 1, milliseconds) }.into()) {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            result => return result.is_ok_and(|count| count > 0),
        }
    }
}

/// Whether an open table of mounts changed since it was opened, or last asked of.
pub(super) fn changed(table: c_int) -> io::Result<bool> {
    let mut poll = libc::pollfd { fd: table, events: libc::POLLPRI, revents: 0 };
    // SAFETY: one entry, which outlives the call.
    check(unsafe { libc::poll(&raw mut poll, 1, 0) }.into()).map(|count| count > 0)
}

pub(super) fn close(fd: c_int) {
    // SAFETY: callers own the number; a wrong one is an error and nothing more.
    unsafe { libc::close(fd) };
}

/// Closes every file from number `first` on.
pub(super) fn close_from(first: c_uint) {
    // SAFETY: what is closed is not used again: the caller runs on without files.
    unsafe { libc::syscall(libc::SYS_close_range, first, c_uint::MAX, 0) };
}

/// Gives an open file another number.
pub(super) fn renumber(fd: c_int, number: c_int) -> io::Result<()> {
    // SAFETY: what had the number before is not used again.
    done(unsafe { libc::dup2(fd, number) }.into())
}

/// A file that is ready to be read once somebody wrote to it.
pub(super) fn event() -> io::Result<c_int> {
    // SAFETY: takes no pointers.
    check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) }.into()).map(|fd| fd as c_int)
}

pub(super) fn raise(event: c_int) {
    let one = 1_u64;
    // SAFETY: pointer and length are of one number.
    unsafe { libc::write(event, (&raw const one).cast(), size_of_val(&one)) };
}

/// Lets no file but the three standard streams through to the next program.
pub(super) fn close_on_exec_from(first: c_uint) -> io::Result<()> {
    const CLOEXEC: c_uint = 4;
    // SAFETY: takes no pointers.
    done(unsafe { libc::syscall(libc::SYS_close_range, first, c_uint::MAX, CLOEXEC) })
}

/// Back to the start of an open file.
pub(super) fn rewind(fd: c_int) -> io::Result<()> {
    // SAFETY: takes no pointers.
    done(unsafe { libc::lseek(fd, 0, libc::SEEK_SET) } as c_long)
}

/// A file without a name.
pub(super) fn memory_file() -> io::Result<OwnedFd> {
    // SAFETY: the name is terminated; the number is new and nobody else's.
    unsafe {
        check(libc::memfd_create(c"covey".as_ptr(), libc::MFD_CLOEXEC).into())
            .map(|fd| OwnedFd::from_raw_fd(fd as c_int))
    }
}

/// Lets one file through to the next program.
pub(super) fn keep_on_exec(fd: c_int) -> io::Result<()> {
    // SAFETY: takes no pointers.
    done(unsafe { libc::fcntl(fd, libc::F_SETFD, 0) }.into())
}

pub(super) fn open(path: &CStr, flags: c_int) -> io::Result<c_int> {
    // SAFETY: the path is terminated and outlives the call.
    check(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) }.into()).map(|fd| fd as c_int)
}

/// The number of the mount that is seen at `path`; of a link itself, not of what it leads to.
pub(super) fn mount_at(path: &CStr) -> io::Result<u64> {
    let flags = libc::AT_SYMLINK_NOFOLLOW | libc::AT_NO_AUTOMOUNT;
    // SAFETY: all zeroes is a valid `statx`, which outlives the call, as the path does.
    unsafe {
        let mut stat: libc::statx = std::mem::zeroed();
        done(libc::statx(libc::AT_FDCWD, path.as_ptr(), flags, libc::STATX_MNT_ID, &raw mut stat).into())?;
        // A kernel that does not know of it leaves it out.
        let known = stat.stx_mask & libc::STATX_MNT_ID != 0;
        known.then_some(stat.stx_mnt_id).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOSYS))
    }
}

/// Device and inode of an open file.
pub(super) fn identity(fd: c_int) -> io::Result<(u64, u64)> {
    // SAFETY: all zeroes is a valid `stat`, which outlives the call.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    done(unsafe { libc::fstat(fd, &raw mut stat) }.into())?;
    Ok((stat.st_dev, stat.st_ino))
}

pub(super) fn write_file(path: &CStr, bytes: &[u8]) -> io::Result<()> {
    let fd = open(path, libc::O_WRONLY)?;
    // SAFETY: the pointer and the length are of one slice.
    let written = check(unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) } as c_long);
    close(fd);
    written.map(drop)
}

/// Writes a number to a pipe, which takes it whole or not at all.
pub(super) fn write_number(fd: c_int, number: c_int) {
    let bytes = number.to_le_bytes();
    // SAFETY: the pointer and the length are of one array.
    unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
}

pub(super) fn change_folder(path: &CStr) -> io::Result<()> {
    // SAFETY: the path is terminated and outlives the call.
    done(unsafe { libc::chdir(path.as_ptr()) }.into())
}

/// `mount(2)`, for file systems that the kernel makes.
pub(super) fn mount(kind: &CStr, target: &CStr, flags: c_ulong, options: &CStr) -> io::Result<()> {
    // SAFETY: all strings are terminated and outlive the call.
    done(
        unsafe { libc::mount(kind.as_ptr(), target.as_ptr(), kind.as_ptr(), flags, options.as_ptr().cast()) }
            .into(),
    )
}

/// Changes how the mounts of this namespace spread to others.
pub(super) fn keep_mounts_private() -> io::Result<()> {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: the path is terminated; the kernel ignores the rest.
    done(unsafe { libc::mount(null(), c"/".as_ptr(), null(), flags, null()) }.into())
}

/// A detached copy of the mounts at `path`.
pub(super) fn copy_tree(path: &CStr) -> io::Result<c_int> {
    const CLONE: c_int = 1;
    let flags = CLONE | libc::O_CLOEXEC | libc::AT_RECURSIVE;
    // SAFETY: the path is terminated and outlives the call.
    check(unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) })
        .map(|fd| fd as c_int)
}

pub(super) const READ_ONLY: u64 = 1;
pub(super) const NO_SETUID: u64 = 2;
pub(super) const NO_DEVICES: u64 = 4;

/// Adds attributes to every mount below `path`, or below `fd` if the path is [`EMPTY`].
pub(super) fn restrict_tree(fd: c_int, path: &CStr, attributes: u64) -> io::Result<()> {
    // The kernel's `struct mount_attr`: set, clear, propagation, user namespace.
    let attr: [u64; 4] = [attributes, 0, 0, 0];
    let flags = libc::AT_RECURSIVE | libc::AT_EMPTY_PATH;
    // SAFETY: pointer and size are of one array, the path is terminated, both outlive the call.
    done(unsafe {
        libc::syscall(libc::SYS_mount_setattr, fd, path.as_ptr(), flags, attr.as_ptr(), size_of_val(&attr))
    })
}

/// Puts a detached tree on top of the open file or folder `target`.
pub(super) fn attach_tree(tree: c_int, target: c_int) -> io::Result<()> {
    const FROM_EMPTY_TO_EMPTY: c_uint = 0x4 | 0x40;
    // SAFETY: both paths are empty and terminated.
    done(unsafe {
        libc::syscall(libc::SYS_move_mount, tree, EMPTY.as_ptr(), target, EMPTY.as_ptr(), FROM_EMPTY_TO_EMPTY)
    })
}

/// Switches the loopback interface of this network namespace on.
pub(super) fn loopback_up() -> io::Result<()> {
    // SAFETY: takes no pointers.
    let socket =
        check(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) }.into())?;
    // SAFETY: all zeroes is a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request outlives the call.
    let result =
        done(unsafe { libc::ioctl(socket as c_int, libc::SIOCSIFFLAGS as _, &raw const request) }.into());
    close(socket as c_int);
    result
}

pub(super) fn die_with_parent() -> io::Result<()> {
    prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as c_ulong)
}

/// Nobody of the same user may read this process's memory any more. Ends with `exec`.
pub(super) fn hide_memory() -> io::Result<()> {
    prctl(libc::PR_SET_DUMPABLE, 0)
}

/// From here on no program gains rights by being started.
pub(super) fn no_new_privileges() -> io::Result<()> {
    prctl(libc::PR_SET_NO_NEW_PRIVS, 1)
}

fn prctl(option: c_int, argument: c_ulong) -> io::Result<()> {
    // SAFETY: the options used here take numbers.
    done(unsafe { libc::prctl(option, argument, 0 as c_ulong, 0 as c_ulong, 0 as c_ulong) }.into())
}

/// Lets no program that is started from here on gain a capability. `keep` is a mask of those that stay.
pub(super) fn bound_capabilities(keep: u64) {
    /// Root is a user like any other, for good; ambient capabilities are never raised again.
    const NO_ROOT_LOCKED: c_ulong = 0b1100_0011;
    for capability in 0..64 {
        // Refused without the right to, and past the last one: then there is nothing to lose.
        if keep & (1 << capability) == 0 && prctl(libc::PR_CAPBSET_DROP, capability).is_err() {
            break;
        }
    }
    // Refused to an ordinary user, who has nothing that it would matter for.
    if keep == 0 {
        prctl(libc::PR_SET_SECUREBITS, NO_ROOT_LOCKED).ok();
    }
    prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL as c_ulong).ok();
}

/// Gives up every capability that is not in `keep`, for good once they are [bounded](bound_capabilities).
pub(super) fn drop_capabilities(keep: u64) -> io::Result<()> {
    const VERSION: u32 = 0x2008_0522;
    let mut header = [VERSION, 0];
    // SAFETY: the kernel's `cap_user_header_t`; without data it only checks the version.
    let mut sets = [0_u32; 6];
    // SAFETY: version 3 has two sets of three words.
    done(unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) })?;
    // Words: effective, permitted, inheritable; low, then high.
    let kept = [keep as u32, keep as u32, 0, (keep >> 32) as u32, (keep >> 32) as u32, 0];
    for (word, kept) in sets.iter_mut().zip(kept) {
        *word &= kept;
    }
    // SAFETY: as above.
    done(unsafe { libc::syscall(libc::SYS_capset, header.as_mut_ptr(), sets.as_ptr()) })
}

/// Bounds a resource, never above what it is now. Best effort: a limit that is already lower stays.
pub(super) fn limit(resource: c_uint, most: u64) {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `now` outlives the call.
    unsafe { libc::getrlimit(resource as _, &raw mut now) };
    let bound = libc::rlimit { rlim_cur: most.min(now.rlim_cur), rlim_max: most.min(now.rlim_max) };
    // SAFETY: as above.
    unsafe { libc::setrlimit(resource as _, &raw const bound) };
}

/// The version of Landlock, 0 without.
pub(super) fn landlock_version() -> u32 {
    const VERSION: c_uint = 1;
    // SAFETY: with this flag the kernel wants no pointer.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, null::<u8>(), 0_usize, VERSION) };
    u32::try_from(version).unwrap_or(0)
}

/// An empty set of Landlock rules: kinds of access to files and the network that it handles, and scopes.
pub(super) fn landlock_ruleset(files: u64, network: u64, scopes: u64, version: u32) -> io::Result<c_int> {
    let attr = [files, network, scopes];
    // An older kernel accepts only what it knows of.
    let words = match version {
        0..4 => 1,
        4..6 => 2,
        _ => 3,
    };
    // SAFETY: pointer and size are of one array.
    check(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, attr.as_ptr(), words * 8_usize, 0) })
        .map(|fd| fd as c_int)
}

#[repr(C, packed)]
struct PathBeneath {
    access: u64,
    parent: c_int,
}

/// Allows `access` to what is at and below an open file.
pub(super) fn landlock_allow(ruleset: c_int, parent: c_int, access: u64) -> io::Result<()> {
    const PATH_BENEATH: c_int = 1;
    let rule = PathBeneath { access, parent };
    // SAFETY: the rule outlives the call.
    done(unsafe { libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, &raw const rule, 0) })
}

pub(super) fn landlock_restrict(ruleset: c_int) -> io::Result<()> {
    // SAFETY: takes no pointers.
    done(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0) })
}

/// Lets the kernel run `filter` before every system call of this process, for good.
pub(super) fn filter_calls(filter: &[libc::sock_filter]) -> io::Result<()> {
    const SET_MODE_FILTER: c_uint = 1;
    let program =
        libc::sock_fprog { len: filter.len() as libc::c_ushort, filter: filter.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program, which outlives the call, and does not write to it.
    done(unsafe { libc::syscall(libc::SYS_seccomp, SET_MODE_FILTER, 0, &raw const program) })
}

/// The signals that were let through before.
#[derive(Clone, Copy)]
pub(super) struct Signals(libc::sigset_t);

pub(super) fn block_signals() -> Signals {
    // SAFETY: all zeroes is a valid set; both outlive the calls, which cannot fail with valid arguments.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        Signals(before)
    }
}

pub(super) fn restore_signals(signals: &Signals) {
    // SAFETY: the set outlives the call.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const signals.0, null_mut()) };
}

/// Ends this process as its child ended, which `status` tells.
pub(super) fn end_like(status: c_int) -> ! {
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        limit(libc::RLIMIT_CORE as c_uint, 0);
        // SAFETY: resetting to the default is sound for every signal; the sets outlive the calls.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &raw const none, null_mut());
        }
        kill(own_pid(), signal).ok();
        exit(128 + signal)
    }
    exit(libc::WEXITSTATUS(status))
}

/// A number that forked processes share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared(*const AtomicI32);

impl Shared {
    /// Taken from the system; goes with the process.
    pub(super) fn new(value: c_int) -> io::Result<Self> {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a fresh mapping that nothing else refers to.
        let page = unsafe { libc::mmap(null_mut(), size_of::<AtomicI32>(), protection, flags, -1, 0) };
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let shared = Self(page.cast());
        shared.set(value);
        Ok(shared)
    }

    pub(super) fn set(self, value: c_int) {
        // SAFETY: the page is never unmapped, aligned, and only used as an atomic.
        unsafe { &*self.0 }.store(value, Ordering::Release);
    }

    pub(super) fn get(self) -> c_int {
        // SAFETY: as above.
        unsafe { &*self.0 }.load(Ordering::Acquire)
    }
}
