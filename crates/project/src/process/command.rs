//! Describing a child process and starting it.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use super::before_exec::{Announcement, Leads};
use super::child::Child;
use super::terminal::{Pair, TerminalSize};
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
        streams: Some(Streams::default()),
        cleared: false,
        terminal: None,
        announcement: None,
    }
}

/// See [`command`].
#[derive(Debug)]
pub struct Command {
    inner: std::process::Command,
    /// Kept apart until the first start: std gives them to a command for good, and [`Command::wrapped_in`] makes
    /// another. Gone once `inner` has them.
    streams: Option<Streams>,
    /// Whether nothing is inherited, which std does not tell.
    cleared: bool,
    /// Open until the start, which gives the child its end.
    terminal: Option<Pair>,
    announcement: Option<Arc<Announcement>>,
}

#[derive(Debug)]
struct Streams {
    stdin: Stdio,
    stdout: Stdio,
    stderr: Stdio,
}

impl Default for Streams {
    fn default() -> Self {
        Self { stdin: Stdio::null(), stdout: Stdio::null(), stderr: Stdio::null() }
    }
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
    pub fn stdin(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        match &mut self.streams {
            Some(streams) => streams.stdin = stream.into(),
            None => _ = self.inner.stdin(stream),
        }
        self
    }

    /// Where its standard output goes; nowhere unless set.
    pub fn stdout(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        match &mut self.streams {
            Some(streams) => streams.stdout = stream.into(),
            None => _ = self.inner.stdout(stream),
        }
        self
    }

    /// Where its standard error goes; nowhere unless set.
    pub fn stderr(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        match &mut self.streams {
            Some(streams) => streams.stderr = stream.into(),
            None => _ = self.inner.stderr(stream),
        }
        self
    }

    /// Gives it a terminal instead of streams, of which it is the first process. [`Child::terminal`] is the other end.
    pub fn terminal(&mut self, size: TerminalSize) -> io::Result<&mut Self> {
        let pair = Pair::open(size)?;
        self.stdin(pair.stream()?).stdout(pair.stream()?).stderr(pair.stream()?);
        self.terminal = Some(pair);
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
            streams: Some(self.streams.unwrap_or_default()),
            cleared: self.cleared,
            terminal: self.terminal,
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

    /// Starts the child. Takes about a millisecond and must be called inside a tokio runtime with I/O.
    pub fn spawn(&mut self) -> Result<Child, SpawnError> {
        if let Some(Streams { stdin, stdout, stderr }) = self.streams.take() {
            self.inner.stdin(stdin).stdout(stdout).stderr(stderr);
        }
        let announcement = self.announce();
        let started = watcher::spawn(&mut self.inner, &announcement);
        let terminal = self.terminal.take().map(|pair| {
            // As long as we hold the child's end too, ours never ends.
            self.inner.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            pair.ours
        });
        match started {
            Ok((process, token)) => Child::new(process, token, terminal)
                .map_err(|source| SpawnError::Failed { program: self.program(), source }),
            Err(StartError::Watcher(source)) => Err(SpawnError::NoWatcher { source }),
            Err(StartError::Program(source)) => Err(self.explain(source)),
        }
    }

    /// The announcement that its children carry.
    fn announce(&mut self) -> Arc<Announcement> {
        let leads = if self.terminal.is_some() { Leads::Session } else { Leads::Group };
        Arc::clone(self.announcement.get_or_insert_with(|| Announcement::install(&mut self.inner, leads)))
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
