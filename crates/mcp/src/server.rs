//! One server: started when it is needed, kept, restarted, held to what was agreed.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::header::{HeaderName, HeaderValue};
use rmcp::ServiceExt;
use rmcp::model::{
    CallToolRequestParams, ClientRequest, GetPromptRequestParams, PingRequest, ReadResourceRequestParams,
};
use rmcp::service::{ClientInitializeError, Peer, RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::task::JoinHandle;

use crate::agreement::MAX_TOOLS;
use crate::content::{self, Outcome, PromptInfo, ResourceInfo};
use crate::handler::Handler;
use crate::{Agreement, Difference, McpError, Person, ServerConfig, Tokens, ToolInfo, login};

/// How long a server may take to be there.
const START_LIMIT: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long one that did not answer in time may take to say that it is there.
const PING_LIMIT: Duration = Duration::from_secs(2);
/// How long a program that ended is listened to.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// The end of what a program complains about that is kept.
const COMPLAINTS: usize = 2_000;
/// More prompts or resources than this are a flood.
const MAX_LISTED: usize = 1_000;

/// Starts the programs of servers, where they may do what they need and no more.
pub trait Starter: Send + Sync {
    fn start(&self, config: &ServerConfig) -> Result<Pipes, String>;
}

/// A program that runs.
pub struct Pipes {
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    pub complaints: Box<dyn AsyncRead + Send + Unpin>,
    /// Dropping it ends the program.
    pub process: Box<dyn Send>,
}

/// One server of a session.
pub struct Server {
    name: String,
    config: ServerConfig,
    starter: Arc<dyn Starter>,
    agreement: Mutex<Agreement>,
    /// What a login gave, for servers behind an address.
    tokens: Option<Arc<dyn Tokens>>,
    person: Arc<Mutex<Option<Arc<dyn Person>>>>,
    tools_changed: Arc<AtomicBool>,
    state: tokio::sync::Mutex<State>,
}

#[derive(Default)]
struct State {
    connection: Option<Connection>,
    failures: u32,
    not_before: Option<Instant>,
    /// Tools that are not what was agreed.
    held: Vec<String>,
    /// Those of which the person was told.
    told: Vec<String>,
}

struct Connection {
    service: RunningService<RoleClient, Handler>,
    _process: Option<Box<dyn Send>>,
    complaints: Complaints,
}

/// What a program wrote to its standard error, at its end.
#[derive(Clone, Default)]
struct Complaints(Arc<Mutex<Vec<u8>>>, Arc<Mutex<Option<Reading>>>);

struct Reading(JoinHandle<()>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Server {
    /// Nothing is started yet. `config` has its variables filled in.
    pub fn new(
        name: &str,
        config: ServerConfig,
        starter: Arc<dyn Starter>,
        agreement: Option<Agreement>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            config,
            starter,
            agreement: Mutex::new(agreement.unwrap_or_default()),
            tokens: None,
            person: Arc::default(),
            tools_changed: Arc::default(),
            state: tokio::sync::Mutex::default(),
        }
    }

    /// With what a login gave.
    pub fn with_login(mut self, tokens: Option<Arc<dyn Tokens>>) -> Self {
        self.tokens = tokens;
        self
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn config(&self) -> &ServerConfig {
        &self.config
    }

    /// The tools that were agreed and are wanted.
    pub fn tools(&self) -> Vec<ToolInfo> {
        let agreement = self.agreement();
        agreement.tools.iter().filter(|tool| self.config.wants(&tool.name)).cloned().collect()
    }

    /// What the server offers now. Starts it.
    pub async fn list(&self) -> Result<Vec<ToolInfo>, McpError> {
        let peer = self.peer().await?;
        self.listed(&peer).await
    }

    /// All that it has now, to be agreed to. Starts it.
    pub async fn proposal(&self) -> Result<Agreement, McpError> {
        Ok(Agreement { tools: self.list().await?, prompts: self.prompts().await? })
    }

    /// The prompts that were agreed.
    pub fn known_prompts(&self) -> Vec<PromptInfo> {
        self.agreement().prompts.clone()
    }

    /// How it differs from what was agreed. Starts it.
    pub async fn differences(&self) -> Result<Vec<Difference>, McpError> {
        let now = self.list().await?;
        Ok(self.agreement().differences(&now))
    }

    /// From now on this is agreed.
    pub async fn agree(&self, agreement: Agreement) {
        *self.agreement.lock().unwrap_or_else(PoisonError::into_inner) = agreement;
        self.state.lock().await.held.clear();
    }

    /// Calls a tool. Dropping the future gives the call up; `person` is asked what the server asks meanwhile.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        person: Arc<dyn Person>,
    ) -> Result<Outcome, McpError> {
        if self.agreement().get(tool).is_none() || !self.config.wants(tool) {
            return Err(McpError::Unknown { server: self.name.clone(), name: tool.to_owned() });
        }
        let peer = self.peer().await?;
        if self.tools_changed.swap(false, Ordering::Relaxed) {
            self.compare(&peer).await?;
        }
        if self.state.lock().await.held.iter().any(|held| held == tool) {
            return Err(McpError::Held { server: self.name.clone(), tool: tool.to_owned() });
        }
        *self.person.lock().unwrap_or_else(PoisonError::into_inner) = Some(person);
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let result = self.within(peer.call_tool(params)).await?;
        // What it changed meanwhile is told now; if it can not be had, the next call asks for it again.
        if self.tools_changed.swap(false, Ordering::Relaxed) && self.compare(&peer).await.is_err() {
            self.tools_changed.store(true, Ordering::Relaxed);
        }
        Ok(Outcome::of(result))
    }

    /// The prompts that it has ready. Starts it.
    pub async fn prompts(&self) -> Result<Vec<PromptInfo>, McpError> {
        let peer = self.peer().await?;
        if peer.peer_info().is_none_or(|info| info.capabilities.prompts.is_none()) {
            return Ok(vec![]);
        }
        let prompts = self.within(peer.list_all_prompts()).await?;
        let info = |prompt: rmcp::model::Prompt| PromptInfo {
            name: prompt.name,
            description: prompt.description.unwrap_or_default(),
            arguments: prompt
                .arguments
                .unwrap_or_default()
                .into_iter()
                .map(|argument| (argument.name, argument.required.unwrap_or(false)))
                .collect(),
        };
        Ok(prompts.into_iter().take(MAX_LISTED).map(info).collect())
    }

    /// One of its prompts, filled in.
    pub async fn prompt(&self, name: &str, arguments: Map<String, Value>) -> Result<Outcome, McpError> {
        let peer = self.peer().await?;
        let params = GetPromptRequestParams::new(name.to_owned()).with_arguments(arguments);
        let result = self.within(peer.get_prompt(params)).await?;
        let mut outcome = Outcome::default();
        result.messages.into_iter().for_each(|message| outcome.add(message.content));
        Ok(outcome)
    }

    /// What it can be asked for by name. Starts it.
    pub async fn resources(&self) -> Result<Vec<ResourceInfo>, McpError> {
        let peer = self.peer().await?;
        if peer.peer_info().is_none_or(|info| info.capabilities.resources.is_none()) {
            return Ok(vec![]);
        }
        let resources = self.within(peer.list_all_resources()).await?;
        let info = |resource: rmcp::model::Resource| ResourceInfo {
            uri: resource.uri,
            name: resource.name,
            description: resource.description.unwrap_or_default(),
        };
        Ok(resources.into_iter().take(MAX_LISTED).map(info).collect())
    }

    pub async fn resource(&self, uri: &str) -> Result<Outcome, McpError> {
        let peer = self.peer().await?;
        let result = self.within(peer.read_resource(ReadResourceRequestParams::new(uri))).await?;
        let mut outcome = Outcome::default();
        result.contents.into_iter().for_each(|contents| outcome.resource(contents));
        Ok(outcome)
    }

    fn agreement(&self) -> std::sync::MutexGuard<'_, Agreement> {
        self.agreement.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection, made if there is none.
    async fn peer(&self) -> Result<Peer<RoleClient>, McpError> {
        let mut state = self.state.lock().await;
        if let Some(connection) =
            state.connection.as_ref().filter(|connection| !connection.service.is_closed())
        {
            return Ok(connection.service.peer().clone());
        }
        state.connection = None;
        if let Some(wait) = state.not_before.and_then(|then| then.checked_duration_since(Instant::now())) {
            return Err(McpError::Resting { server: self.name.clone(), failures: state.failures, wait });
        }
        match tokio::time::timeout(START_LIMIT.min(self.config.time_limit()), self.connect()).await {
            Ok(Ok(connection)) => {
                let peer = connection.service.peer().clone();
                let agreed = !self.agreement().tools.is_empty();
                if agreed {
                    let now = self.listed(&peer).await.inspect_err(|_| state.rest())?;
                    state.held = self.not_as_agreed(&now);
                }
                state.connection = Some(connection);
                state.failures = 0;
                state.not_before = None;
                Ok(peer)
            }
            Ok(Err(error)) => {
                state.rest();
                Err(error)
            }
            Err(_) => {
                state.rest();
                let limit = START_LIMIT.min(self.config.time_limit());
                Err(McpError::TimedOut { server: self.name.clone(), limit })
            }
        }
    }

    async fn compare(&self, peer: &Peer<RoleClient>) -> Result<(), McpError> {
        let now = self.listed(peer).await?;
        let held = self.not_as_agreed(&now);
        self.state.lock().await.held = held;
        Ok(())
    }

    fn not_as_agreed(&self, now: &[ToolInfo]) -> Vec<String> {
        let differences = self.agreement().differences(now);
        let changed = differences.iter().filter(|difference| !matches!(difference, Difference::Gone(_)));
        changed.map(|difference| difference.tool().to_owned()).collect()
    }

    async fn listed(&self, peer: &Peer<RoleClient>) -> Result<Vec<ToolInfo>, McpError> {
        let tools = self.within(peer.list_all_tools()).await?;
        let mut tools: Vec<ToolInfo> = tools.into_iter().take(MAX_TOOLS).filter_map(content::tool).collect();
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools.dedup_by(|a, b| a.name == b.name);
        Ok(tools)
    }

    async fn connect(&self) -> Result<Connection, McpError> {
        let handler = Handler {
            server: self.name.clone(),
            person: self.person.clone(),
            tools_changed: self.tools_changed.clone(),
        };
        if let Some(url) = &self.config.url {
            let (client, config) = self.http(url)?;
            let logged_in = match &self.tokens {
                Some(tokens) => login::logged_in(url, client.clone(), tokens).await,
                None => None,
            };
            let service = match logged_in {
                Some(client) => {
                    handler.serve(StreamableHttpClientTransport::with_client(client, config)).await
                }
                None => handler.serve(StreamableHttpClientTransport::with_client(client, config)).await,
            };
            let service = service.map_err(|error| self.not_connected(&error, ""))?;
            return Ok(Connection { service, _process: None, complaints: Complaints::default() });
        }
        let Pipes { input, output, complaints, process } =
            self.starter.start(&self.config).map_err(|why| self.not_started(why))?;
        let complaints = Complaints::read(complaints);
        let service = handler.serve((output, input)).await;
        let service = match service {
            Ok(service) => service,
            Err(error) => return Err(self.not_connected(&error, &complaints.last_words().await)),
        };
        Ok(Connection { service, _process: Some(process), complaints })
    }

    fn http(&self, url: &str) -> Result<(net::Client, StreamableHttpClientTransportConfig), McpError> {
        let mut headers = HashMap::new();
        for (name, value) in &self.config.headers {
            let name = HeaderName::try_from(name).map_err(|error| self.not_started(error.to_string()))?;
            let mut value =
                HeaderValue::try_from(value).map_err(|error| self.not_started(error.to_string()))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
        let url: net::Url =
            url.parse().map_err(|error: url::ParseError| self.not_started(error.to_string()))?;
        let client = net::client(&url).map_err(|error| self.not_started(error.to_string()))?;
        Ok((client, config))
    }

    fn not_started(&self, why: String) -> McpError {
        McpError::NotStarted { server: self.name.clone(), why }
    }

    fn not_connected(&self, error: &ClientInitializeError, said: &str) -> McpError {
        if error.is_authorization_required() {
            return McpError::NeedsLogin { server: self.name.clone() };
        }
        let said = if said.is_empty() { String::new() } else { format!("; it said: {said}") };
        self.not_started(format!("{error}{said}"))
    }

    /// Waits for an answer, but not for ever.
    async fn within<T>(&self, answer: impl Future<Output = Result<T, ServiceError>>) -> Result<T, McpError> {
        let limit = self.config.time_limit();
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(ServiceError::McpError(error))) => Err(McpError::Refused(error.message.into_owned())),
            Ok(Err(ServiceError::TransportClosed | ServiceError::TransportSend(_))) => {
                // The next call starts it again. Whoever holds the state drops the connection themselves.
                let lost = self.state.try_lock().ok().and_then(|mut state| state.connection.take());
                let said = lost.map(|lost| lost.complaints.said()).unwrap_or_default();
                let said = if said.is_empty() { said } else { format!(": {said}") };
                Err(McpError::Gone { server: self.name.clone(), said })
            }
            Ok(Err(other)) => Err(McpError::Refused(other.to_string())),
            Err(_) if self.hangs().await => Err(McpError::Hung { server: self.name.clone(), limit }),
            Err(_) => Err(McpError::TimedOut { server: self.name.clone(), limit }),
        }
    }

    /// Whether it does not even say that it is there, after it did not answer in time. It is let go then: one that is
    /// merely slow with one thing is kept.
    async fn hangs(&self) -> bool {
        // Whoever holds the state is just connecting, and lets go of it themselves.
        let peer = self
            .state
            .try_lock()
            .ok()
            .and_then(|state| Some(state.connection.as_ref()?.service.peer().clone()));
        let Some(peer) = peer else { return false };
        let ping = peer.send_request(ClientRequest::PingRequest(PingRequest::default()));
        if tokio::time::timeout(PING_LIMIT, ping).await.is_ok() {
            return false;
        }
        self.state.lock().await.connection = None;
        true
    }

    /// What the person should know: tools that are held since they were last told.
    pub async fn news(&self) -> Option<String> {
        let mut state = self.state.lock().await;
        if state.held == state.told {
            return None;
        }
        state.told = state.held.clone();
        let names: Vec<String> = state.held.iter().map(|tool| format!("`{tool}`")).collect();
        (!names.is_empty()).then(|| {
            format!(
                "MCP server `{0}` has tools that are new or not as you accepted them: {1}; they are held until you look: covey mcp accept {0}",
                self.name,
                names.join(", ")
            )
        })
    }

    /// Where the agreement with it is kept.
    pub fn agreement_file(&self, data: &std::path::Path) -> PathBuf {
        Agreement::file(data, &self.name, &self.config)
    }
}

impl State {
    fn rest(&mut self) {
        self.failures += 1;
        let pause =
            FIRST_PAUSE.saturating_mul(1 << self.failures.min(6).saturating_sub(1)).min(LONGEST_PAUSE);
        self.not_before = Some(Instant::now() + pause);
    }
}

impl Complaints {
    fn read(mut from: Box<dyn AsyncRead + Send + Unpin>) -> Self {
        let complaints = Self::default();
        let kept = complaints.0.clone();
        let task = tokio::spawn(async move {
            let mut piece = vec![0; 4096];
            while let Ok(length @ 1..) = from.read(&mut piece).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&piece[..length]);
                let over = kept.len().saturating_sub(COMPLAINTS);
                kept.drain(..over);
            }
        });
        *complaints.1.lock().unwrap_or_else(PoisonError::into_inner) = Some(Reading(task));
        complaints
    }

    /// What it said, once it has said all: a program that ends says why just before.
    async fn last_words(&self) -> String {
        let reading = self.1.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut reading) = reading {
            // One that still runs says no more worth waiting for.
            let _ = tokio::time::timeout(LAST_WORDS, &mut reading.0).await;
        }
        self.said()
    }

    fn said(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).trim().to_owned()
    }
}
