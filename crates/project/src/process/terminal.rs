//! A terminal of a child's own, for programs that look for one before they print as to a person.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};

/// How many characters fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    pub columns: u16,
    pub rows: u16,
}

/// Ctrl-D: nothing more is typed.
const END_OF_INPUT: u8 = 4;
const BLOCK: usize = 16 * 1024;

/// Our end of it: what the child prints comes out, what is written here is as if it were typed.
#[derive(Debug)]
pub struct Terminal {
    output: Receiver,
    keyboard: Sender,
    /// Whether what was typed last ended a line; Ctrl-D in the middle of one only hands that over.
    at_line_start: bool,
}

/// Both ends: ours, and the one that becomes a child's three streams.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) ours: OwnedFd,
    theirs: File,
}

impl Pair {
    pub(super) fn open(size: TerminalSize) -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        // In one step where the system can: another child may be started this very moment.
        #[cfg(target_os = "linux")]
        let flags = flags | OpenptFlags::CLOEXEC;
        let ours = openpt(flags)?;
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let name = ptsname(&ours, Vec::new())?;
        // It must not become our own terminal.
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs = rustix::fs::open(name.as_c_str(), flags, Mode::empty())?;
        let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&theirs, size)?;
        rustix::io::ioctl_fionbio(&ours, true)?;
        Ok(Self { ours, theirs: theirs.into() })
    }

    /// One of the child's streams.
    pub(super) fn stream(&self) -> io::Result<OwnedFd> {
        Ok(self.theirs.try_clone()?.into())
    }
}

impl Terminal {
    pub(super) fn new(ours: OwnedFd) -> io::Result<Self> {
        let ours = File::from(ours);
        // Not a pipe, but read, written and waited for like one.
        let keyboard = Sender::from_file_unchecked(ours.try_clone()?)?;
        Ok(Self { output: Receiver::from_file_unchecked(ours)?, keyboard, at_line_start: true })
    }

    /// The next piece that was printed. None when nobody has the other end open any more, which Linux tells as an error.
    /// Cancel safe.
    pub async fn read(&mut self) -> Option<Vec<u8>> {
        let mut buffer = vec![0; BLOCK];
        let read = self.output.read(&mut buffer).await.ok()?;
        buffer.truncate(read);
        Some(buffer).filter(|piece| !piece.is_empty())
    }

    /// What is there already, without waiting; nothing when that is nothing.
    pub fn read_rest(&mut self) -> Option<Vec<u8>> {
        let mut buffer = vec![0; BLOCK];
        // Asked of the system itself: what the runtime knows of it may be a moment old.
        let read = rustix::io::read(&self.output, &mut buffer).ok()?;
        buffer.truncate(read);
        Some(buffer).filter(|piece| !piece.is_empty())
    }

    /// Types something; false when nobody is there to read it.
    pub async fn write(&mut self, bytes: &[u8]) -> bool {
        if let Some(last) = bytes.last() {
            self.at_line_start = *last == b'\n';
        }
        self.keyboard.write_all(bytes).await.is_ok()
    }

    /// Says that nothing more is typed, as a person does.
    pub fn end_input(&mut self) {
        let keys = if self.at_line_start { &[END_OF_INPUT][..] } else { &[END_OF_INPUT, END_OF_INPUT] };
        // One that is full or gone reads no end either.
        rustix::io::write(&self.keyboard, keys).ok();
        self.at_line_start = true;
    }
}
