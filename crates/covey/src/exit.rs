//! How the program ends. Scripts rely on these numbers.

use std::error::Error;
use std::fmt::Write;
use std::process::ExitCode;

use crate::terminal::tell_error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Done = 0,
    Failed = 1,
    /// Wrong usage or configuration.
    Usage = 2,
    /// Something was denied for want of a person.
    Denied = 3,
    /// A limit, time-out or budget stopped it.
    Limit = 4,
    /// No model or agent could be reached.
    Unreachable = 5,
    Cancelled = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// Why a command failed: what happened, what to do, and how to end.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, message: message.into(), hint: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new(message) }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// An error with all its causes in one line.
    pub(crate) fn from_error(error: &dyn Error) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(source) = cause {
            let text = source.to_string();
            // Many errors repeat their cause; it is told once.
            if !message.contains(&text) {
                let _ = write!(message, ": {text}");
            }
            cause = source.source();
        }
        Self::new(message)
    }

    pub(crate) fn report(&self) {
        // Whoever closed the pipe knows why.
        if !self.message.is_empty() {
            tell_error(&self.message, self.hint.as_deref());
        }
    }
}

impl From<client::ClientError> for Failure {
    fn from(error: client::ClientError) -> Self {
        let exit = match error.kind {
            client::Failure::Invalid => Exit::Usage,
            client::Failure::NoModel => Exit::Unreachable,
            _ => Exit::Failed,
        };
        Self { exit, message: error.message, hint: error.hint }
    }
}

impl From<index::IndexError> for Failure {
    fn from(error: index::IndexError) -> Self {
        let exit = match error {
            index::IndexError::Cancelled => Exit::Cancelled,
            index::IndexError::Model { .. } => Exit::Usage,
            _ => Exit::Failed,
        };
        Self { exit, hint: error.hint(), ..Self::from_error(&error) }
    }
}

impl From<sessions::StoreError> for Failure {
    fn from(error: sessions::StoreError) -> Self {
        Self { hint: error.hint(), ..Self::from_error(&error) }
    }
}

impl From<project::ConfigError> for Failure {
    fn from(error: project::ConfigError) -> Self {
        Self { exit: Exit::Usage, hint: error.hint(), ..Self::from_error(&error) }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::new(""),
            _ => Self::from_error(&error),
        }
    }
}
