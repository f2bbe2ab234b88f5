//! The agents there are: what is known of each by name, and what the settings say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use protocol::{AgentId, Effort, Mode};
use serde::Deserialize;

#[cfg(test)]
mod tests;

/// Every agent that comes with Covey, in the order in which they are listed.
const BUILT_IN: &[(&str, &str)] = &[
    ("claude", include_str!("../catalog/claude.toml")),
    ("codex", include_str!("../catalog/codex.toml")),
    ("gemini", include_str!("../catalog/gemini.toml")),
    ("cline", include_str!("../catalog/cline.toml")),
    ("copilot", include_str!("../catalog/copilot.toml")),
    ("cursor", include_str!("../catalog/cursor.toml")),
    ("openclaw", include_str!("../catalog/openclaw.toml")),
    ("manus", include_str!("../catalog/manus.toml")),
    ("opencode", include_str!("../catalog/opencode.toml")),
    ("qwen", include_str!("../catalog/qwen.toml")),
    ("kimi", include_str!("../catalog/kimi.toml")),
    ("goose", include_str!("../catalog/goose.toml")),
    ("auggie", include_str!("../catalog/auggie.toml")),
];

/// What is known of an agent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    #[serde(skip)]
    pub id: String,
    /// As a person knows it.
    pub name: String,
    #[serde(default)]
    pub docs: String,
    /// The command that installs it; none if there is no such command.
    #[serde(default)]
    pub install: Vec<String>,
    #[serde(default)]
    pub install_hint: Option<String>,
    /// Arguments with which its own program logs a person in.
    #[serde(default)]
    pub login: Vec<String>,
    /// Names under which its program is looked for.
    #[serde(default)]
    pub commands: Vec<String>,
    /// Arguments that make it tell its version.
    #[serde(default)]
    pub version: Vec<String>,
    /// What it can do, in words.
    #[serde(default)]
    pub can: Vec<String>,
    /// Whether it asks before it acts. One that does not can only look where we would want to be asked.
    #[serde(default = "yes")]
    pub asks: bool,
    pub interface: Interface,
    #[serde(default)]
    pub probe: Probe,
    /// Its own word for a mode of ours.
    #[serde(default)]
    pub modes: BTreeMap<String, String>,
    /// Its own word for how much it is to think.
    #[serde(default)]
    pub thinking: BTreeMap<String, String>,
    #[serde(default)]
    pub models: Models,
    #[serde(default)]
    pub sandbox: Needs,
    /// Set for it, unless the person did.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

fn yes() -> bool {
    true
}

/// How one talks to it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interface {
    pub kind: Kind,
    #[serde(default)]
    pub args: Vec<String>,
    /// How a model is chosen when it starts; `{model}` stands for it.
    #[serde(default)]
    pub model_args: Vec<String>,
    /// How a program that is started for each turn takes up its session; `{session}` stands for it.
    #[serde(default)]
    pub resume_args: Vec<String>,
    /// The same for how much it is to think; `{level}` stands for it.
    #[serde(default)]
    pub thinking_args: Vec<String>,
    /// The same for each folder that it works in besides its own; `{folder}` stands for it.
    #[serde(default)]
    pub folder_args: Vec<String>,
    /// Whether it is offered to read and write files through us. Some fail over a file that is not there yet.
    #[serde(default = "yes")]
    pub files: bool,
    /// Where it is reached, if it is no program of this machine.
    #[serde(default)]
    pub url: Option<String>,
    /// How one talks to versions of it that do not know this.
    #[serde(default)]
    pub fallback: Option<Box<Interface>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Agent Client Protocol on its standard streams.
    Acp,
    /// Claude Code's own stream of JSON, both ways.
    Claude,
    /// Codex' app server.
    Codex,
    /// What `codex exec` prints.
    CodexExec,
    /// What `cline --json` prints.
    ClineJson,
    /// What `copilot --output-format json` prints.
    CopilotJson,
    /// Cursor's stream of JSON.
    Cursor,
    /// OpenClaw's gateway, over a WebSocket.
    Openclaw,
    /// Manus' tasks, over HTTP.
    Manus,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Acp => "acp",
            Self::Claude => "stream-json",
            Self::Codex => "app-server",
            Self::CodexExec => "exec",
            Self::ClineJson | Self::CopilotJson => "json",
            Self::Cursor => "stream-json",
            Self::Openclaw => "gateway",
            Self::Manus => "http",
        }
    }
}

