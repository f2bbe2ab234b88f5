//! Starting programs, and hearing what they say.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::{Grants, HostError};
use crate::confine::Roots;
use crate::process::{Child, Command, Stream, Terminal, TerminalSize, command};

/// How long what is left in a pipe is read once the program is gone. Only what left its group can hold it open.
const DRAIN: Duration = Duration::from_millis(500);
const BLOCK: usize = 16 * 1024;

/// A program to be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    pub program: Program,
    pub cwd: PathBuf,
    /// Set over what the host hands down.
    pub env: Vec<(String, String)>,
    pub streams: Streams,
}

/// How one talks with a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// It is listened to and reads nothing.
    Out,
    /// It may be written to while it runs.
    InOut,
    /// It has a terminal, and may be written to.
    Terminal(TerminalSize),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Program {
    /// A command line for the host's shell.
    Shell(String),
    /// A program with its arguments.
    Argv(Vec<String>),
}

/// A program that runs.
#[async_trait]
pub trait Running: Send {
    /// The next piece of what it writes, to standard output and error alike. None when it ended and all was read.
    async fn output(&mut self) -> Option<Vec<u8>>;

    /// Waits until it ended. Whatever it left running ends too.
    async fn exit(&mut self) -> Exit;

    /// Writes to its standard input; false when it does not listen any more.
    async fn write(&mut self, bytes: &[u8]) -> bool;

    /// Says that nothing more will be written.
    fn close_input(&mut self);

    /// Asks it to end, and after `grace` ends it.
    async fn stop(&mut self, grace: Duration);
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// The system does not tell.
    Unknown,
}

/// Who starts the programs of a local host: as they are, or locked in.
pub trait Launcher: Send + Sync {
    /// Starts `command`, whose streams are set up, with these roots and no more than was granted beside them.
    fn launch(&self, command: Command, roots: &Roots, grants: &Grants) -> Result<Child, HostError>;

    /// Whether it locks them in.
    fn confines(&self) -> bool {
        true
    }
}

/// Starts programs as this process runs.
pub struct Unconfined;

impl Launcher for Unconfined {
    fn launch(&self, mut command: Command, _roots: &Roots, _grants: &Grants) -> Result<Child, HostError> {
        command.spawn().map_err(|error| HostError::NotStarted(error.to_string()))
    }

    fn confines(&self) -> bool {
        false
    }
}

pub(super) fn start(
    launcher: &dyn Launcher,
    roots: &Roots,
    grants: &Grants,
    task: Task,
) -> Result<Box<dyn Running>, HostError> {
    let cwd = roots.resolve(&task.cwd, roots.main())?;
    let mut child = match &task.program {
        Program::Shell(line) => {
            let mut shell = command("/bin/bash");
            if !std::path::Path::new("/bin/bash").exists() {
                shell = command("/bin/sh");
            }
            shell.arg("-c").arg(line);
            shell
        }
        Program::Argv(words) => {
            let Some((program, arguments)) = words.split_first() else {
                return Err(HostError::NotStarted("no program is named".to_owned()));
            };
            let mut child = command(program);
            child.args(arguments);
            child
        }
    };
    child.cwd(cwd.absolute()).envs(task.env.iter().map(|(name, value)| (name, value)));
    match task.streams {
        Streams::Terminal(size) => {
            let made = child.terminal(size).map(drop);
            made.map_err(|error| HostError::NotStarted(format!("there is no terminal to be had: {error}")))?;
        }
        Streams::InOut => drop(child.stdin(Stream::Piped).stdout(Stream::Piped).stderr(Stream::Piped)),
        Streams::Out => drop(child.stdout(Stream::Piped).stderr(Stream::Piped)),
    }
    let mut child = launcher.launch(child, roots, grants)?;
    match child.terminal.take() {
        Some(terminal) => Ok(Box::new(OnTerminal { child, terminal, exit: None })),
        None => Ok(Box::new(LocalProcess::new(child))),
    }
}

struct LocalProcess {
    child: Child,
    /// Kept apart: waiting for a child closes what it has.
    stdin: Option<ChildStdin>,
    stdout: Pipe<ChildStdout>,
    stderr: Pipe<ChildStderr>,
    exit: Option<Exit>,
}

