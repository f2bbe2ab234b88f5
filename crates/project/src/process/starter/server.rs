//! The starter itself: a process with one thread and next to no memory.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::sockopt::{Timeout, set_socket_timeout};

use super::fork::{self, Fork};
use super::order::Ordered;
use super::wire::{self, Told};
use crate::process::walls::Place;

/// Told once, when it listens.
pub(super) const READY: i32 = 0;
/// Told instead of the number of a process where none could be made.
const NOTHING: i32 = -1;
/// The same, because the place is no longer what it was.
pub(super) const UNSOUND: i32 = -2;
/// What the system lets through at once is less.
const LONGEST: usize = 1 << 20;

/// What an order begins with: to start a program, or another starter further in.
pub(super) const START: &[u8] = b"start";
pub(super) const ENTER: &[u8] = b"enter";

/// Starts what it is told until nobody is there to tell it. Standard input is the way to who does.
pub(super) fn serve(outside: &dyn Place) -> ! {
    // Keys of a terminal are for whoever uses it, and what is started here does not write over it.
    rustix::process::setsid().ok();
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3).map_err(io::Error::from);
    let done = socket.and_then(|socket| {
        fork::keep_only(&socket)?;
        listen(&socket, outside)
    });
    std::process::exit(i32::from(done.is_err()))
}

fn listen(socket: &OwnedFd, place: &dyn Place) -> io::Result<()> {
    let mut buffer = vec![0; LONGEST];
    if let Some(patience) = place.stays() {
        set_socket_timeout(socket, Timeout::Recv, Some(patience))?;
    }
    answer(socket, READY)?;
    loop {
        let mut files = Vec::new();
        let length = match wire::receive(socket, &mut buffer, &mut files) {
            Ok(Some(length)) => length,
            Ok(None) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut told = Told(&buffer[..length]);
        let done = match told.word()? {
            START if place.is_sound() => start(told, files, place),
            START => Ok(UNSOUND),
            ENTER => enter(told, files, place),
            _ => Err(io::ErrorKind::InvalidData.into()),
        };
        answer(socket, done.unwrap_or(NOTHING))?;
    }
}

fn start(told: Told<'_>, files: Vec<OwnedFd>, place: &dyn Place) -> io::Result<i32> {
    let order = Ordered::decode(told, files, place)?;
    match fork::beside(place.apart())? {
        Fork::Parent(pid) => Ok(pid),
        Fork::Child => {
            order.carry_out();
            fork::exit(1)
        }
    }
}

/// Makes a starter that is further in, and listens at the socket that came along.
fn enter(mut told: Told<'_>, files: Vec<OwnedFd>, place: &dyn Place) -> io::Result<i32> {
    let socket = files.into_iter().next().ok_or(io::ErrorKind::InvalidData)?;
    let place_told = told.word()?;
    match fork::beside(0)? {
        Fork::Parent(pid) => Ok(pid),
        Fork::Child => {
            let done = fork::keep_only(&socket)
                .and_then(|()| place.enter(place_told))
                .and_then(|place| listen(&socket, &*place));
            fork::exit(i32::from(done.is_err()))
        }
    }
}

fn answer(socket: &OwnedFd, number: i32) -> io::Result<()> {
    Ok(wire::send(socket, &number.to_le_bytes(), &[])?)
}
