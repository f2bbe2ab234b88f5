//! What a person can set about the sandbox.

use std::path::{Path, PathBuf};
use std::time::Duration;

use project::{Home, Key, Schema};
use serde::Deserialize;

use super::level::SandboxLevel;
use super::policy::{Limits, SandboxPolicy};

/// The section `sandbox` of a config file.
///
/// A repository that is not trusted may choose a stricter level and hide more, never open anything.
pub const SANDBOX: Key = Key::table(
    "sandbox",
    &[
        Key::tightening("level", SandboxLevel::NAMES).default("workspace").doc("what commands may touch"),
        Key::list("readable", &Schema::Text).trusted().doc("places they may read although they are hidden"),
        Key::list("writable", &Schema::Text)
            .trusted()
            .doc("places outside the project they may write: ~/.cargo/registry"),
        Key::list("hidden", &Schema::Text).extend().doc("places they do not see"),
        Key::list("env", &Schema::Text).trusted().doc("variables they get although they look like secrets"),
        Key::bool("env_files").trusted().doc("whether they may read `.env` files of the project"),
        Key::integer("processes", 512, 1_000_000).trusted().doc("how many there may be at a time"),
        Key::integer("memory_mb", 16, 100_000_000).trusted().doc("how much memory each may have"),
        Key::integer("seconds", 1, 10_000_000).trusted().doc("how long one may run"),
    ],
)
.doc("the walls around every command");

/// The section as it is read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct SandboxConfig {
    pub level: SandboxLevel,
    pub readable: Vec<String>,
    pub writable: Vec<String>,
    pub hidden: Vec<String>,
    pub env: Vec<String>,
    pub env_files: bool,
    pub processes: Option<u32>,
    pub memory_mb: Option<u64>,
    pub seconds: Option<u64>,
}

impl SandboxConfig {
    /// What it means on this machine. Has no project yet.
    pub fn policy(&self, home: &Home) -> SandboxPolicy {
        let usual = Limits::default();
        let policy = SandboxPolicy::new(self.level, Vec::new(), home);
        let person = policy.home.clone();
        let paths = |list: &[String]| list.iter().map(|path| expand(path, person.as_deref())).collect();
        SandboxPolicy {
            readable: paths(&self.readable),
            writable: paths(&self.writable),
            hidden: paths(&self.hidden),
            variables: self.env.clone(),
            env_files: self.env_files,
            limits: Limits {
                time: self.seconds.map(Duration::from_secs).or(usual.time),
                processes: self.processes.or(usual.processes),
                memory: self.memory_mb.map(|megabytes| megabytes << 20),
            },
            ..policy
        }
    }
}

/// `~/x` is below the home folder.
fn expand(path: &str, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}
