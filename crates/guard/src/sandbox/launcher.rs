//! Starting the programs of a host inside walls.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use project::{Child, Command, Grants, HostError, Launcher, Roots};

use super::after::Reverted;
use super::level::SandboxLevel;
use super::policy::SandboxNeeds;
use super::{Sandbox, SandboxError};

/// Starts every program of a host in a [`Sandbox`], one for each set of project folders.
pub struct SandboxLauncher {
    /// Has no folders of its own; the others are made after it.
    pattern: Sandbox,
    sandboxes: Mutex<HashMap<Vec<PathBuf>, Arc<Sandbox>>>,
    tell: Arc<dyn Fn(&Reverted) + Send + Sync>,
}

impl SandboxLauncher {
    /// The folders of `pattern` are not used. `tell` hears of everything that had to be put back after a command.
    pub fn new(pattern: Sandbox, tell: impl Fn(&Reverted) + Send + Sync + 'static) -> Self {
        Self { pattern, sandboxes: Mutex::default(), tell: Arc::new(tell) }
    }

    /// The sandbox of a project: for what is started some other way than by a host.
    pub fn sandbox(&self, roots: Vec<PathBuf>) -> Arc<Sandbox> {
        let mut sandboxes = self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(
            sandboxes
                .entry(roots)
                .or_insert_with_key(|roots| Arc::new(self.pattern.with_roots(roots.clone()))),
        )
    }

    /// Starts a program that needs more or less than the commands of a host do: another agent, a server.
    pub fn launch_with(
        &self,
        command: Command,
        roots: Vec<PathBuf>,
        needs: &SandboxNeeds,
    ) -> Result<Child, HostError> {
        self.start(&self.sandbox(roots), command, needs)
    }

    fn start(&self, sandbox: &Sandbox, command: Command, needs: &SandboxNeeds) -> Result<Child, HostError> {
        let mut enclosed = sandbox.enclose(command, needs).map_err(|error| not_started(&error))?;
        let mut child = enclosed.spawn().map_err(|error| HostError::NotStarted(error.to_string()))?;
        let tell = Arc::clone(&self.tell);
        child.when_ended(move || enclosed.after().iter().for_each(|reverted| tell(reverted)));
        Ok(child)
    }
}

impl Launcher for SandboxLauncher {
    fn launch(&self, command: Command, roots: &Roots, grants: &Grants) -> Result<Child, HostError> {
        // What was granted for one call is among the roots too, and is no part of the project.
        let real = |path: &PathBuf| path.canonicalize().ok();
        let granted: Vec<PathBuf> = grants.reads.iter().chain(&grants.writes).filter_map(real).collect();
        let own =
            roots.iter().filter(|root| *root == roots.main() || !granted.iter().any(|path| path == root));
        let sandbox = self.sandbox(own.map(Path::to_owned).collect());
        let needs = SandboxNeeds {
            network: grants.network,
            readable: grants.reads.clone(),
            writable: grants.writes.clone(),
            ..SandboxNeeds::none()
        };
        self.start(&sandbox, command, &needs)
    }

    fn confines(&self) -> bool {
        self.pattern.policy().level != SandboxLevel::Off
    }
}

fn not_started(error: &SandboxError) -> HostError {
    let hint = error.hint().map(|hint| format!("\nhint: {hint}"));
    HostError::NotStarted(format!("{error}{}", hint.unwrap_or_default()))
}

impl fmt::Debug for SandboxLauncher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxLauncher").field("pattern", &self.pattern).finish_non_exhaustive()
    }
}
