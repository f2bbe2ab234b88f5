//! The starter itself: a process with one thread and next to no memory.

use std::io;
use std::os::fd::OwnedFd;

use super::fork::{self, Fork};
use super::order::Ordered;
use super::wire;
use crate::process::walls::BuildWalls;

/// Told once, when it listens.
pub(super) const READY: i32 = 0;
/// Told instead of the number of a process where none could be made.
const NOTHING: i32 = -1;
/// What the system lets through at once is less.
const LONGEST: usize = 1 << 20;

/// Starts what it is told until nobody is there to tell it. Standard input is the way to who does.
pub(super) fn serve(build: BuildWalls) -> ! {
    // Keys of a terminal are for whoever uses it, and what is started here does not write over it.
    rustix::process::setsid().ok();
    let done = listen(build);
    std::process::exit(i32::from(done.is_err()))
}

fn listen(build: BuildWalls) -> io::Result<()> {
    let socket: OwnedFd = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let mut buffer = vec![0; LONGEST];
    answer(&socket, READY)?;
    loop {
        let mut files = Vec::new();
        let Some(length) = wire::receive(&socket, &mut buffer, &mut files)? else { return Ok(()) };
        let order = Ordered::decode(&buffer[..length], files, build);
        let started = order.and_then(|order| match fork::beside()? {
            Fork::Child => {
                order.carry_out();
                fork::exit(1)
            }
            Fork::Parent(pid) => Ok(pid),
        });
        answer(&socket, started.unwrap_or(NOTHING))?;
    }
}

fn answer(socket: &OwnedFd, number: i32) -> io::Result<()> {
    Ok(wire::send(socket, &number.to_le_bytes(), &[])?)
}
