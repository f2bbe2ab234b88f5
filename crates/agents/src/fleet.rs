//! Making agents by name, and keeping count of what runs for them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use guard::{SandboxLauncher, SandboxNeeds};
use protocol::{AgentId, AgentSummary, Mode, ModelRef};

use crate::Agent;
use crate::acp_agent::{AcpAgent, Connection};
use crate::catalogue::{Catalogue, Kind, Known};
use crate::cli;
use crate::crashes::Crashes;
use crate::fallback::Fallback;
use crate::process::Start;
use crate::roll::{Building, Roll};

/// What agents of other makers are started with.
pub struct FleetOptions {
    pub catalogue: Catalogue,
    pub launcher: Arc<SandboxLauncher>,
    /// The person's home folder, where agents keep their own things.
    pub user_home: PathBuf,
    /// The search path.
    pub path: String,
    /// Whether a variable is set, and to what.
    pub env: fn(&str) -> Option<String>,
    /// MCP servers that are handed on to agents.
    pub servers: Vec<acp::McpServer>,
    /// Told to agents.
    pub version: String,
    /// Where those that run are written down.
    pub roll: Arc<Roll>,
    /// How long an agent without work is kept.
    pub idle: Duration,
}

/// The agents of other makers.
pub struct Fleet {
    pub(crate) options: FleetOptions,
    /// Processes that serve several sessions.
    connections: tokio::sync::Mutex<HashMap<Start, Weak<Connection>>>,
    crashes: Crashes,
}

/// There is no such agent here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotThere {
    #[error("there is no agent `{id}`")]
    Unknown { id: AgentId, known: String },
    #[error("`{id}` is not installed")]
    NotInstalled { id: AgentId, install: String },
    #[error("`{id}` needs {variable}")]
    NoKey { id: AgentId, variable: String },
}

impl NotThere {
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { known, .. } => format!("there are: native, {known}"),
            Self::NotInstalled { install, .. } => install.clone(),
            Self::NoKey { variable, .. } => format!("export {variable}=…"),
        }
    }
}

impl Fleet {
    pub fn new(options: FleetOptions) -> Arc<Self> {
        Arc::new(Self { options, connections: tokio::sync::Mutex::default(), crashes: Crashes::default() })
    }

    pub fn catalogue(&self) -> &Catalogue {
        &self.options.catalogue
    }

    /// An agent for one session. Nothing is started before its first prompt.
    pub fn agent(
        self: &Arc<Self>,
        id: &AgentId,
        model: Option<&ModelRef>,
        cwd: &Path,
        roots: Vec<PathBuf>,
    ) -> Result<Arc<dyn Agent>, NotThere> {
        let known = self.known(id)?.clone();
        let mut post = Post {
            id: id.clone(),
            program: self.program(&known)?,
            model: model.map(|model| model.as_str().to_owned()).or_else(|| known.config.model.clone()),
            known,
            cwd: cwd.to_owned(),
            roots,
            fleet: self.clone(),
            fallback: None,
        };
        if let Some(known) = post.known.other_way() {
            let interface = known.entry.interface.kind.as_str();
            let other = self.make(Post { known, ..post.clone() })?;
            post.fallback = Some(Fallback::new(other, interface));
        }
        self.make(post)
    }

    fn make(&self, post: Post) -> Result<Arc<dyn Agent>, NotThere> {
        let kind = post.known.entry.interface.kind;
        match cli::ALL.iter().find(|(dialect, _)| *dialect == kind) {
            Some((_, make)) => Ok(make(post)),
            None if kind == Kind::Acp => Ok(Arc::new(AcpAgent::new(post))),
            None => Err(NotThere::Unknown { id: post.id, known: self.names() }),
        }
    }

    /// Every agent by name, and whether its program is there.
    pub fn summaries(&self) -> impl Iterator<Item = AgentSummary> {
        self.options.catalogue.iter().map(|known| {
            let agent = AgentId::new(&known.entry.id);
            let missing = self.program(known).err();
            let reason = missing.as_ref().map(|error| format!("{error}; {}", error.hint()));
            AgentSummary { agent, usable: missing.is_none(), reason }
        })
    }

    pub fn known(&self, id: &AgentId) -> Result<&Known, NotThere> {
        let unknown = || NotThere::Unknown { id: id.clone(), known: self.names() };
        self.options.catalogue.get(id).ok_or_else(unknown)
    }

    fn names(&self) -> String {
        self.options.catalogue.names().collect::<Vec<_>>().join(", ")
    }

