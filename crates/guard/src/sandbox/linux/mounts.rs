//! The files of a child, as a list of steps.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use libc::c_int;

use super::sys;
use crate::sandbox::view::{Access, Expect, Mount};

/// What turns the mounts of a namespace into those that a child is to see.
pub(super) struct Steps(Vec<Step>);

enum Step {
    Bind { source: CString, target: CString, access: Access, expect: Option<Expect>, tree: c_int },
    Memory(CString),
    Terminals,
}

impl Steps {
    /// Those of a view but `/proc`, which is [another matter](mount_processes).
    pub(super) fn new(view: Vec<Mount>) -> io::Result<Self> {
        view.into_iter().filter_map(|mount| Step::new(mount).transpose()).collect::<io::Result<_>>().map(Self)
    }

    /// To be taken in a mount namespace of our own. Allocates nothing.
    pub(super) fn take(&mut self) -> io::Result<()> {
        sys::keep_mounts_private()?;
        // Everything is picked up where it is now, before anything covers it.
        for step in &mut self.0 {
            if let Step::Bind { source, tree, .. } = step {
                *tree = sys::copy_tree(source)?;
            }
        }
        sys::restrict_tree(libc::AT_FDCWD, c"/", sys::READ_ONLY | sys::NO_SETUID | sys::NO_DEVICES)?;
        self.0.iter().try_for_each(Step::take)
    }

    /// Which mount is seen in each place that something was put. Nothing can be seen of one that is covered.
    pub(super) fn seen(&self) -> impl Iterator<Item = Option<u64>> {
        self.0.iter().filter_map(|step| match step {
            Step::Bind { target, .. } => Some(sys::mount_at(target).ok()),
            Step::Memory(_) | Step::Terminals => None,
        })
    }
}

impl Step {
    fn new(mount: Mount) -> io::Result<Option<Self>> {
        Ok(Some(match mount {
            Mount::Bind { source, target, access, expect } => Self::Bind {
                source: terminated(&source)?,
                target: terminated(&target)?,
                access,
                expect,
                tree: -1,
            },
            Mount::Memory(target) => Self::Memory(terminated(&target)?),
            Mount::Terminals => Self::Terminals,
            Mount::Processes => return Ok(None),
        }))
    }

    fn take(&self) -> io::Result<()> {
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
            Self::Memory(target) => {
                sys::mount(c"tmpfs", target, libc::MS_NOSUID | libc::MS_NODEV, c"mode=1777")
            }
            Self::Terminals => {
                let flags = libc::MS_NOSUID | libc::MS_NOEXEC;
                sys::mount(c"devpts", c"/dev/pts", flags, c"newinstance,ptmxmode=0666,mode=0620")
            }
        }
    }
}

/// Shows the processes of our PID namespace in `/proc`. `most` is how many there may be.
pub(super) fn mount_processes(most: Option<&[u8]>) -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    sys::mount(c"proc", c"/proc", flags, c"")?;
    if let Some(most) = most {
        sys::write_file(c"/proc/sys/kernel/pid_max", most).ok();
    }
    // To root's number, if not to its rights, settings of the kernel would be writable.
    sys::restrict_tree(libc::AT_FDCWD, c"/proc", sys::READ_ONLY)
}

pub(super) fn terminated(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(io::Error::other)
}