impl LocalProcess {
    fn new(mut child: Child) -> Self {
        let (stdout, stderr) = (Pipe::new(child.stdout.take()), Pipe::new(child.stderr.take()));
        Self { stdin: child.stdin.take(), child, stdout, stderr, exit: None }
    }
}

#[async_trait]
impl Running for LocalProcess {
    async fn output(&mut self) -> Option<Vec<u8>> {
        loop {
            if self.stdout.is_done() && self.stderr.is_done() {
                return None;
            }
            let ended = self.exit.is_some();
            let piece = tokio::select! {
                biased;
                piece = self.stdout.next() => piece,
                piece = self.stderr.next() => piece,
                status = self.child.wait(), if !ended => {
                    self.exit = Some(Exit::of(status));
                    continue;
                }
                () = tokio::time::sleep(DRAIN), if ended => return None,
            };
            if piece.is_some() {
                return piece;
            }
        }
    }

    async fn exit(&mut self) -> Exit {
        match self.exit {
            Some(exit) => exit,
            None => {
                // Nobody can write any more, and it may wait for that.
                self.stdin = None;
                let exit = Exit::of(self.child.wait().await);
                *self.exit.insert(exit)
            }
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> bool {
        let Some(stdin) = &mut self.stdin else { return false };
        stdin.write_all(bytes).await.is_ok() && stdin.flush().await.is_ok()
    }

    fn close_input(&mut self) {
        self.stdin = None;
    }

    async fn stop(&mut self, grace: Duration) {
        if self.exit.is_none() {
            self.exit = Some(Exit::of(self.child.terminate(grace).await));
        }
    }
}

/// A program that has a terminal.
struct OnTerminal {
    child: Child,
    terminal: Terminal,
    exit: Option<Exit>,
}

#[async_trait]
impl Running for OnTerminal {
    async fn output(&mut self) -> Option<Vec<u8>> {
        loop {
            let ended = self.exit.is_some();
            if ended && let Some(rest) = self.terminal.read_rest() {
                return Some(rest);
            }
            tokio::select! {
                biased;
                piece = self.terminal.read() => return piece,
                status = self.child.wait(), if !ended => self.exit = Some(Exit::of(status)),
                () = tokio::time::sleep(DRAIN), if ended => return None,
            }
        }
    }

    async fn exit(&mut self) -> Exit {
        match self.exit {
            Some(exit) => exit,
            None => {
                let exit = Exit::of(self.child.wait().await);
                *self.exit.insert(exit)
            }
        }
    }

    async fn write(&mut self, bytes: &[u8]) -> bool {
        self.terminal.write(bytes).await
    }

    fn close_input(&mut self) {
        self.terminal.end_input();
    }

    async fn stop(&mut self, grace: Duration) {
        if self.exit.is_none() {
            self.exit = Some(Exit::of(self.child.terminate(grace).await));
        }
    }
}

impl Exit {
    fn of(status: std::io::Result<std::process::ExitStatus>) -> Self {
        use std::os::unix::process::ExitStatusExt;
        match status {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => Self::Code(code),
                (None, Some(signal)) => Self::Signal(signal),
                (None, None) => Self::Unknown,
            },
            Err(_) => Self::Unknown,
        }
    }
}

/// One stream of a child, until it ends.
struct Pipe<S> {
    stream: Option<S>,
    buffer: Vec<u8>,
}

impl<S: AsyncRead + Unpin> Pipe<S> {
    fn new(stream: Option<S>) -> Self {
        Self { stream, buffer: vec![0; BLOCK] }
    }

    fn is_done(&self) -> bool {
        self.stream.is_none()
    }

    /// The next piece; none once, when the stream ends, and never again after that.
    async fn next(&mut self) -> Option<Vec<u8>> {
        let Some(stream) = &mut self.stream else { return std::future::pending().await };
        match stream.read(&mut self.buffer).await {
            Ok(read @ 1..) => Some(self.buffer[..read].to_vec()),
            Ok(0) | Err(_) => {
                self.stream = None;
                None
            }
        }
    }
}
