//! Why a child was not started.

use std::io;
use std::path::PathBuf;

use super::grade::Backend;
use super::level::SandboxLevel;

/// Why something cannot be enclosed. It is not started then.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// This machine has nothing that could hold it: tell the person.
    #[error("this machine cannot hold commands to the sandbox level `{level}`{}", reasons(tried))]
    Unavailable { level: SandboxLevel, tried: Vec<(Backend, String)> },
    /// A folder that the policy grants is not there.
    #[error("the sandbox cannot grant `{}`", path.display())]
    NoSuchPlace { path: PathBuf, source: io::Error },
    /// Something went wrong while the walls were built.
    #[error("the sandbox could not be set up: {what}")]
    Setup { what: &'static str, source: io::Error },
}

impl SandboxError {
    /// What the person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unavailable { .. } => {
                let install = "install bubblewrap, or allow user namespaces or Landlock";
                Some(format!("{install}; `--sandbox off` runs commands unconfined, on your own word"))
            }
            Self::NoSuchPlace { path, .. } => {
                Some(format!("create `{}`, or take it out of your settings", path.display()))
            }
            Self::Setup { .. } => Some("`covey doctor` shows what this machine offers".to_owned()),
        }
    }
}

fn reasons(tried: &[(Backend, String)]) -> String {
    let list: Vec<String> = tried.iter().map(|(backend, reason)| format!("{backend}: {reason}")).collect();
    if list.is_empty() { String::new() } else { format!(" ({})", list.join("; ")) }
}
