//! A child process and what it used, as the system counts it.
#![expect(
    unsafe_code,
    reason = "the standard library waits for a child without asking what it used; wait4 tells"
)]

use std::ffi::{c_int, c_long};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::run::Failure;
use crate::scratch;

/// Far more than any measure takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a child used from start to end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Used {
    pub(super) wall: Duration,
    /// Of all its threads, in user space and in the kernel.
    pub(super) cpu: Duration,
    /// The most memory that was resident at once, in bytes. The system counts what we had when it was started too,
    /// so this can not be below our own few megabytes.
    pub(super) peak: u64,
}

// As the C library lays them out.
#[cfg(not(target_vendor = "apple"))]
type Micros = c_long;
#[cfg(target_vendor = "apple")]
type Micros = c_int;

#[repr(C)]
#[derive(Default)]
struct TimeValue {
    seconds: c_long,
    micros: Micros,
}

#[repr(C)]
#[derive(Default)]
struct ResourceUsage {
    user: TimeValue,
    system: TimeValue,
    peak: c_long,
    others: [c_long; 13],
}

unsafe extern "C" {
    fn wait4(process: c_int, status: *mut c_int, options: c_int, used: *mut ResourceUsage) -> c_int;
}

/// Runs a command to its end, which has to be a good one.
pub(super) fn measure(command: &mut Command) -> Result<Used, Failure> {
    let started = Instant::now();
    let child = command.spawn().map_err(|error| Failure::new(format!("{}: {error}", shown(command))))?;
    let id = child.id();
    let (over, waiting) = mpsc::channel::<()>();
    let watchdog = thread::spawn(move || {
        if let Err(mpsc::RecvTimeoutError::Timeout) = waiting.recv_timeout(PATIENCE) {
            scratch::signal("KILL", &id.to_string());
        }
    });
    let (mut status, mut used) = (0, ResourceUsage::default());
    // SAFETY: both pointers are to locals of the layout that wait4 fills, and `child` is not waited for elsewhere.
    let waited = unsafe { wait4(id as c_int, &raw mut status, 0, &raw mut used) };
    let wall = started.elapsed();
    drop(over);
    // It has nothing to return, and can not panic.
    let _ = watchdog.join();
    if waited != id as c_int {
        return Err(Failure::new(format!("{}: {}", shown(command), std::io::Error::last_os_error())));
    }
    if status != 0 {
        return Err(Failure::new(format!("{} ended with status {status:#x}", shown(command))));
    }
    // macOS counts in bytes, everybody else in kilobytes.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    Ok(Used { wall, cpu: used.user.duration() + used.system.duration(), peak: used.peak as u64 * unit })
}

impl TimeValue {
    fn duration(&self) -> Duration {
        Duration::from_secs(self.seconds as u64) + Duration::from_micros(self.micros as u64)
    }
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    format!("`{}`", words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
}