/// How it is found out whether somebody is logged in.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Probe {
    /// Arguments of a command that succeeds only then.
    pub args: Vec<String>,
    /// What that command says then, if it always succeeds.
    pub says: Option<String>,
    /// Any of these variables is as good as a login.
    pub variables: Vec<String>,
    /// A session can be opened only then.
    pub acp: bool,
    /// Somebody listens there.
    pub gateway: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Models {
    pub default: Option<String>,
    pub known: Vec<String>,
}

/// What it needs of the sandbox.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Needs {
    /// Its own folders and files, which it may write. `~` is the person's home.
    pub state: Vec<String>,
    /// Variables that it gets although they look like secrets; `*` at the end stands for any.
    pub variables: Vec<String>,
}

/// The section `agents.NAME` of a config file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AgentConfig {
    /// The program instead of the one that would be found.
    pub command: Option<String>,
    /// More arguments, after its own.
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub model: Option<String>,
    pub mode: Option<String>,
    /// A command that speaks the Agent Client Protocol: makes a new agent.
    pub acp: Vec<String>,
    /// Where a gateway or a task API is reached.
    pub url: Option<String>,
    /// Folders that it may write besides its own.
    pub state: Vec<String>,
    /// Variables that it gets although they look like secrets.
    pub variables: Vec<String>,
    /// Whether it asks before it acts.
    pub asks: Option<bool>,
}

/// An agent as it is to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    pub entry: Entry,
    pub config: AgentConfig,
}

/// All agents of other makers.
#[derive(Debug, Clone, PartialEq)]
pub struct Catalogue {
    agents: Vec<Known>,
}

impl Catalogue {
    /// The built-in ones, changed and added to by the settings.
    pub fn new(config: BTreeMap<String, AgentConfig>) -> Result<Self, CatalogueError> {
        let mut agents = Vec::new();
        let mut config = config;
        for (id, text) in BUILT_IN {
            let entry: Entry = toml::from_str(text)
                .map_err(|error| CatalogueError::BuiltIn { id, why: error.to_string() })?;
            let entry = Entry { id: (*id).to_owned(), ..entry };
            agents.push(Known { entry, config: config.remove(*id).unwrap_or_default() });
        }
        for (id, config) in config {
            if config.acp.is_empty() {
                return Err(CatalogueError::NoCommand(id));
            }
            let entry = custom(&id, &config);
            agents.push(Known { entry, config });
        }
        Ok(Self { agents })
    }

    pub fn iter(&self) -> impl Iterator<Item = &Known> {
        self.agents.iter()
    }

    pub fn get(&self, id: &AgentId) -> Option<&Known> {
        self.agents.iter().find(|known| known.entry.id == id.as_str())
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().map(|known| known.entry.id.as_str())
    }
}

/// An agent that only the settings know.
fn custom(id: &str, config: &AgentConfig) -> Entry {
    Entry {
        id: id.to_owned(),
        name: id.to_owned(),
        docs: String::new(),
        install: Vec::new(),
        install_hint: None,
        login: Vec::new(),
        commands: config.acp.first().cloned().into_iter().collect(),
        version: Vec::new(),
        can: Vec::new(),
        asks: true,
        interface: Interface {
            kind: Kind::Acp,
            args: config.acp.get(1..).unwrap_or_default().to_vec(),
            model_args: Vec::new(),
            resume_args: Vec::new(),
            thinking_args: Vec::new(),
            folder_args: Vec::new(),
            files: true,
            url: None,
            fallback: None,
        },
        probe: Probe { acp: true, ..Probe::default() },
        modes: BTreeMap::new(),
        thinking: BTreeMap::new(),
        models: Models::default(),
        sandbox: Needs::default(),
        env: BTreeMap::new(),
    }
}

