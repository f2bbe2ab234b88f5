//! What a sandbox lets through, as data.

use std::path::{Path, PathBuf};
use std::time::Duration;

use project::Home;

use super::grade::Backend;
use super::level::SandboxLevel;

/// What holds for every child of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SandboxPolicy {
    pub level: SandboxLevel,
    /// The project's folders, which may be written unless the level says otherwise.
    pub roots: Vec<PathBuf>,
    /// The person's home folder, where most secrets are.
    pub home: Option<PathBuf>,
    /// Covey's own folders: keys, sessions, trust, audit. Never seen by a child.
    pub own: Vec<PathBuf>,
    /// Places that may be read although they hold secrets.
    pub readable: Vec<PathBuf>,
    /// Places outside the project that may be written.
    pub writable: Vec<PathBuf>,
    /// Places that are hidden, besides the known ones.
    pub hidden: Vec<PathBuf>,
    /// Variables that pass although they look like secrets.
    pub variables: Vec<String>,
    /// Whether `.env` files of the project may be read.
    pub env_files: bool,
    pub limits: Limits,
    /// Only this one, rather than the strongest there is. For tests and measuring.
    pub backend: Option<Backend>,
}

impl SandboxPolicy {
    /// The usual: this project, this person.
    pub fn new(level: SandboxLevel, roots: Vec<PathBuf>, home: &Home) -> Self {
        let own = [home.config_dir(), home.data_dir(), home.cache_dir()];
        Self {
            level,
            roots,
            home: std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
            own: own.map(Path::to_owned).to_vec(),
            ..Self::default()
        }
    }
}

/// What one child needs beyond the policy of its session. Granted by whoever starts it, never by the child.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SandboxNeeds {
    /// The network, also where the level has none.
    pub network: bool,
    /// The project can only be looked at, whatever the level says. Holds without a sandbox too: then one is made.
    pub read_only: bool,
    /// Places to read although they are hidden.
    pub readable: Vec<PathBuf>,
    /// Places to write.
    pub writable: Vec<PathBuf>,
    /// Variables that pass although they look like secrets.
    pub variables: Vec<String>,
    /// Instead of the policy's.
    pub limits: Option<Limits>,
    /// It is started once and shares nothing with commands of its session, so nothing is kept for the next.
    pub alone: bool,
}

impl SandboxNeeds {
    /// A command of the model's, a hook, a language server: nothing beyond the policy.
    pub fn none() -> Self {
        Self::default()
    }

    /// An agent of another vendor: the network, its own folders, the variables its catalogue entry names, and no
    /// limit in time, for it lives as long as the session.
    pub fn foreign_agent(state: Vec<PathBuf>, variables: Vec<String>) -> Self {
        let limits = Limits { time: None, ..Limits::default() };
        Self {
            network: true,
            writable: state,
            variables,
            limits: Some(limits),
            alone: true,
            ..Self::default()
        }
    }

    /// The same, but what belongs to the project can only be looked at.
    pub fn reading_only(self) -> Self {
        Self { read_only: true, ..self }
    }
}

/// How much of the machine a child and all it starts may use. What the system cannot bound is not bounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Limits {
    /// From start to end.
    pub time: Option<Duration>,
    /// At a time.
    pub processes: Option<u32>,
    /// In bytes, for each process.
    pub memory: Option<u64>,
}

impl Default for Limits {
    /// Two hours and 4,096 processes stop what runs away and nothing else. Memory is not bounded by itself:
    /// sanitizers and some runtimes map terabytes that they never use.
    fn default() -> Self {
        Self { time: Some(Duration::from_secs(2 * 60 * 60)), processes: Some(4096), memory: None }
    }
}
