//! Describing a child process and starting it.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use super::before_exec::Announcement;
use super::child::Child;
use super::watcher::{self, StartError};

/// A child process to be: the only way Covey starts one.
///
/// The child leads a process group of its own and the whole group dies when the [`Child`] is waited for,
/// terminated or dropped, and also when Covey itself is killed.
///
/// Its three standard streams are closed (`/dev/null`) unless said otherwise: a child in its own group cannot
/// read the terminal, and must not write over a front end that draws on it.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut inner = std::process::Command::new(program);
    inner.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Command { inner, announcement: None }
}

/// See [`command`].
#[derive(Debug)]
pub struct Command {
    inner: std::process::Command,
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
        self
    }

    /// The folder the child starts in; ours unless set.
    pub fn cwd(&mut self, directory: impl AsRef<Path>) -> &mut Self {
        self.inner.current_dir(directory);
        self
    }

    /// Where its standard input comes from; nothing unless set.
    pub fn stdin(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.inner.stdin(stream);
        self
    }

    /// Where its standard output goes; nowhere unless set.
    pub fn stdout(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.inner.stdout(stream);
        self
    }

    /// Where its standard error goes; nowhere unless set.
    pub fn stderr(&mut self, stream: impl Into<Stdio>) -> &mut Self {
        self.inner.stderr(stream);
        self
    }

    /// The description so far, for code that wraps it in another program (a sandbox) or prints it.
    pub fn as_std(&self) -> &std::process::Command {
        &self.inner
    }

    /// Starts the child. Takes about a millisecond and must be called inside a tokio runtime with I/O.
    pub fn spawn(&mut self) -> Result<Child, SpawnError> {
        let announcement = self.announcement.get_or_insert_with(|| Announcement::install(&mut self.inner));
        match watcher::spawn(&mut self.inner, announcement) {
            Ok((process, token)) => Child::new(process, token)
                .map_err(|source| SpawnError::Failed { program: self.program(), source }),
            Err(StartError::Watcher(source)) => Err(SpawnError::NoWatcher { source }),
            Err(StartError::Program(source)) => Err(self.explain(source)),
        }
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
