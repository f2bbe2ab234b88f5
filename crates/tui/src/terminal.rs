//! The terminal itself: into raw mode and back, whatever happens.

mod input;
mod output;
mod panics;

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

pub(crate) use input::Input;
pub(crate) use output::Output;
pub(crate) use panics::{Guard, told};

use crate::paint::Size;

/// Bracketed paste, focus, the kitty keyboard protocol, no wrapping by the terminal.
const ENTER: &str = "\x1b[?2004h\x1b[?1004h\x1b[>1u\x1b[?7l";
/// All of it off, the cursor on, colours as they were.
const LEAVE: &str = "\x1b[?2026l\x1b[<u\x1b[?1004l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[m";
const ENTER_FULL: &str = "\x1b[?1049h\x1b[H\x1b[2J";
const LEAVE_FULL: &str = "\x1b[?1000l\x1b[?1006l\x1b[?1049l";
const MOUSE: &str = "\x1b[?1000h\x1b[?1006h";
const ASK_BACKGROUND: &str = "\x1b]11;?\x1b\\";

/// What has to be put back. Global, because a panic or a signal has nothing else to go by.
static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

struct Taken {
    modes: Termios,
    full: bool,
}

/// Takes the terminal. Without one this is an error.
pub(crate) fn take(full: bool, mouse: bool) -> io::Result<()> {
    panics::keep();
    let stdin = rustix::stdio::stdin();
    let modes = tcgetattr(stdin)?;
    let mut raw = modes.clone();
    raw.make_raw();
    tcsetattr(stdin, OptionalActions::Now, &raw)?;
    *taken() = Some(Taken { modes, full });
    let mut begin = String::new();
    if full {
        begin.push_str(ENTER_FULL);
        if mouse {
            begin.push_str(MOUSE);
        }
    }
    begin.push_str(ENTER);
    write_now(begin.as_bytes())
}

/// The bytes that go to the whole screen, or back from it. The way home is remembered.
pub(crate) fn switch(full: bool, mouse: bool) -> &'static str {
    if let Some(taken) = taken().as_mut() {
        taken.full = full;
    }
    match (full, mouse) {
        (true, true) => "\x1b[?1049h\x1b[H\x1b[2J\x1b[?1000h\x1b[?1006h",
        (true, false) => ENTER_FULL,
        (false, _) => LEAVE_FULL,
    }
}

pub(crate) fn ask_background() -> &'static str {
    ASK_BACKGROUND
}

/// Gives it back. Doing so twice does no harm.
pub(crate) fn restore() {
    let Some(taken) = taken().take() else { return };
    if taken.full {
        // A terminal that is gone needs nothing.
        let _ = write_now(LEAVE_FULL.as_bytes());
    }
    let _ = write_now(LEAVE.as_bytes());
    let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &taken.modes);
}

fn taken() -> std::sync::MutexGuard<'static, Option<Taken>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether it is ours, as we made it: a shell that had it in between has made it its own.
pub(crate) fn is_held() -> bool {
    let raw = tcgetattr(rustix::stdio::stdin())
        .is_ok_and(|modes| !modes.local_modes.contains(rustix::termios::LocalModes::ICANON));
    raw && is_taken()
}

fn is_taken() -> bool {
    taken().is_some()
}

/// A few bytes, but only to a terminal that takes them: one that is stopped must not hold us up.
fn write_now(bytes: &[u8]) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = io::stdout();
    let mut wanted = [PollFd::new(&stdout, PollFlags::OUT)];
    let patience = Timespec { tv_sec: 0, tv_nsec: 300_000_000 };
    if poll(&mut wanted, Some(&patience))? == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    let mut out = stdout.lock();
    out.write_all(bytes)?;
    out.flush()
}

/// As the terminal says; a page where it does not.
pub(crate) fn size() -> Size {
    let size = tcgetwinsize(rustix::stdio::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
    let (columns, rows) = size.map_or((80, 24), |size| (size.ws_col, size.ws_row));
    Size { columns: usize::from(columns), rows: usize::from(rows) }
}

/// Stops this program, as Ctrl-Z does elsewhere; returns when it is continued.
pub(crate) fn suspend() {
    // The whole job stops, so that the shell gets the terminal.
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
}
