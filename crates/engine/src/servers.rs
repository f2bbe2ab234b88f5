//! The MCP servers of a project: which there are, started when they are needed, shared by its sessions.

mod person;
mod starter;
mod tool;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::join_all;
use guard::{ItemKind, TrustStore};
use mcp::{Agreement, Server, ServerConfig, Starter, servers_in_json};
use project::{Home, Launcher, Roots};
use protocol::{CommandOrigin, CommandSummary, Resource};
use serde_json::{Map, Value};
use tools::Tool;

pub use starter::HostStarter;
use tool::ServerTool;

/// More tools than this are found with `tool_search` instead of being sent along.
const SENT_ALONG: usize = 15;
/// What a server says is put beside a prompt up to this length.
const MAX_ATTACHED: usize = 64 * 1024;

/// Says which servers the person has, as the settings are now.
pub type ServersOf = Arc<dyn Fn() -> BTreeMap<String, ServerConfig> + Send + Sync>;

/// Finds what a login at a server gave, by its name and address.
pub type LoginsOf = Arc<dyn Fn(&str, &str) -> Arc<dyn mcp::Tokens> + Send + Sync>;

/// All servers of an engine, by project.
#[derive(Default)]
pub(crate) struct Servers {
    projects: Mutex<HashMap<PathBuf, Arc<ServerSet>>>,
}

/// The servers of one project.
#[derive(Default)]
pub(crate) struct ServerSet {
    servers: Vec<Arc<Server>>,
    /// What was left out, and why.
    left_out: Vec<String>,
    /// What went wrong with the rest.
    failed: Mutex<Vec<String>>,
}

impl Servers {
    /// Brings a project's servers up to date: what did not change goes on running, the rest is let go or taken in.
    /// Nothing is started.
    pub(crate) fn refresh(
        &self,
        roots: &Roots,
        home: Option<&Home>,
        own: &BTreeMap<String, ServerConfig>,
        launcher: &Arc<dyn Launcher>,
        logins: Option<&LoginsOf>,
    ) -> Arc<ServerSet> {
        let root = roots.main().to_owned();
        let before = self.get(&root);
        let (wanted, mut notes) = wanted(&root, home, own);
        if wanted.is_empty() && before.is_none() && notes.is_empty() {
            return Arc::default();
        }
        let starter: Arc<dyn Starter> =
            Arc::new(HostStarter { launcher: launcher.clone(), roots: roots.clone() });
        let mut servers = Vec::new();
        for (name, config) in wanted {
            let filled = config.filled(&|name| std::env::var(name).ok());
            let config = match filled {
                Ok(config) => config,
                Err(why) => {
                    notes.push(format!("MCP server `{name}`: {why}"));
                    continue;
                }
            };
            let running = before.iter().flat_map(|set| &set.servers);
            let known =
                running.into_iter().find(|server| server.name() == name && *server.config() == config);
            servers.push(match known {
                Some(server) => server.clone(),
                None => {
                    let agreed = home
                        .and_then(|home| Agreement::read(&Agreement::file(home.data_dir(), &name, &config)));
                    let url = config.url.as_deref();
                    let tokens = logins.and_then(|logins| url.map(|url| logins(&name, url)));
                    Arc::new(Server::new(&name, config, starter.clone(), agreed).with_login(tokens))
                }
            });
        }
        let same = |set: &&Arc<ServerSet>| {
            set.left_out == notes
                && set.servers.len() == servers.len()
                && set.servers.iter().zip(&servers).all(|(before, now)| Arc::ptr_eq(before, now))
        };
        if let Some(before) = before.as_ref().filter(same) {
            return before.clone();
        }
        let set = Arc::new(ServerSet { servers, left_out: notes, failed: Mutex::default() });
        self.projects.lock().unwrap_or_else(PoisonError::into_inner).insert(root, set.clone());
        set
    }

    pub(crate) fn get(&self, root: &Path) -> Option<Arc<ServerSet>> {
        self.projects.lock().unwrap_or_else(PoisonError::into_inner).get(root).cloned()
    }
}

/// Learns what a server has, the first time. From then on it is held to that.
async fn introduce(server: &Arc<Server>, home: Option<&Home>) -> Result<(), String> {
    let file = home.map(|home| server.agreement_file(home.data_dir()));
    if file.as_ref().is_some_and(|file| file.exists()) {
        return Ok(());
    }
    let proposal = server.proposal().await.map_err(|error| match error.hint() {
        Some(hint) => format!("{error} ({hint})"),
        None => error.to_string(),
    })?;
    if let Some(file) = file {
        let folder = file.parent().unwrap_or(Path::new("."));
        let kept = project::create_private_dir(folder)
            .and_then(|()| project::write_private_atomic(&file, &proposal.to_json()?));
        kept.map_err(|error| format!("what `{}` has can not be kept: {error}", server.name()))?;
    }
    server.agree(proposal).await;
    Ok(())
}