/// The settings name an agent that can not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    #[error("the built-in entry of `{id}` is damaged: {why}")]
    BuiltIn { id: &'static str, why: String },
    #[error("`agents.{0}` is no agent that is known, and names no command")]
    NoCommand(String),
}

impl CatalogueError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::BuiltIn { .. } => None,
            Self::NoCommand(id) => Some(format!("agents.{id}.acp = [\"COMMAND\", \"--acp\"]")),
        }
    }
}

impl Known {
    /// The agent's own word for a mode of ours.
    pub fn mode(&self, mode: Mode) -> Option<&str> {
        let modes = &self.entry.modes;
        // Whatever goes beyond asking is answered by the guard, so the agent goes on asking.
        let own = modes.get(mode.as_str()).or_else(|| modes.get("ask").filter(|_| mode >= Mode::Ask));
        match self.config.mode.as_deref() {
            Some(chosen) if mode >= Mode::Ask => Some(chosen),
            _ => own.map(String::as_str),
        }
    }

    /// The agent's own word for how much it is to think.
    pub fn thinking(&self, effort: Effort) -> Option<&str> {
        self.entry.thinking.get(effort.as_str()).map(String::as_str)
    }

    /// The same agent, reached the other way: by a program that can not ask.
    pub(crate) fn other_way(&self) -> Option<Self> {
        let interface = *self.entry.interface.fallback.clone()?;
        let entry = Entry { interface, asks: false, ..self.entry.clone() };
        let config = AgentConfig { asks: Some(false), ..self.config.clone() };
        Some(Self { entry, config })
    }

    /// Whether the project may only be looked at in this mode. An agent that does not ask may act only where nobody
    /// wants to be asked.
    pub fn only_looks(&self, mode: Mode) -> bool {
        let asks = self.config.asks.unwrap_or(self.entry.asks);
        mode <= Mode::Plan || (!asks && mode < Mode::Auto)
    }

    /// The program, found where the settings say or in the search path.
    pub fn find(&self, path: &str) -> Option<PathBuf> {
        let named = self.config.command.as_ref();
        let names: Vec<&String> = named.map_or_else(|| self.entry.commands.iter().collect(), |one| vec![one]);
        names.into_iter().find_map(|name| which(name, path))
    }

    pub fn args(&self, model: Option<&str>, folders: &[PathBuf]) -> Vec<String> {
        let mut args = self.entry.interface.args.clone();
        for folder in folders {
            let folder = folder.to_string_lossy();
            args.extend(self.entry.interface.folder_args.iter().map(|arg| arg.replace("{folder}", &folder)));
        }
        if let Some(model) = model.or(self.config.model.as_deref()) {
            args.extend(self.entry.interface.model_args.iter().map(|arg| arg.replace("{model}", model)));
        }
        args.extend(self.config.args.iter().cloned());
        args
    }

    /// Its own folders, and those that the settings add.
    pub fn state(&self, home: &Path) -> Vec<PathBuf> {
        let place = |text: &String| match text.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => PathBuf::from(text),
        };
        let mut places: Vec<PathBuf> =
            self.entry.sandbox.state.iter().chain(&self.config.state).map(place).collect();
        // A variable that moves its folder says where that is.
        for name in ["CODEX_HOME", "CLAUDE_CONFIG_DIR", "COPILOT_HOME", "GEMINI_CLI_HOME", "CLINE_DIR"] {
            places.extend(self.config.env.get(name).map(PathBuf::from));
        }
        places
    }

    /// The variables that pass, of those that are there.
    pub fn variables(&self, there: impl Iterator<Item = String>) -> Vec<String> {
        let patterns = || self.entry.sandbox.variables.iter().chain(&self.config.variables);
        let named = |name: &str| {
            patterns().any(|pattern| match pattern.strip_suffix('*') {
                Some(start) => name.starts_with(start),
                None => name == pattern,
            })
        };
        there.filter(|name| named(name)).collect()
    }
}

/// A program by its name, as a shell would find it.
fn which(name: &str, path: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let runs = |file: &Path| {
        file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|file| runs(file));
    }
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| runs(file))
}
