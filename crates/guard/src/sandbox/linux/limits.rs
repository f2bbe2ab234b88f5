//! Bounds on what a child uses.

use libc::c_uint;

use super::sys;
use crate::sandbox::policy::Limits;

/// In the forked child. What the system refuses stays unbounded.
///
/// Processes are counted for each user, browsers and all, so a bound makes sense only in a user namespace, where
/// just those inside count. Root's are never counted.
pub(super) fn apply(limits: &Limits, in_user_namespace: bool) {
    sys::limit(libc::RLIMIT_CORE as c_uint, 0);
    if let Some(memory) = limits.memory {
        sys::limit(libc::RLIMIT_DATA as c_uint, memory);
    }
    if let Some(processes) = limits.processes.filter(|_| in_user_namespace) {
        sys::limit(libc::RLIMIT_NPROC as c_uint, processes.into());
    }
}
