//! The terminal UI: the real binary on a real pseudo-terminal, and a terminal emulator that looks at it.

mod stories;

use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::world::{PATIENCE, World};

/// `covey` on a terminal.
pub(crate) struct Talk {
    master: File,
    child: tokio::process::Child,
    bytes: UnboundedReceiver<Vec<u8>>,
    terminal: vt100::Parser,
    /// All that was written.
    log: Vec<u8>,
}

impl World {
    pub(crate) fn talk(&self, arguments: &[&str], columns: u16, rows: u16) -> Talk {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        set_size(&master, columns, rows);
        let stream = || Stdio::from(slave.try_clone().unwrap());
        let mut command = self.command(arguments);
        command.stdin(stream()).stdout(stream()).stderr(stream()).env("TERM", "xterm-256color");
        let child = command.spawn().unwrap();
        drop(slave);
        let master = File::from(master);
        let mut reader = master.try_clone().unwrap();
        let (sender, bytes) = unbounded_channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 64 << 10];
            // An error means that nobody has the other end any more.
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        let size = |n: u16| n.try_into().unwrap();
        Talk {
            master,
            child,
            bytes,
            terminal: vt100::Parser::new(size(rows), size(columns), 1000),
            log: vec![],
        }
    }
}

fn set_size(master: &impl std::os::fd::AsFd, columns: u16, rows: u16) {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).unwrap();
}

impl Talk {
    /// What is on the screen.
    pub(crate) fn screen(&self) -> String {
        let rows = self.terminal.screen().rows(0, self.terminal.screen().size().1.get());
        let rows: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// Reads until the screen is as wanted.
    pub(crate) async fn until(&mut self, what: &str, wanted: impl Fn(&str) -> bool) -> String {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let screen = self.screen();
            if wanted(&screen) {
                return screen;
            }
            match tokio::time::timeout_at(deadline, self.bytes.recv()).await {
                Ok(Some(bytes)) => {
                    self.terminal.process(&bytes);
                    self.log.extend(bytes);
                }
                _ => panic!("never saw {what} on:\n{screen}"),
            }
        }
    }

    pub(crate) async fn sees(&mut self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text)).await
    }

    pub(crate) async fn loses(&mut self, text: &str) -> String {
        self.until(&format!("the end of {text}"), |screen| !screen.contains(text)).await
    }

    pub(crate) fn keys(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    /// Types it and waits until it stands in the composer, then sends it.
    pub(crate) async fn ask(&mut self, text: &str) {
        self.keys(text);
        self.sees(&format!("› {text}")).await;
        self.keys("\r");
        self.until("an empty composer", |screen| !screen.contains(&format!("│ › {text}"))).await;
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        set_size(&self.master, columns, rows);
        self.terminal.screen_mut().set_size(rows.try_into().unwrap(), columns.try_into().unwrap());
        // The kernel tells only those whose own terminal it is.
        crate::world::signal(&self.child, rustix::process::Signal::WINCH);
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        crate::world::signal(&self.child, signal);
    }

    /// Bytes written so far.
    pub(crate) fn written(&self) -> usize {
        self.log.len()
    }

    /// Waits for the end: the exit code, and everything that was written.
    pub(crate) async fn end(mut self) -> (Option<i32>, String) {
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await.expect("covey hangs").unwrap();
        while let Some(bytes) = self.bytes.recv().await {
            self.log.extend(bytes);
        }
        (status.code(), String::from_utf8_lossy(&self.log).into_owned())
    }
}