/// The person's servers, and those of the project that they accepted; theirs count where both have a name.
fn wanted(
    root: &Path,
    home: Option<&Home>,
    own: &BTreeMap<String, ServerConfig>,
) -> (BTreeMap<String, ServerConfig>, Vec<String>) {
    let mut notes = Vec::new();
    let mut all = BTreeMap::new();
    if let Some(home) = home.filter(|_| root.join(".mcp.json").exists()) {
        let trust = TrustStore::open(home.data_dir(), root);
        for item in trust.found().into_iter().filter(|item| item.kind == ItemKind::McpServer) {
            if !trust.is_accepted(&item) {
                notes
                    .push(format!("not started until you accept it with `covey guard trust`: {}", item.name));
                continue;
            }
            let Some((_, name)) = item.name.split_once('#') else { continue };
            // As it was accepted, not as the file may be by now.
            let text = format!("{{\"mcpServers\": {{{}: {}}}}}", Value::from(name), item.text());
            for (name, config) in servers_in_json(&text) {
                match config {
                    Ok(config) => drop(all.insert(name, config)),
                    Err(error) => notes.push(error.to_string()),
                }
            }
        }
    }
    for (name, config) in own {
        match config.check(name) {
            Ok(()) => drop(all.insert(name.clone(), config.clone())),
            Err(error) => notes.push(error.to_string()),
        }
    }
    all.retain(|_, config| !config.disabled);
    (all, notes)
}

impl ServerSet {
    pub(crate) fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.left_out.is_empty()
    }

    /// Starts those that nobody knows yet, to learn what they have. In parallel: the slowest says how long the others
    /// wait, and each has its own limit.
    pub(crate) async fn introduce(&self, home: Option<&Home>) {
        let introduced = join_all(self.servers.iter().map(|server| introduce(server, home))).await;
        let failed = introduced.into_iter().filter_map(Result::err).collect();
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = failed;
    }

    /// What went wrong with them.
    pub(crate) fn notes(&self) -> Vec<String> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        self.left_out.iter().chain(failed.iter()).cloned().collect()
    }

    /// The tools of all servers, as the model calls them.
    pub(crate) fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let all: Vec<_> = self
            .servers
            .iter()
            .flat_map(|server| server.tools().into_iter().map(move |tool| (server, tool)))
            .collect();
        let is_core = all.len() <= SENT_ALONG;
        let tool = |(server, info): (&Arc<Server>, mcp::ToolInfo)| {
            Arc::new(ServerTool::new(server.clone(), info, is_core)) as Arc<dyn Tool>
        };
        all.into_iter().map(tool).collect()
    }

    /// Prompts of servers, as commands.
    pub(crate) fn commands(&self) -> Vec<CommandSummary> {
        let summary = |server: &Server, prompt: mcp::PromptInfo| CommandSummary {
            name: mcp::tool_name(server.name(), &prompt.name),
            description: prompt.description,
            hint: Some(prompt.arguments.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" "))
                .filter(|hint| !hint.is_empty()),
            origin: CommandOrigin::Server,
        };
        let prompts = self
            .servers
            .iter()
            .flat_map(|server| server.known_prompts().into_iter().map(move |prompt| summary(server, prompt)));
        prompts.collect()
    }

    /// A prompt of a server that was asked for by its name, with the words after it as its arguments.
    pub(crate) async fn spelled_out(&self, name: &str, arguments: &str) -> Option<Resource> {
        for server in &self.servers {
            let prompts = server.known_prompts();
            let Some(prompt) =
                prompts.iter().find(|prompt| mcp::tool_name(server.name(), &prompt.name) == name)
            else {
                continue;
            };
            let mut given = Map::new();
            let mut words = arguments.split_whitespace();
            for (at, (argument, _)) in prompt.arguments.iter().enumerate() {
                // The last one takes all that is left.
                let value = match at + 1 == prompt.arguments.len() {
                    true => words.by_ref().collect::<Vec<_>>().join(" "),
                    false => words.next().unwrap_or_default().to_owned(),
                };
                if !value.is_empty() {
                    given.insert(argument.clone(), value.into());
                }
            }
            let text = match server.prompt(&prompt.name, given).await {
                Ok(outcome) => outcome.text,
                Err(error) => format!("[the prompt could not be had: {error}]"),
            };
            return Some(attached(format!("command:{name}"), server.name(), &text));
        }
        None
    }

    /// A resource of a server that was mentioned: `server:uri`.
    pub(crate) async fn resource(&self, mention: &str) -> Option<Resource> {
        let (name, uri) = mention.split_once(':')?;
        let server = self.servers.iter().find(|server| server.name() == name)?;
        let outcome = server.resource(uri).await.ok()?;
        Some(attached(mention.to_owned(), name, &outcome.text))
    }
}

fn attached(uri: String, server: &str, text: &str) -> Resource {
    let text = &text[..text.floor_char_boundary(MAX_ATTACHED)];
    Resource { uri, media_type: None, text: Some(guard::as_data(server, text)), blob: None }
}
