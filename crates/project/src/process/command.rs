//! Describing a child process and starting it.

use std::ffi::OsStr;
use std::io::{self, PipeWriter};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use super::before_exec::{Announcement, Leads};
use super::child::{Child, Started};
#[cfg(target_os = "linux")]
use super::starter::{self, Order, Refusal};
use super::terminal::{Pair, TerminalSize};
use super::walls::{self, Walls};
use super::watcher::{self, StartError};

/// A child process to be: the only way Covey starts one.
///
/// The child leads a process group of its own and the whole group dies when the [`Child`] is waited for,
/// terminated or dropped, and also when Covey itself is killed.
///
/// Its three standard streams are closed (`/dev/null`) unless said otherwise: a child in its own group cannot
/// read the terminal, and must not write over a front end that draws on it.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    Command {
        inner: std::process::Command::new(program),
        streams: [Stream::Nothing; 3],
        cleared: false,
        terminal: None,
        walls: None,
        announcement: None,
    }
}

/// Where one of a child's standard streams leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Nowhere: `/dev/null`.
    Nothing,
    /// To us: [`Child`] has the other end.
    Piped,
    /// Where ours leads.
    Ours,
}

/// See [`command`].
#[derive(Debug)]
pub struct Command {
    inner: std::process::Command,
    streams: [Stream; 3],
    /// Whether nothing is inherited, which std does not tell.
    cleared: bool,
    /// Open until the start, which gives the child its end.
    terminal: Option<Pair>,
    /// Until `inner` has them.
    walls: Option<Walls>,
    /// Of children that are started by ourselves, which all others of this command are from then on.
    announcement: Option<Arc<Announcement>>,
}

