//! What an agent's own session is called, kept beside our log, so that it can be taken up again.

use std::path::{Path, PathBuf};

use protocol::{AgentId, TurnId};
use serde::{Deserialize, Serialize};

/// What is remembered of one agent in one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// The name that the agent gave its session.
    pub(crate) session: String,
    /// The last turn that it took part in.
    pub(crate) turn: TurnId,
    /// It is the session of another session of ours, of which this one is a copy: it must be copied too.
    #[serde(skip)]
    pub(crate) forks: bool,
}

impl Memory {
    /// None if there is nothing, or nothing that can be read: then the agent begins anew and is told what happened.
    pub(crate) fn read(folder: &Path, agent: &AgentId) -> Option<Self> {
        let text = std::fs::read(file(folder, agent)?).ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub(crate) fn write(&self, folder: &Path, agent: &AgentId) {
        let Some(file) = file(folder, agent) else { return };
        let Ok(text) = serde_json::to_vec(self) else { return };
        // Without it the next start costs a summary; that is no reason to fail a turn that is done.
        let _ = project::write_private_atomic(&file, &text);
    }
}

impl Memory {
    /// The next prompt begins anew.
    pub(crate) fn forget(folder: &Path, agent: &AgentId) {
        if let Some(file) = file(folder, agent) {
            // One that is not there is forgotten already.
            let _ = std::fs::remove_file(file);
        }
    }
}

/// An agent's name comes from the settings, and becomes a part of a file's.
fn file(folder: &Path, agent: &AgentId) -> Option<PathBuf> {
    let name = agent.as_str();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fits = !name.is_empty() && name.chars().all(plain) && !name.starts_with('.');
    fits.then(|| folder.join(format!("agent-{name}.json")))
}
