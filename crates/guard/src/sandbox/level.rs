//! How much room a command gets.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a command may touch, whatever it is told to do. From the strictest to none at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum SandboxLevel {
    /// Nothing but a folder for temporary files can be written, nothing can be reached.
    #[serde(rename = "read-only")]
    ReadOnly,
    /// The project can be written, nothing can be reached.
    #[default]
    #[serde(rename = "workspace")]
    Workspace,
    /// The project can be written and the network used.
    #[serde(rename = "workspace+net")]
    WorkspaceNet,
    /// No sandbox. Only the person can ask for that.
    #[serde(rename = "off")]
    Off,
}

impl SandboxLevel {
    /// Every name, the strictest first.
    pub const NAMES: &[&str] = &["read-only", "workspace", "workspace+net", "off"];

    /// As it is written in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Workspace => "workspace",
            Self::WorkspaceNet => "workspace+net",
            Self::Off => "off",
        }
    }
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// That is no level.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a sandbox level: read-only, workspace, workspace+net or off")]
pub struct NotALevel(String);

impl FromStr for SandboxLevel {
    type Err = NotALevel;

    fn from_str(text: &str) -> Result<Self, NotALevel> {
        let all = [Self::ReadOnly, Self::Workspace, Self::WorkspaceNet, Self::Off];
        all.into_iter().find(|level| level.name() == text).ok_or_else(|| NotALevel(text.to_owned()))
    }
}
