//! Where a value came from.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::KeyPath;

/// The places settings come from; later ones win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// What the schema says when nobody says anything.
    Default,
    /// The person's own file.
    User,
    /// The file shared with the team.
    Project,
    /// The file of this checkout. A repository can ship one, so it is trusted no more than the project's.
    Local,
    Environment,
    Flag,
}

/// Where a value came from, precisely enough to go and change it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub layer: Layer,
    pub file: Option<Arc<Path>>,
    pub line: Option<usize>,
    /// The environment variable, for [`Layer::Environment`].
    pub variable: Option<&'static str>,
}

impl Origin {
    pub(super) fn default_layer() -> Self {
        Self { layer: Layer::Default, file: None, line: None, variable: None }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line, self.variable) {
            (Some(file), Some(line), _) => write!(formatter, "`{}` line {line}", file.display()),
            (Some(file), None, _) => write!(formatter, "`{}`", file.display()),
            (None, _, Some(variable)) => write!(formatter, "the environment variable `{variable}`"),
            (None, _, None) => formatter.write_str(match self.layer {
                Layer::Default => "the built-in defaults",
                Layer::User => "the user's settings",
                Layer::Project => "the project's settings",
                Layer::Local => "the local settings",
                Layer::Environment => "the environment",
                Layer::Flag => "the command-line flags",
            }),
        }
    }
}

/// A value that a project file asked for and that is not in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub key: KeyPath,
    pub origin: Origin,
    pub reason: HeldReason,
}

/// Why a value is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldReason {
    /// Only the person, or a file they trust, may set this.
    NeedsTrust,
    /// It would allow more than the layers below do.
    Loosens {
        /// What is in force; nothing if nobody set it.
        from: Option<String>,
        to: String,
    },
}

impl fmt::Display for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` in {} is not applied: ", self.key, self.origin)?;
        match &self.reason {
            HeldReason::NeedsTrust => formatter.write_str("the file is not trusted"),
            HeldReason::Loosens { from: Some(from), to } => {
                write!(formatter, "an untrusted file cannot loosen `{from}` to `{to}`")
            }
            HeldReason::Loosens { from: None, to } => {
                write!(formatter, "an untrusted file cannot choose `{to}`")
            }
        }
    }
}
