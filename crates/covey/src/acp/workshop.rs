//! An engine for each project that the editor opens sessions in.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ::acp::{McpServer, Peer};
use ::mcp::ServerConfig;
use engine::Engine;
use protocol::{AgentId, ModelRef};

use super::host::Editors;
use crate::attach;
use crate::cli::AcpArguments;
use crate::discover::discover;
use crate::exit::Failure;
use crate::in_process::InProcess;
use crate::settings::Settings;

/// The settings of a project hold for its sessions only, so each has an engine of its own.
pub(super) struct Workshops {
    flags: Vec<(String, String)>,
    open: HashMap<PathBuf, Workshop>,
    editors: Arc<Editors>,
}

#[derive(Clone)]
pub(super) struct Workshop {
    pub(super) engine: Engine,
    pub(super) client: Arc<InProcess>,
    /// MCP servers that the editor handed over.
    servers: Arc<Mutex<BTreeMap<String, ServerConfig>>>,
    /// Lets a second `covey` join; only the first engine of a process can.
    _joined: Option<Arc<attach::Open>>,
}

impl Workshops {
    pub(super) fn new(peer: Peer, arguments: &AcpArguments) -> Self {
        let mut flags = Vec::new();
        let mut flag =
            |key: &str, value: Option<String>| flags.extend(value.map(|value| (key.to_owned(), value)));
        flag("agent", arguments.agent.clone());
        flag("model", arguments.model.clone());
        flag("mode", arguments.mode.map(|mode| mode.as_str().to_owned()));
        Self { flags, open: HashMap::new(), editors: Arc::new(Editors::new(peer)) }
    }

    pub(super) fn editors(&self) -> &Arc<Editors> {
        &self.editors
    }

    /// The one for a folder, made if it is not there yet.
    pub(super) async fn at(&mut self, cwd: &Path, servers: Vec<McpServer>) -> Result<Workshop, Failure> {
        let mut settings = Settings::load(Some(cwd), &self.flags)?;
        if let Some(known) = self.open.get(&settings.root) {
            known.take(servers);
            return Ok(known.clone());
        }
        let door = if self.open.is_empty() { attach::Door::make(&mut settings) } else { None };
        let catalogue = settings.catalogue()?;
        let mut model = settings.model()?.or_else(|| catalogue.main().map(ModelRef::new));
        if model.is_none() && settings.agent()? == AgentId::new(engine::NativeAgent::ID) {
            // Without one a session can not begin, and its error says what to do.
            model = discover(&catalogue, &settings.configured_providers()).await.map(|found| found.model);
        }
        let handed: Arc<Mutex<BTreeMap<String, ServerConfig>>> = Arc::default();
        let editors = self.editors.clone();
        let more = handed.clone();
        let engine = settings.engine_with(settings.store("covey acp"), catalogue, model, |options| {
            options.host = Some(Arc::new(move |session, local| editors.host(session, local)));
            let own = options.mcp.clone();
            options.mcp = Arc::new(move || {
                let mut all = own();
                // The person's own come first where two have one name.
                for (name, config) in more.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                    all.entry(name.clone()).or_insert_with(|| config.clone());
                }
                all
            });
        })?;
        let client = InProcess::new(engine.clone());
        let joined = door.map(|door| Arc::new(door.open(&settings, client.clone())));
        let workshop = Workshop { engine, client, servers: handed, _joined: joined };
        workshop.take(servers);
        self.open.insert(settings.root, workshop.clone());
        Ok(workshop)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Workshop> {
        self.open.values()
    }
}

impl Workshop {
    fn take(&self, servers: Vec<McpServer>) {
        let mut known = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        for server in servers {
            let (name, config) = match server {
                McpServer::Stdio { name, command, args, env } => {
                    let command = Some(command.to_string_lossy().into_owned());
                    let env = env.into_iter().collect();
                    (name, ServerConfig { command, args, env, ..ServerConfig::default() })
                }
                McpServer::Http { name, url, headers } => {
                    let headers = headers.into_iter().collect();
                    (name, ServerConfig { url: Some(url), headers, ..ServerConfig::default() })
                }
            };
            known.insert(plain(&name), config);
        }
    }
}

/// A server's name becomes part of the names of its tools.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}
