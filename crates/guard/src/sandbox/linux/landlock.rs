//! Holding a child with Landlock and seccomp. Needs no namespaces, so it works in most containers.
//!
//! Landlock only ever adds rights: a folder is granted with all that is in it. So folders with a secret in them are
//! granted entry by entry, and what lies inside the project cannot be kept apart from it (see `after.rs`).

use std::collections::HashMap;
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use libc::{c_int, sock_filter};

use super::seccomp::{self, Sockets};
use super::sys::{self, Fork};
use crate::sandbox::policy::Limits;

const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
const READ: u64 = EXECUTE | READ_FILE | READ_DIR;
/// What can be granted on a file that is no folder.
const ON_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;

const TCP: u64 = 0b11;
const SCOPE_ABSTRACT_SOCKETS: u64 = 1;
const SCOPE_SIGNALS: u64 = 2;

/// May write files that others own, as root expects in a checkout of somebody else's. Landlock still says where.
const DAC_OVERRIDE: u64 = 1 << 1;

/// Places that are not granted with the rest of the system: what is in there is temporary, and others'.
const PRIVATE: &[&str] = &["/tmp", "/var/tmp", "/run", "/dev"];
/// Parts of them that programs or names are found in.
const KEPT: &[&str] = &[
    "/run/current-system",
    "/run/opengl-driver",
    "/run/booted-system",
    "/run/systemd/resolve",
    "/run/resolvconf",
];
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/shm",
];

/// What is granted, as data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Grants {
    pub(crate) home: Option<PathBuf>,
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) network: bool,
}

/// Rule sets that were made, to be used again: making one takes a system call for every entry of the home folder.
#[derive(Debug, Default)]
pub(crate) struct Rulesets {
    made: Mutex<HashMap<Grants, (Instant, Arc<OwnedFd>)>>,
}

/// After this long the home folder may have new entries.
const FRESH: Duration = Duration::from_secs(10);

/// Everything the child needs, made before it is forked.
pub(crate) struct Setup {
    rules: Arc<OwnedFd>,
    /// Only signals, for the warden to share with what it guards.
    scope: Option<OwnedFd>,
    filter: Vec<sock_filter>,
    limits: Limits,
    /// Raised by the warden when nothing is left.
    gone: Option<Arc<OwnedFd>>,
}

/// Whether this kernel has Landlock at all.
pub(crate) fn version() -> u32 {
    sys::landlock_version()
}

impl Rulesets {
    pub(crate) fn setup(&self, grants: Grants, limits: Limits) -> io::Result<Setup> {
        let version = version();
        let sockets = if grants.network { Sockets::Network } else { Sockets::None };
        // Before version 3 a file could be cut short by its name.
        let filter = seccomp::filter(sockets, version < 3);
        let (mut scope, mut gone) = (None, None);
        if version >= 6 {
            scope = Some(scope_of_signals(version)?);
            gone = Some(Arc::new(own(sys::event()?)));
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|_, (when, _)| when.elapsed() < FRESH);
        let rules = match made.get(&grants) {
            Some((_, rules)) => Arc::clone(rules),
            None => {
                let rules = Arc::new(build(&grants, version)?);
                made.insert(grants, (Instant::now(), Arc::clone(&rules)));
                rules
            }
        };
        Ok(Setup { rules, scope, filter, limits, gone })
    }
}

/// Rules that keep signals inside, under which others about files can follow: moving files between folders is denied
/// by every set of rules that does not grant it, whether it speaks of files or not.
fn scope_of_signals(version: u32) -> io::Result<OwnedFd> {
    let rules = ruleset(REFER, 0, SCOPE_SIGNALS, version)?;
    let root = sys::open(c"/", libc::O_PATH).map(own)?;
    sys::landlock_allow(rules.as_raw_fd(), root.as_raw_fd(), REFER)?;
    Ok(rules)
}

/// Rules that keep signals and abstract sockets inside, and nothing else; none on kernels that do not know them.
pub(super) fn scope_of_everything() -> io::Result<Option<OwnedFd>> {
    match version() {
        version @ 6.. => ruleset(0, 0, SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS, version).map(Some),
        _ => Ok(None),
    }
}

fn ruleset(files: u64, network: u64, scopes: u64, version: u32) -> io::Result<OwnedFd> {
    sys::landlock_ruleset(files, network, scopes, version).map(own)
}

