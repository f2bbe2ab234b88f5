//! Programs that the person uses at the terminal: an editor, a pager.

use std::ffi::OsStr;
use std::io;
use std::process::ExitStatus;

/// Runs a program with our terminal as its own and waits for it. Blocks.
///
/// It shares our process group, so that keys of the terminal reach it and the shell sees one job: it is the person's,
/// and ends when they end it. Everything else starts through [`command`](super::command).
pub fn run_in_foreground(
    program: impl AsRef<OsStr>,
    arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> io::Result<ExitStatus> {
    std::process::Command::new(program).args(arguments).status()
}
