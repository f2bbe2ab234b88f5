//! A copy of a process that has one thread.
#![expect(unsafe_code, reason = "`clone` is; only a starter calls it, which has no other threads")]

use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr::null;

use rustix::fs::{Mode, OFlags};

/// What [`beside`] tells.
pub(super) enum Fork {
    Child,
    Parent(i32),
}

/// A copy of this process that is a child of our parent, as we are ourselves. `apart` are namespaces that it has new.
pub(super) fn beside(apart: i32) -> io::Result<Fork> {
    let flags = libc::CLONE_PARENT | libc::SIGCHLD | apart;
    // SAFETY: no memory is shared and the stack is copied, as in a plain fork. There is no other thread that could hold
    // a lock, so the copy may do whatever we may.
    let pid = unsafe {
        libc::syscall(libc::SYS_clone, flags, null::<u8>(), null::<u8>(), null::<u8>(), null::<u8>())
    };
    match i32::try_from(pid) {
        Ok(0) => Ok(Fork::Child),
        Ok(pid @ 1..) => Ok(Fork::Parent(pid)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Closes every file of this process but one. The standard streams lead nowhere then.
pub(super) fn keep_only(file: &impl AsRawFd) -> io::Result<()> {
    let file = file.as_raw_fd().cast_unsigned();
    for (first, last) in [(0, file.saturating_sub(1)), (file + 1, u32::MAX)] {
        // SAFETY: takes no pointers. A starter has no other files; those of a copy are used by who was copied.
        if unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // Each takes the lowest number that is free, and stays open in what is started.
    for _ in 0..3 {
        let nothing = rustix::fs::open(c"/dev/null", OFlags::RDWR, Mode::empty())?;
        let _ = nothing.into_raw_fd();
    }
    Ok(())
}

/// Ends this process at once: nothing that was copied is flushed or dropped.
pub(super) fn exit(status: i32) -> ! {
    // SAFETY: does not return.
    unsafe { libc::_exit(status) }
}