impl Command {
    /// Adds one argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        self.inner.arg(argument);
        self
    }

    /// Adds arguments.
    pub fn args(&mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> &mut Self {
        self.inner.args(arguments);
        self
    }

    /// Sets one environment variable, over the inherited ones.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.inner.env(name, value);
        self
    }

    /// Sets environment variables, over the inherited ones.
    pub fn envs(
        &mut self,
        variables: impl IntoIterator<Item = (impl AsRef<OsStr>, impl AsRef<OsStr>)>,
    ) -> &mut Self {
        self.inner.envs(variables);
        self
    }

    /// Takes one variable out of what the child would inherit.
    pub fn env_remove(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.inner.env_remove(name);
        self
    }

    /// Inherits nothing. For anything that must not see the keys in our environment.
    pub fn env_clear(&mut self) -> &mut Self {
        self.inner.env_clear();
        self.cleared = true;
        self
    }

    /// Whether it inherits no variables from us.
    pub fn inherits_nothing(&self) -> bool {
        self.cleared
    }

    /// The folder the child starts in; ours unless set.
    pub fn cwd(&mut self, directory: impl AsRef<Path>) -> &mut Self {
        self.inner.current_dir(directory);
        self
    }

    /// Where its standard input comes from; nothing unless set.
    pub fn stdin(&mut self, stream: Stream) -> &mut Self {
        self.streams[0] = stream;
        self
    }

    /// Where its standard output goes; nowhere unless set.
    pub fn stdout(&mut self, stream: Stream) -> &mut Self {
        self.streams[1] = stream;
        self
    }

    /// Where its standard error goes; nowhere unless set.
    pub fn stderr(&mut self, stream: Stream) -> &mut Self {
        self.streams[2] = stream;
        self
    }

    /// Gives it a terminal instead of streams, of which it is the first process. [`Child::terminal`] is the other end.
    pub fn terminal(&mut self, size: TerminalSize) -> io::Result<&mut Self> {
        self.terminal = Some(Pair::open(size)?);
        Ok(self)
    }

    /// The description so far, for code that wraps it in another program (a sandbox) or prints it.
    pub fn as_std(&self) -> &std::process::Command {
        &self.inner
    }

    /// The same child as the last arguments of another program: `program arguments… this its-arguments…`.
    ///
    /// It starts in the same folder with the same streams and variables. To be called before
    /// [`before_exec`](Self::before_exec) and [`spawn`](Self::spawn), whose effects it does not carry over.
    pub fn wrapped_in<A: AsRef<OsStr>>(
        self,
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let mut inner = std::process::Command::new(program);
        inner.args(arguments).arg(self.inner.get_program()).args(self.inner.get_args());
        if self.cleared {
            inner.env_clear();
        }
        for (name, value) in self.inner.get_envs() {
            match value {
                Some(value) => inner.env(name, value),
                None => inner.env_remove(name),
            };
        }
        if let Some(folder) = self.inner.get_current_dir() {
            inner.current_dir(folder);
        }
        Self {
            inner,
            streams: self.streams,
            cleared: self.cleared,
            terminal: self.terminal,
            walls: None,
            announcement: None,
        }
    }

    /// Runs `hook` in the child, after it joined its group and told the watcher, and before it becomes its program.
    /// An error of the hook is an error of the start.
    ///
    /// # Safety
    /// As for [`std::os::unix::process::CommandExt::pre_exec`]: between `fork` and `exec` another thread's lock may be held
    /// for ever, so the hook may make system calls and nothing else; it must not allocate.
    #[expect(unsafe_code, reason = "the caller vouches for the hook")]
    pub unsafe fn before_exec(
        &mut self,
        hook: impl FnMut() -> io::Result<()> + Send + Sync + 'static,
    ) -> &mut Self {
        use std::os::unix::process::CommandExt;
        // Hooks run in the order they came. One that forks must find the child registered.
        self.announce();
        // SAFETY: the caller's.
        unsafe { self.inner.pre_exec(hook) };
        self
    }

    /// Builds walls around the child, after it joined its group and told the watcher. Like
    /// [`before_exec`](Self::before_exec), but what is to be done can be told to a process that starts it for us.
    ///
    /// # Safety
    /// As for [`before_exec`](Self::before_exec), of the hooks that the walls are built of.
    #[expect(unsafe_code, reason = "the caller vouches for the hook")]
    pub unsafe fn within(&mut self, walls: Walls) -> &mut Self {
        self.walls = Some(walls);
        self
    }

    /// Starts the child. Takes about a millisecond and must be called inside a tokio runtime with I/O.
    pub fn spawn(&mut self) -> Result<Child, SpawnError> {
        let started = watcher::spawn(&mut |pipe, token| self.start(pipe, token));
        // As long as we hold the child's end too, ours never ends.
        let terminal = self.terminal.take().map(|pair| pair.ours);
        match started {
            Ok((process, token)) => Child::new(process, token, terminal)
                .map_err(|source| SpawnError::Failed { program: self.program(), source }),
            Err(StartError::Watcher(source)) => Err(SpawnError::NoWatcher { source }),
            Err(StartError::Program(source)) => Err(self.explain(source)),
        }
    }

    fn start(&mut self, watcher: &PipeWriter, token: u64) -> io::Result<Started> {
        #[cfg(target_os = "linux")]
        match self.start_by_starter(watcher, token) {
            Ok(started) => return Ok(started),
            Err(Refusal::Failed(error)) => return Err(error),
            Err(Refusal::NoStarter) => {}
        }
        self.start_ourselves(watcher, token)
    }

    #[cfg(target_os = "linux")]
    fn start_by_starter(&self, watcher: &PipeWriter, token: u64) -> Result<Started, Refusal> {
        // What only this process has cannot be told to another.
        if self.announcement.is_some() || self.streams.contains(&Stream::Ours) || !starter::is_allowed() {
            return Err(Refusal::NoStarter);
        }
        let (mut order, outcome) = Order::new(&self.inner, watcher, token)?;
        order.cleared = self.cleared;
        order.leads = self.leads();
        let mut ours = Started::default();
        if self.walls.as_ref().is_some_and(|walls| !walls.places.is_empty()) {
            order.ending = Some(ours.ending()?);
        }
        match &self.terminal {
            Some(pair) => order.streams = [Some(pair.stream()?), Some(pair.stream()?), Some(pair.stream()?)],
            None => order.streams = ours.pipes(self.streams)?,
        }
        ours.pid = starter::start(&order, self.walls.as_ref())?;
        // Its ends are its own now: as long as we held them too, ours would never end.
        drop(order);
        match starter::outcome(&outcome) {
            Ok(()) => Ok(ours),
            Err(error) => {
                ours.collect().ok();
                Err(Refusal::Failed(error))
            }
        }
    }

    fn start_ourselves(&mut self, watcher: &PipeWriter, token: u64) -> io::Result<Started> {
        let announcement = self.announce();
        if let Some(walls) = self.walls.take() {
            walls::install(&mut self.inner, (walls.build)(&walls.whole())?);
        }
        announcement.aim(watcher, token);
        match &self.terminal {
            Some(pair) => {
                self.inner.stdin(pair.stream()?).stdout(pair.stream()?).stderr(pair.stream()?);
            }
            None => {
                let [stdin, stdout, stderr] = self.streams.map(Stdio::from);
                self.inner.stdin(stdin).stdout(stdout).stderr(stderr);
            }
        }
        let started = self.inner.spawn();
        // std keeps what it was given.
        self.inner.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        started.map(Started::from)
    }

    /// The announcement that children carry which we start ourselves.
    fn announce(&mut self) -> Arc<Announcement> {
        let leads = self.leads();
        Arc::clone(self.announcement.get_or_insert_with(|| Announcement::install(&mut self.inner, leads)))
    }

    fn leads(&self) -> Leads {
        if self.terminal.is_some() { Leads::Session } else { Leads::Group }
    }

    fn program(&self) -> String {
        self.inner.get_program().to_string_lossy().into_owned()
    }

    fn explain(&self, source: io::Error) -> SpawnError {
        let program = self.program();
        // The system reports a missing folder and a missing program alike.
        let folder = self.inner.get_current_dir().filter(|folder| !folder.is_dir());
        match (source.kind(), folder) {
            (io::ErrorKind::NotFound | io::ErrorKind::NotADirectory, Some(folder)) => {
                SpawnError::NoFolder { program, folder: folder.to_owned() }
            }
            (io::ErrorKind::NotFound, None) => SpawnError::NotFound { program },
            _ => SpawnError::Failed { program, source },
        }
    }
}

impl From<Stream> for Stdio {
    fn from(stream: Stream) -> Self {
        match stream {
            Stream::Nothing => Self::null(),
            Stream::Piped => Self::piped(),
            Stream::Ours => Self::inherit(),
        }
    }
}

/// Why a child process did not start.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// Nothing of that name is installed: suggest how to get it.
    #[error("`{program}` was not found")]
    NotFound { program: String },
    /// The folder it should start in is not there.
    #[error("`{program}` cannot start in `{}`, which is not a folder", folder.display())]
    NoFolder { program: String, folder: std::path::PathBuf },
    /// `/bin/sh`, which ends our children when we cannot, does not run: nothing can be started safely.
    #[error("`/bin/sh`, which ends child processes should covey die, did not start")]
    NoWatcher { source: io::Error },
    /// It is there but does not run.
    #[error("`{program}` did not start")]
    Failed { program: String, source: io::Error },
}
