//! The terminal UI on a pseudo-terminal: how soon it is there, what it costs, how fast it answers.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::measures::{Group, only_entry};
use super::report::{Line, Samples};
use super::stage::{Home, Stage};
use crate::run::Failure;

const STARTS: usize = 10;
const KEYS: usize = 60;
const DELTAS: usize = 5_000;
/// About 100,000 events.
const LONG: &str = "24000000";
const PATIENCE: Duration = Duration::from_secs(60);
/// The status line is the last thing of a frame.
const READY: &str = "? keys";
const MB: f64 = 1e6;

pub(super) const GROUP: Group = Group {
    about: "the terminal UI",
    measures: &[
        "tui_ready_ms",
        "tui_ready_cpu_ms",
        "tui_idle_cpu_ms_per_s",
        "tui_rss_mb",
        "tui_echo_ms",
        "tui_5000_deltas_cpu_s",
        "tui_bytes_per_delta",
        "tui_open_long_ms",
    ],
    run: measure,
};

fn measure(stage: &mut Stage) -> Result<Vec<Line>, Failure> {
    let server = stage.server(&["--deltas", &DELTAS.to_string(), "--frame-writes"])?;
    let home = stage.home("screen", &server)?;
    let (mut ready, mut cpu) = (Vec::new(), Vec::new());
    for start in 0..=STARTS {
        let mut screen = Screen::open(stage, &home, &[])?;
        let took = screen.wait(READY)?;
        if start > 0 {
            ready.push(took.as_secs_f64() * 1e3);
            cpu.push(screen.cpu()?.as_secs_f64() * 1e3);
        }
        screen.leave()?;
    }

    let mut screen = Screen::open(stage, &home, &[])?;
    screen.wait(READY)?;
    // What was begun at the start comes to its end, and the person has not begun.
    screen.drain(Duration::from_secs(1));
    let before = screen.cpu()?;
    let idle_for = Duration::from_secs(2);
    screen.drain(idle_for);
    let idle = (screen.cpu()? - before).as_secs_f64() * 1e3 / idle_for.as_secs_f64();
    let resident = screen.resident()?;

    let mut echoes = Vec::new();
    for key in 0..KEYS {
        let letter = char::from(b'a' + (key % 26) as u8).to_string();
        let typed = Instant::now();
        screen.type_keys(&letter)?;
        screen.wait(&letter)?;
        echoes.push(typed.elapsed().as_secs_f64() * 1e3);
        screen.drain(Duration::from_millis(10));
    }
    screen.type_keys("\x15talk")?;
    screen.wait("talk")?;
    screen.drain(Duration::from_millis(100));
    let (cpu_before, bytes_before) = (screen.cpu()?, screen.bytes);
    screen.type_keys("\r")?;
    screen.wait("esc stop")?;
    screen.wait(READY)?;
    let stream_cpu = (screen.cpu()? - cpu_before).as_secs_f64();
    let bytes = (screen.bytes - bytes_before) as f64 / DELTAS as f64;
    screen.leave()?;

    let long = stage.home("long", &server)?;
    let folder = stage.path().join("long/sessions");
    stage.example("sessions", "make_log", &["--sessions-dir", &folder.to_string_lossy(), "--bytes", LONG])?;
    let id = only_entry(&folder)?;
    let mut opens = Vec::new();
    for _ in 0..5 {
        let mut screen = Screen::open(stage, &long, &["--session", &id])?;
        opens.push(screen.wait("●")?.as_secs_f64() * 1e3);
        screen.leave()?;
    }

    let echo = Samples::new(echoes);
    Ok(vec![
        Line::median("tui_ready_ms", &Samples::new(ready), "ms", Some(80.0)),
        Line::median("tui_ready_cpu_ms", &Samples::new(cpu), "ms", Some(25.0)),
        Line::new("tui_idle_cpu_ms_per_s", idle, "ms", Some(0.5)),
        Line::new("tui_rss_mb", resident as f64 / MB, "MB", Some(40.0)),
        Line::median("tui_echo_ms", &echo, "ms", Some(8.0)),
        Line::new("tui_5000_deltas_cpu_s", stream_cpu, "s", Some(0.3))
            .note("one write for each delta, engine included"),
        Line::new("tui_bytes_per_delta", bytes, "bytes", Some(60.0)),
        Line::median("tui_open_long_ms", &Samples::new(opens), "ms", Some(300.0)),
    ])
}

/// `covey` on a terminal of its own.
struct Screen {
    master: File,
    child: Child,
    output: Receiver<Vec<u8>>,
    started: Instant,
    /// What was written and not looked at yet.
    unread: Vec<u8>,
    bytes: usize,
}

impl Screen {
    fn open(stage: &Stage, home: &Home, words: &[&str]) -> Result<Self, Failure> {
        let failed = |error: rustix::io::Errno| Failure::new(format!("no pseudo-terminal: {error}"));
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).map_err(failed)?;
        grantpt(&master).map_err(failed)?;
        unlockpt(&master).map_err(failed)?;
        let name = ptsname(&master, Vec::new()).map_err(failed)?;
        let slave = File::options().read(true).write(true).open(&*name.to_string_lossy())?;
        let size = Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).map_err(failed)?;
        let mut command: Command = stage.covey(home, words)?;
        command.env("TERM", "xterm-256color");
        command.stdin(Stdio::from(slave.try_clone()?)).stdout(Stdio::from(slave.try_clone()?));
        let started = Instant::now();
        let child = command.spawn()?;
        drop((command, slave));
        let master = File::from(master);
        let mut reader = master.try_clone()?;
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 64 << 10];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Ok(Self { master, child, output, started, unread: vec![], bytes: 0 })
    }

    /// Until `text` is written; answers how long after the start that was.
    fn wait(&mut self, text: &str) -> Result<Duration, Failure> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let found = self.unread.windows(text.len()).position(|window| window == text.as_bytes());
            if let Some(at) = found {
                self.unread.drain(..at + text.len());
                return Ok(self.started.elapsed());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.take(bytes),
                Err(_) => {
                    let seen = String::from_utf8_lossy(&self.unread).into_owned();
                    return Err(Failure::new(format!("`{text}` was never written after `{seen}`")));
                }
            }
        }
    }

    /// Reads for so long, and forgets it.
    fn drain(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        while let Ok(bytes) = self.output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            self.take(bytes);
        }
        self.unread.clear();
    }

    fn take(&mut self, bytes: Vec<u8>) {
        self.bytes += bytes.len();
        self.unread.extend(bytes);
    }

    fn type_keys(&mut self, keys: &str) -> Result<(), Failure> {
        self.unread.clear();
        Ok(self.master.write_all(keys.as_bytes())?)
    }

    /// What its threads used so far, to the nanosecond.
    fn cpu(&self) -> Result<Duration, Failure> {
        let mut nanos = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let told = fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
            nanos += told.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or_default();
        }
        Ok(Duration::from_nanos(nanos))
    }

    fn resident(&self) -> Result<u64, Failure> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes
            .map(|count| count * 1024)
            .ok_or_else(|| Failure::new("the system does not say how much is resident"))
    }

    fn leave(mut self) -> Result<(), Failure> {
        // Clears what is written, then twice to leave.
        self.type_keys("\x15")?;
        self.drain(Duration::from_millis(30));
        self.type_keys("\x03\x03")?;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            self.drain(Duration::from_millis(20));
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
        }
        self.child.kill()?;
        Err(Failure::new("covey did not leave"))
    }
}
