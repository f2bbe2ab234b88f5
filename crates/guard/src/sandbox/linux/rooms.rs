//! Namespaces that the commands of a session share: users, network, IPC, names.
//!
//! A command still has its own processes and its own view of the files. What it shares with the others of its session
//! is an empty network, so that one finds the server that another started, and what takes the system longest to make.
//!
//! A room is kept by a process that does nothing in there. Only a starter has rooms: it has one thread, so it may make
//! processes of itself, and it ends when the program does.

use std::io;
use std::sync::{Mutex, PoisonError};

use libc::c_int;

use super::sys::{self, Fork};

/// Sessions beyond this many, the longest unused first, get another room when they come back.
const MOST: usize = 64;

/// All that is shared.
pub(super) const KINDS: c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

static ROOMS: Mutex<Vec<Room>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Room {
    number: u64,
    keeper: c_int,
    /// Opened once, closed when the keeper is let go.
    pidfd: c_int,
}

/// The keeper of a session's room, by its pidfd. Makes the room if need be.
pub(super) fn keeper(number: u64, make: impl FnOnce() -> io::Result<()>) -> io::Result<c_int> {
    let mut rooms = ROOMS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = rooms.iter().position(|room| room.number == number).map(|at| rooms.remove(at));
    let room = match known.filter(Room::is_kept) {
        Some(room) => room,
        None => Room::new(number, make)?,
    };
    let pidfd = room.pidfd;
    rooms.push(room);
    if rooms.len() > MOST {
        rooms.remove(0);
    }
    Ok(pidfd)
}

impl Room {
    fn new(number: u64, make: impl FnOnce() -> io::Result<()>) -> io::Result<Self> {
        let done = sys::event()?;
        let keeper = match sys::fork(libc::SIGCHLD) {
            Ok(Fork::Child) => keep(done, make),
            Ok(Fork::Parent(keeper)) => keeper,
            Err(error) => {
                sys::close(done);
                return Err(error);
            }
        };
        let room = sys::pidfd(keeper).map(|pidfd| Self { number, keeper, pidfd });
        // It tells when the room is made, or ends.
        let made = matches!(&room, Ok(room) if sys::either_ready(done, room.pidfd) == Some(done));
        sys::close(done);
        match made {
            true => room,
            false => Err(io::Error::from_raw_os_error(libc::EPERM)),
        }
    }

    fn is_kept(&self) -> bool {
        !sys::ready(self.pidfd, 0)
    }
}

impl Drop for Room {
    /// Commands that are in there stay.
    fn drop(&mut self) {
        sys::kill(self.keeper, libc::SIGKILL).ok();
        sys::wait(self.keeper).ok();
        sys::close(self.pidfd);
    }
}

/// The keeper.
fn keep(done: c_int, make: impl FnOnce() -> io::Result<()>) -> ! {
    if sys::die_with_parent().and_then(|()| make()).is_err() {
        sys::exit(1)
    }
    sys::raise(done);
    sys::close_from(0);
    sys::block_signals();
    loop {
        sys::pause();
    }
}
