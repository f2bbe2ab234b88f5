//! Ctrl-C, a polite kill, or the terminal going away.

use std::future::pending;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::{Exit, Failure};

pub(crate) struct Interrupts {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hangup: Option<Signal>,
    quit: bool,
}

impl Interrupts {
    /// Listens for what is not ignored already: `nohup` means it.
    pub(crate) fn new() -> Result<Self, Failure> {
        let ignored = ignored_signals();
        let listen = |kind: SignalKind| -> Result<Option<Signal>, Failure> {
            let is_ignored = ignored >> (kind.as_raw_value() - 1) & 1 == 1;
            Ok(if is_ignored { None } else { Some(signal(kind)?) })
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
            quit: false,
        })
    }

    pub(crate) async fn next(&mut self) {
        tokio::select! {
            () = received(&mut self.interrupt) => {}
            () = received(&mut self.terminate) => {}
            () = received(&mut self.hangup) => {}
        }
        if self.quit {
            std::process::exit(Exit::Cancelled as i32);
        }
    }

    pub(crate) fn quit_on_next(&mut self) {
        self.quit = true;
    }
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => pending().await,
    }
}

/// The signals that whoever started us chose to ignore, a bit each. Where the system does not tell, none.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
