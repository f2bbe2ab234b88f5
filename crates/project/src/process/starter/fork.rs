//! A copy of a process that has one thread.
#![expect(unsafe_code, reason = "`clone` is; only a starter calls it, which has no other threads")]

use std::io;
use std::ptr::null;

/// What [`beside`] tells.
pub(super) enum Fork {
    Child,
    Parent(i32),
}

/// A copy of this process that is a child of our parent, as we are ourselves.
pub(super) fn beside() -> io::Result<Fork> {
    let flags = libc::CLONE_PARENT | libc::SIGCHLD;
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

/// Ends this process at once: nothing that was copied is flushed or dropped.
pub(super) fn exit(status: i32) -> ! {
    // SAFETY: does not return.
    unsafe { libc::_exit(status) }
}