    /// The program of an agent; empty for those that have none.
    fn program(&self, known: &Known) -> Result<PathBuf, NotThere> {
        let id = || AgentId::new(&known.entry.id);
        if known.entry.commands.is_empty() && known.config.command.is_none() {
            let set = |name: &&String| {
                known.config.env.contains_key(*name)
                    || (self.options.env)(name).is_some_and(|key| !key.is_empty())
            };
            let keys = &known.entry.probe.variables;
            return match keys.first().filter(|_| !keys.iter().any(|name| set(&name))) {
                Some(variable) => Err(NotThere::NoKey { id: id(), variable: variable.clone() }),
                None => Ok(PathBuf::new()),
            };
        }
        let reached_elsewhere = known.entry.interface.kind == Kind::Openclaw && known.config.url.is_some();
        if reached_elsewhere && known.find(&self.options.path).is_none() {
            return Ok(PathBuf::new());
        }
        known.find(&self.options.path).ok_or_else(|| {
            let id = AgentId::new(&known.entry.id);
            let name = known.config.command.as_ref().or(known.entry.commands.first());
            let install = match (&known.entry.install_hint, known.entry.install.is_empty()) {
                (Some(hint), _) => hint.clone(),
                (None, false) => format!("covey agents install {id}"),
                (None, true) => format!("`{}` is not in the search path", name.map_or("it", String::as_str)),
            };
            NotThere::NotInstalled { id, install }
        })
    }

    /// A process for `start`, shared with the sessions that want the very same.
    pub(crate) async fn connection(
        &self,
        start: Start,
        id: &AgentId,
        files: bool,
    ) -> Result<Arc<Connection>, Trouble> {
        let mut connections = self.connections.lock().await;
        connections.retain(|_, connection| connection.strong_count() > 0);
        if let Some(connection) = connections.get(&start).and_then(Weak::upgrade)
            && !connection.is_closed()
        {
            return Ok(connection);
        }
        self.after_crashes(id).await?;
        let connection = Arc::new(Connection::open(&start, &self.options, id, files).await?);
        connections.insert(start, Arc::downgrade(&connection));
        Ok(connection)
    }

    /// An agent ended by itself in the middle of something.
    pub(crate) fn crashed(&self, id: &AgentId) {
        self.crashes.note(id, Instant::now());
    }

    /// Before an agent is started: one that ended unexpectedly is given a moment, then a longer one, then none.
    pub(crate) async fn after_crashes(&self, id: &AgentId) -> Result<(), Trouble> {
        let pause = self.crashes.pause(id, Instant::now()).map_err(|recent| Trouble {
            message: format!(
                "`{id}` ended unexpectedly {recent} times in five minutes and is not started again"
            ),
            hint: Some(format!("see what is wrong with it: covey agents test {id}")),
            unreachable: true,
        })?;
        tokio::time::sleep(pause).await;
        Ok(())
    }

    /// What still computes under agents of ours, though nobody waits for it.
    pub async fn builds(&self) -> Vec<Building> {
        self.options.roll.builds().await
    }
}

/// Where one agent stands: everything that it is started with but the mode of the turn.
#[derive(Clone)]
pub(crate) struct Post {
    pub(crate) id: AgentId,
    pub(crate) known: Known,
    pub(crate) program: PathBuf,
    pub(crate) model: Option<String>,
    pub(crate) cwd: PathBuf,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) fleet: Arc<Fleet>,
    /// For versions of its program that can not be talked to in this way.
    pub(crate) fallback: Option<Fallback>,
}

impl Post {
    /// What it works in besides the project.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        self.roots.get(1..).unwrap_or_default()
    }

    /// How its program is started in a mode.
    pub(crate) fn start(&self, mode: Mode, more: &[String]) -> Start {
        let (known, options) = (&self.known, &self.fleet.options);
        let there = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let mut needs = SandboxNeeds::foreign_agent(known.state(&options.user_home), known.variables(there));
        needs.readable = installed_in(&self.program, &options.user_home);
        if known.only_looks(mode) {
            needs = needs.reading_only();
        }
        let preset = known.entry.env.iter().filter(|(name, _)| (options.env)(name).is_none());
        let mut env: Vec<(String, String)> =
            preset.chain(&known.config.env).map(|(name, value)| (name.clone(), value.clone())).collect();
        env.sort();
        let mut args = known.args(self.model.as_deref(), self.folders());
        args.extend(more.iter().cloned());
        Start {
            program: self.program.clone(),
            args,
            env,
            cwd: self.cwd.clone(),
            roots: self.roots.clone(),
            needs,
        }
    }
}

/// The folders that a program is made of: where it is found, and where the link leads. One that is somebody's whole home
/// does not count.
pub(crate) fn installed_in(program: &Path, home: &Path) -> Vec<PathBuf> {
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let package = real.ancestors().filter(|folder| folder.ends_with("node_modules")).last();
    let folders = [program.parent(), package.or_else(|| real.parent())];
    let fits = |folder: &&Path| !home.starts_with(folder) && folder.components().count() > 1;
    let mut folders: Vec<PathBuf> = folders.into_iter().flatten().filter(fits).map(Path::to_owned).collect();
    folders.dedup();
    folders
}

/// Why a turn can not go on, for the person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// Nothing was reached at all.
    pub(crate) unreachable: bool,
}

impl Trouble {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, unreachable: false }
    }

    /// It ended while it was at work; `said` are its last words.
    pub(crate) fn died(id: &AgentId, said: &str) -> Self {
        Self {
            message: format!("`{id}` ended in the middle of its work{said}"),
            hint: Some("send the prompt again; the conversation so far is kept".to_owned()),
            unreachable: false,
        }
    }

    pub(crate) fn unreachable(message: impl Into<String>, hint: Option<String>) -> Self {
        Self { message: message.into(), hint, unreachable: true }
    }
}
