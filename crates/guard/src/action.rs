//! What is about to happen.

use std::path::PathBuf;

/// One thing that a tool call is about to do. A call may have several; the strictest verdict decides.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A command line for the shell, started in `cwd`.
    Shell { command: String, cwd: PathBuf },
    /// A program with its arguments, started without a shell.
    Program { argv: Vec<String>, cwd: PathBuf },
    /// Files or folders are looked at. Absolute, as asked for: where they really lead is the guard's to find out.
    Read { paths: Vec<PathBuf> },
    /// Files come to be, change, move or go. A move names both ends.
    Write { change: Change, paths: Vec<PathBuf> },
    /// Something is fetched from an address.
    Fetch { url: String },
    /// A tool of someone else's. `read_only` is what its maker says, which is a hint and no promise.
    Foreign { read_only: bool },
    /// Nothing outside the session is touched: a thought, a plan, a question to the person.
    Inward,
}

/// How a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Create,
    Edit,
    Move,
    Delete,
}

impl Action {
    /// Whether it leaves everything as it was, as far as can be told from its kind. Such calls may run side by side.
    pub fn only_looks(&self) -> bool {
        match self {
            Self::Read { .. } | Self::Fetch { .. } | Self::Inward => true,
            Self::Foreign { read_only } => *read_only,
            Self::Shell { .. } | Self::Program { .. } | Self::Write { .. } => false,
        }
    }
}

impl Action {
    /// In words, as it goes into records.
    pub(crate) fn shown(&self) -> String {
        let paths = |paths: &[PathBuf]| {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        };
        match self {
            Self::Shell { command, .. } => command.clone(),
            Self::Program { argv, .. } => argv.join(" "),
            Self::Read { paths: list } => format!("read {}", paths(list)),
            Self::Write { change, paths: list } => {
                format!("{} {}", format!("{change:?}").to_lowercase(), paths(list))
            }
            Self::Fetch { url } => format!("fetch {url}"),
            Self::Foreign { .. } => "a tool of someone else's".to_owned(),
            Self::Inward => "nothing outside the session".to_owned(),
        }
    }
}
