//! The terminal UI: the real binary on a real pseudo-terminal, and a terminal emulator that looks at it.

mod commands;
mod lifetime;
mod questions;
mod stories;

use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::{Arc, Condvar, Mutex};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
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
    /// Nobody reads what is written, as long as this says so.
    paused: Arc<(Mutex<bool>, Condvar)>,
}

impl World {
    pub(crate) fn talk(&self, arguments: &[&str], columns: u16, rows: u16) -> Talk {
        self.talk_with(arguments, columns, rows, &[])
    }

    /// The same with other variables than usual.
    pub(crate) fn talk_with(
        &self,
        arguments: &[&str],
        columns: u16,
        rows: u16,
        variables: &[(&str, &str)],
    ) -> Talk {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        set_size(&master, columns, rows);
        let stream = || Stdio::from(slave.try_clone().unwrap());
        let mut command = self.command(arguments);
        command.stdin(stream()).stdout(stream()).stderr(stream()).env("TERM", "xterm-256color");
        command.envs(variables.iter().copied());
        // A job of its own, as a shell would make it.
        command.process_group(0);
        let child = command.spawn().unwrap();
        drop(slave);
        let master = File::from(master);
        let mut reader = master.try_clone().unwrap();
        let (sender, bytes) = unbounded_channel();
        let paused = Arc::new((Mutex::new(false), Condvar::new()));
        let gate = paused.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 64 << 10];
            // An error means that nobody has the other end any more.
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
                drop(gate.1.wait_while(gate.0.lock().unwrap(), |paused| *paused).unwrap());
            }
        });
        let size = |n: u16| n.try_into().unwrap();
        Talk {
            master,
            child,
            bytes,
            terminal: vt100::Parser::new(size(rows), size(columns), 1000),
            log: vec![],
            paused,
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

    /// Reads until this was written, wherever it went.
    pub(crate) async fn wrote(&mut self, text: &str) {
        while !self.log().contains(text) {
            let next = tokio::time::timeout(PATIENCE, self.bytes.recv()).await;
            let bytes = next.ok().flatten().unwrap_or_else(|| panic!("{text:?} was never written"));
            self.terminal.process(&bytes);
            self.log.extend(bytes);
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

    /// From now on the terminal takes nothing more, or everything again.
    pub(crate) fn pause(&self, on: bool) {
        *self.paused.0.lock().unwrap() = on;
        self.paused.1.notify_all();
    }

    /// Whether keys reach the program one by one.
    pub(crate) fn is_raw(&self) -> bool {
        !tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ICANON)
    }

    /// Waits until the program is stopped, as by Ctrl-Z.
    pub(crate) async fn stopped(&self) {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let pid = Pid::from_raw(self.child.id().unwrap() as i32).unwrap();
        let wait = move || waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT);
        let waited = tokio::time::timeout(PATIENCE, tokio::task::spawn_blocking(wait)).await;
        waited.expect("it was never stopped").unwrap().unwrap();
    }

    /// What was written, as far as it was looked at.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&self.log).into_owned()
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
