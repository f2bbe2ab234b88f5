//! Whatever panics, the terminal is given back as it was.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use async_trait::async_trait;
use client::{Client, ClientError, EventStream, HostRequests, SessionList};
use protocol::{
    AgentId, HostAccepted, HostAnswer, HostOffer, Image, Mode, Op, Receipt, Reply, Request, SessionId,
};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use tui::{Options, Outside, Report, Theme};

/// Says to this very program that it is the one on the terminal.
const CHILD: &str = "COVEY_TUI_TEST_CHILD";

/// An engine that breaks wherever it is asked.
struct Broken;

#[async_trait]
impl Client for Broken {
    async fn read(&self, _: Request) -> Result<Reply, ClientError> {
        panic!("reading broke")
    }

    async fn submit(&self, _: Op) -> Result<Receipt, ClientError> {
        Ok(Receipt { session: "20260125-143052-a1b2c3d4".parse::<SessionId>().unwrap(), turn: None })
    }

    async fn events(&self, _: SessionId, _: u64) -> Result<EventStream, ClientError> {
        panic!("following broke")
    }

    async fn sessions(&self) -> Result<SessionList, ClientError> {
        panic!("listing broke")
    }

    async fn offer_host(
        &self,
        _: SessionId,
        _: HostOffer,
    ) -> Result<(HostAccepted, HostRequests), ClientError> {
        panic!("offering broke")
    }

    async fn answer_host(&self, _: SessionId, _: u64, _: HostAnswer) -> Result<(), ClientError> {
        panic!("answering broke")
    }
}

/// A machine that has nothing.
struct Nothing;

#[async_trait]
impl Outside for Nothing {
    fn edit(&self, _: &str) -> io::Result<String> {
        Err(io::ErrorKind::Unsupported.into())
    }

    async fn branch(&self) -> Option<String> {
        None
    }

    async fn image(&self, _: &Path) -> Result<Image, String> {
        Err("none".to_owned())
    }

    async fn clipboard_image(&self) -> Result<Image, String> {
        Err("none".to_owned())
    }

    async fn copy(&self, _: &str) -> bool {
        false
    }

    async fn notify(&self, _: &str, _: &str) {}

    async fn report(&self, _: Report, _: Option<&SessionId>) -> Result<String, ClientError> {
        Ok(String::new())
    }

    async fn write(&self, _: &Path, _: &str) -> Result<String, String> {
        Err("no".to_owned())
    }

    async fn keep_setting(&self, _: &str, _: &str) -> Result<(), String> {
        Ok(())
    }
}

/// The program on the terminal; nothing when this is the test itself.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let options = Options {
        folders: vec![],
        cwd: "/".to_owned(),
        place: "/".to_owned(),
        branch: None,
        agent: AgentId::new("native"),
        model: None,
        mode: Mode::Ask,
        session: None,
        theme: Theme::Plain,
        vim: false,
        full: false,
        mouse: false,
        notify: false,
        pictures: false,
        keys: vec![],
        state_dir: None,
        notes: vec![],
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(tui::run(Arc::new(Broken), Arc::new(Nothing), options)).unwrap();
}

struct Screen {
    child: Child,
    master: File,
    seen: String,
}

impl Screen {
    fn open() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let stream = || Stdio::from(slave.try_clone().unwrap());
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "panics::child", "--nocapture"])
            .env(CHILD, "1")
            .env_remove("RUST_BACKTRACE")
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .unwrap();
        Self { child, master: File::from(master), seen: String::new() }
    }

    /// Reads until this was written, and forgets what came before.
    fn sees(&mut self, text: &str) {
        let mut buffer = [0; 4096];
        while !self.seen.contains(text) {
            let read = self.master.read(&mut buffer);
            let length = read.unwrap_or_else(|error| panic!("{text}: {error} after {}", self.seen));
            self.seen.push_str(&String::from_utf8_lossy(&buffer[..length]));
        }
        let at = self.seen.find(text).unwrap() + text.len();
        self.seen.drain(..at);
    }

    fn keys(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    fn is_raw(&self) -> bool {
        !tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ICANON)
    }
}

#[test]
fn a_panic_of_the_ui_gives_the_terminal_back_and_says_why() {
    let mut screen = Screen::open();
    screen.sees("ask, or");
    assert!(screen.is_raw());
    screen.keys("hello\r");
    // First everything is switched off, then the reason is told, on a terminal that shows it.
    for off in ["\x1b[<u", "\x1b[?2004l", "\x1b[?7h", "\x1b[?25h", "following broke"] {
        screen.sees(off);
    }
    assert!(!screen.is_raw());
    assert!(!screen.child.wait().unwrap().success());
}

#[test]
fn a_panic_elsewhere_is_told_and_the_ui_goes_on() {
    let mut screen = Screen::open();
    screen.sees("ask, or");
    screen.keys("/tools\r");
    screen.sees("reading broke");
    assert!(screen.is_raw());
    screen.keys("still here");
    screen.sees("still here");
    screen.keys("\x15\x04");
    screen.sees("\x1b[?2004l");
    assert!(screen.child.wait().unwrap().success());
}