#[expect(unsafe_code, reason = "the number was just made and nobody else has it")]
fn own(fd: c_int) -> OwnedFd {
    // SAFETY: as above.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Every kind of access to files that this version knows.
fn all(version: u32) -> u64 {
    let first = (1 << 13) - 1;
    let refer = if version >= 2 { REFER } else { 0 };
    let truncate = if version >= 3 { TRUNCATE } else { 0 };
    let ioctl = if version >= 5 { IOCTL_DEV } else { 0 };
    first | refer | truncate | ioctl
}

fn build(grants: &Grants, version: u32) -> io::Result<OwnedFd> {
    let network = if version >= 4 && !grants.network { TCP } else { 0 };
    let scopes = if version >= 6 { SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS } else { 0 };
    let builder = Builder {
        all: all(version),
        fd: ruleset(all(version), network, scopes, version)?,
        hidden: &grants.hidden,
    };
    let private = PRIVATE.iter().filter_map(|path| Path::new(path).canonicalize().ok());
    let apart: Vec<PathBuf> = grants.hidden.iter().cloned().chain(private).collect();
    builder.allow_but(Path::new("/"), READ, &apart)?;
    for path in KEPT {
        builder.allow(Path::new(path), READ)?;
    }
    for path in DEVICES {
        builder.allow(Path::new(path), READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | IOCTL_DEV)?;
    }
    builder.allow(Path::new("/dev/shm"), builder.all & !EXECUTE)?;
    for path in grants.home.iter().chain(&grants.readable) {
        builder.allow(path, READ)?;
    }
    for path in &grants.writable {
        builder.allow(path, builder.all)?;
    }
    Ok(builder.fd)
}

struct Builder<'a> {
    all: u64,
    fd: OwnedFd,
    hidden: &'a [PathBuf],
}

impl Builder<'_> {
    /// Grants what is at `path`, but for what is hidden.
    fn allow(&self, path: &Path, access: u64) -> io::Result<()> {
        self.allow_but(path, access, self.hidden)
    }

    fn allow_but(&self, path: &Path, access: u64, apart: &[PathBuf]) -> io::Result<()> {
        let Ok(path) = path.canonicalize() else { return Ok(()) };
        if apart.iter().any(|hidden| path.starts_with(hidden)) {
            return Ok(());
        }
        if !apart.iter().any(|hidden| hidden.starts_with(&path)) {
            return self.rule(&path, access);
        }
        // The folder itself is not granted: that would grant what is hidden in it.
        let Ok(entries) = fs::read_dir(&path) else { return Ok(()) };
        for entry in entries.flatten() {
            // A link grants nothing by itself, and where it leads is granted where it is.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.allow_but(&entry.path(), access, apart)?;
            }
        }
        Ok(())
    }

    fn rule(&self, path: &Path, access: u64) -> io::Result<()> {
        let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { return Ok(()) };
        // Gone since, or not for us: then it cannot be granted.
        let Ok(file) = sys::open(&name, libc::O_PATH | libc::O_NOFOLLOW).map(own) else { return Ok(()) };
        let access = access & self.all & if path.is_dir() { u64::MAX } else { ON_FILES };
        match sys::landlock_allow(self.fd.as_raw_fd(), file.as_raw_fd(), access) {
            // Some files that the system makes up cannot have rules.
            Err(error) if error.raw_os_error() == Some(libc::EBADFD) => Ok(()),
            result => result,
        }
    }
}

impl Setup {
    /// In the forked child: builds the walls around this process. Only system calls.
    pub(crate) fn apply(&self) -> io::Result<()> {
        super::limits::apply(&self.limits, false);
        sys::close_on_exec_from(3)?;
        sys::bound_capabilities(DAC_OVERRIDE);
        sys::drop_capabilities(DAC_OVERRIDE)?;
        sys::no_new_privileges()?;
        if let (Some(scope), Some(gone)) = (&self.scope, &self.gone) {
            post_warden(scope, gone)?;
        }
        sys::landlock_restrict(self.rules.as_raw_fd())?;
        sys::filter_calls(&self.filter)
    }

    /// What to wait for before looking at what the child left.
    pub(crate) fn gone(&self) -> Option<Gone> {
        self.gone.clone().map(Gone)
    }
}

/// Tells when the last process of a child is gone.
#[derive(Debug)]
pub(crate) struct Gone(Arc<OwnedFd>);

impl Gone {
    /// Waits a little, for the time that dying takes. To be called when the child itself ended.
    pub(crate) fn wait(&self) {
        sys::ready(self.0.as_raw_fd(), 500);
    }
}

/// Leaves a process behind that kills everything this one starts, once this one is gone: without a PID namespace
/// a child could leave its group and live on.
///
/// The warden and the child share a Landlock domain that no signal leaves, so that killing "everything" kills
/// just what was started here. The child then enters a domain inside that one, out of which it cannot reach the
/// warden.
fn post_warden(scope: &OwnedFd, gone: &OwnedFd) -> io::Result<()> {
    let covey = sys::parent_pid();
    let guarded = sys::pidfd(sys::own_pid())?;
    sys::landlock_restrict(scope.as_raw_fd())?;
    // Without an exit signal it is no child that `wait` would tell the program of.
    if let Fork::Parent(_) = sys::fork(0)? {
        sys::close(guarded);
        return Ok(());
    }
    // Whoever started us must be out of reach, or "everything" would mean everything.
    let confined = sys::may_not_signal(covey);
    sys::block_signals();
    sys::leave_session();
    sys::hide_memory().ok();
    let files = sys::renumber(guarded, 0).and_then(|()| sys::renumber(gone.as_raw_fd(), 1));
    sys::close_from(2);
    if files.is_ok() {
        sys::ready(0, -1);
    }
    if confined {
        // The kernel does this in one step: what is told to die does not fork any more.
        sys::kill(-1, libc::SIGKILL).ok();
    }
    sys::raise(1);
    sys::exit(0)
}
