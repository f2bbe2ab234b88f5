//! Being the client: what we ask of an agent, and what it asks of us.

use std::path::{Path, PathBuf};

use agent_client_protocol_schema::{ProtocolVersion, v1 as schema};
use protocol::{Content, PermissionOption, Stop, StopCause, Usage};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::convert::{self, Takes};
use crate::message::{Params, RpcError};
use crate::news::ToolNews;
use crate::options::{About, Choice, ConfigOption};
use crate::peer::{CallError, Peer};

/// What we do for an agent when it asks.
#[derive(Debug, Clone)]
pub struct Offer {
    pub name: String,
    pub version: String,
    pub files: bool,
    pub terminals: bool,
}

/// What both sides can do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Agreed {
    /// The agent's own name and version.
    pub agent: Option<(String, String)>,
    pub takes: Takes,
    /// A session can be taken up again, with all that was said told again.
    pub load: bool,
    /// The same, without being told.
    pub resume: bool,
    pub list: bool,
    /// A session can be copied.
    pub fork: bool,
    pub close: bool,
    /// A session may have more than one folder.
    pub folders: bool,
    pub mcp_http: bool,
    pub mcp_sse: bool,
    pub auth: Vec<AuthMethod>,
}

impl Agreed {
    /// For a person: what it can do, in words.
    pub fn capabilities(&self) -> Vec<&'static str> {
        let all = [
            (self.takes.images, "images"),
            (self.takes.audio, "audio"),
            (self.takes.embedded, "embedded context"),
            (self.load, "load"),
            (self.resume, "resume"),
            (self.list, "list sessions"),
            (self.fork, "fork"),
            (self.mcp_http, "mcp over http"),
            (self.mcp_sse, "mcp over sse"),
        ];
        all.into_iter().filter_map(|(has, name)| has.then_some(name)).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthMethod {
    pub id: String,
    pub name: String,
    pub description: Option<String>,
}

/// Where an agent works, and which of our MCP servers it may use.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub cwd: PathBuf,
    /// Folders besides it that belong to the work.
    pub folders: Vec<PathBuf>,
    pub servers: Vec<McpServer>,
}

/// An MCP server that is handed on.
#[derive(Debug, Clone, PartialEq)]
pub enum McpServer {
    Stdio { name: String, command: PathBuf, args: Vec<String>, env: Vec<(String, String)> },
    Http { name: String, url: String, headers: Vec<(String, String)> },
}

/// A session of the agent's.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Opened {
    pub id: String,
    /// What can be chosen. Modes and models that come in older forms are among them.
    pub options: Vec<ConfigOption>,
    /// Modes are set by a call of their own.
    pub old_modes: bool,
    /// So are models.
    pub old_models: bool,
}

/// A session that the agent remembers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub id: String,
    pub cwd: PathBuf,
    pub title: Option<String>,
    pub updated: Option<String>,
}

/// How a prompt ended.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptEnd {
    pub stop: Stop,
    pub cause: Option<StopCause>,
    pub usage: Option<Usage>,
    /// How many messages came in before this one; they belong to the same prompt.
    pub before: u64,
}

/// The client's side of a connection.
#[derive(Clone)]
pub struct Client {
    peer: Peer,
}

impl Client {
    pub fn new(peer: Peer) -> Self {
        Self { peer }
    }

    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The first exchange: who we are, which version we speak, what each can do.
    pub async fn initialize(&self, offer: &Offer) -> Result<Agreed, CallError> {
        let fs =
            schema::FileSystemCapabilities::new().read_text_file(offer.files).write_text_file(offer.files);
        let capabilities = schema::ClientCapabilities::new().fs(fs).terminal(offer.terminals);
        let request = schema::InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(capabilities)
            .client_info(schema::Implementation::new(offer.name.clone(), offer.version.clone()));
        let answer: Value = self.call("initialize", &request).await?;
        // Not in the protocol's schema yet, and offered all the same.
        let fork =
            answer.pointer("/agentCapabilities/sessionCapabilities/fork").is_some_and(Value::is_object);
        let answer: schema::InitializeResponse = serde_json::from_value(answer).map_err(|error| {
            CallError::Unexpected { method: "initialize".to_owned(), why: error.to_string() }
        })?;
        if answer.protocol_version != ProtocolVersion::V1 {
            return Err(CallError::Unexpected {
                method: "initialize".to_owned(),
                why: format!(
                    "it speaks version {} of the protocol, we speak 1",
                    answer.protocol_version.as_u16()
                ),
            });
        }
        let can = answer.agent_capabilities;
        let (prompt, session, mcp) =
            (can.prompt_capabilities, can.session_capabilities, can.mcp_capabilities);
        let auth = answer.auth_methods.into_iter().filter_map(|method| {
            let value = serde_json::to_value(method).ok()?;
            let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
            Some(AuthMethod {
                id: text("id")?,
                name: text("name").unwrap_or_default(),
                description: text("description"),
            })
        });
        Ok(Agreed {
            agent: answer.agent_info.map(|info| (info.name, info.version)),
            takes: Takes { images: prompt.image, audio: prompt.audio, embedded: prompt.embedded_context },
            load: can.load_session,
            resume: session.resume.is_some(),
            list: session.list.is_some(),
            fork,
            close: session.close.is_some(),
            folders: session.additional_directories.is_some(),
            mcp_http: mcp.http,
            mcp_sse: mcp.sse,
            auth: auth.collect(),
        })
    }

    pub async fn authenticate(&self, method: &str) -> Result<(), CallError> {
        self.peer.call("authenticate", json!({"methodId": method})).await.map(drop)
    }

    pub async fn new_session(&self, place: &Place) -> Result<Opened, CallError> {
        let answer = self.peer.call("session/new", self.place(place, None)).await?;
        let id = answer.get("sessionId").and_then(Value::as_str).ok_or_else(|| CallError::Unexpected {
            method: "session/new".to_owned(),
            why: "it names no session".to_owned(),
        })?;
        Ok(opened(id, &answer))
    }

    /// Takes a session up again; all that was said in it is told again first.
    pub async fn load_session(&self, id: &str, place: &Place) -> Result<Opened, CallError> {
        let answer = self.peer.call("session/load", self.place(place, Some(id))).await?;
        Ok(opened(id, &answer))
    }

    /// Takes a session up again, silently.
    pub async fn resume_session(&self, id: &str, place: &Place) -> Result<Opened, CallError> {
        let answer = self.peer.call("session/resume", self.place(place, Some(id))).await?;
        Ok(opened(id, &answer))
    }

    /// Copies a session; the copy goes on by itself.
    pub async fn fork_session(&self, id: &str, place: &Place) -> Result<Opened, CallError> {
        let answer = self.peer.call("session/fork", self.place(place, Some(id))).await?;
        let id = answer.get("sessionId").and_then(Value::as_str).ok_or_else(|| CallError::Unexpected {
            method: "session/fork".to_owned(),
            why: "it names no session".to_owned(),
        })?;
        Ok(opened(id, &answer))
    }

    pub async fn list_sessions(&self, cwd: &Path) -> Result<Vec<Listed>, CallError> {
        let answer: schema::ListSessionsResponse = self.call("session/list", &json!({"cwd": cwd})).await?;
        let listed = |info: schema::SessionInfo| Listed {
            id: info.session_id.0.to_string(),
            cwd: info.cwd,
            title: info.title,
            updated: info.updated_at,
        };
        Ok(answer.sessions.into_iter().map(listed).collect())
    }

    /// Sends a prompt and waits for its end.
    pub async fn prompt(&self, session: &str, prompt: Vec<PromptBlock>) -> Result<PromptEnd, CallError> {
        let blocks: Vec<schema::ContentBlock> = prompt.into_iter().map(|block| block.0).collect();
        let params = json!({"sessionId": session, "prompt": blocks});
        let (answer, before) = self.peer.call_in_order("session/prompt", params).await?;
        let reason = answer.get("stopReason").and_then(Value::as_str);
        let (stop, cause) = convert::stop(reason);
        Ok(PromptEnd { stop, cause, usage: convert::usage(&answer), before })
    }

    pub async fn cancel(&self, session: &str) -> Result<(), CallError> {
        self.peer.notify("session/cancel", json!({"sessionId": session})).await
    }

    pub async fn close_session(&self, session: &str) -> Result<(), CallError> {
        self.peer.call("session/close", json!({"sessionId": session})).await.map(drop)
    }

    /// Chooses one of a session's options, in whichever form the agent knows.
    pub async fn choose(
        &self,
        session: &Opened,
        option: &ConfigOption,
        value: &str,
    ) -> Result<(), CallError> {
        let id = &session.id;
        match option.about {
            About::Mode if session.old_modes => {
                self.peer.call("session/set_mode", json!({"sessionId": id, "modeId": value})).await.map(drop)
            }
            About::Model if session.old_models => self
                .peer
                .call("session/set_model", json!({"sessionId": id, "modelId": value}))
                .await
                .map(drop),
            _ => {
                let mut params = json!({"sessionId": id, "configId": option.id, "value": value});
                if option.switch {
                    params["type"] = json!("boolean");
                    params["value"] = json!(value == "true");
                }
                self.peer.call("session/set_config_option", params).await.map(drop)
            }
        }
    }

    fn place(&self, place: &Place, session: Option<&str>) -> Value {
        let pairs = |pairs: &[(String, String)]| -> Vec<Value> {
            pairs.iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
        };
        let servers: Vec<Value> = place
            .servers
            .iter()
            .map(|server| match server {
                McpServer::Stdio { name, command, args, env } => {
                    json!({"name": name, "command": command, "args": args, "env": pairs(env)})
                }
                McpServer::Http { name, url, headers } => {
                    json!({"type": "http", "name": name, "url": url, "headers": pairs(headers)})
                }
            })
            .collect();
        let mut params = json!({"cwd": place.cwd, "mcpServers": servers});
        if !place.folders.is_empty() {
            params["additionalDirectories"] = json!(place.folders);
        }
        if let Some(session) = session {
            params["sessionId"] = json!(session);
        }
        params
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl serde::Serialize,
    ) -> Result<T, CallError> {
        let answer = self.peer.call(method, params).await?;
        serde_json::from_value(answer)
            .map_err(|error| CallError::Unexpected { method: method.to_owned(), why: error.to_string() })
    }
}

/// Part of a prompt, in the protocol's form.
#[derive(Debug, Clone)]
pub struct PromptBlock(schema::ContentBlock);

impl PromptBlock {
    /// The error says what can not be sent, for a person.
    pub fn new(content: &Content, takes: Takes) -> Result<Self, String> {
        convert::block(content, takes).map(Self)
    }
}

fn opened(id: &str, answer: &Value) -> Opened {
    let options: Option<Vec<schema::SessionConfigOption>> =
        answer.get("configOptions").cloned().and_then(|all| serde_json::from_value(all).ok());
    let mut options: Vec<ConfigOption> =
        options.unwrap_or_default().into_iter().map(ConfigOption::from).collect();
    let has = |options: &[ConfigOption], about| options.iter().any(|option| option.about == about);
    let old_modes = !has(&options, About::Mode);
    let old_models = !has(&options, About::Model);
    if old_modes {
        options.extend(old_form(answer, "modes", About::Mode, ["currentModeId", "availableModes", "id"]));
    }
    if old_models {
        options.extend(old_form(
            answer,
            "models",
            About::Model,
            ["currentModelId", "availableModels", "modelId"],
        ));
    }
    Opened { id: id.to_owned(), options, old_modes, old_models }
}

/// Modes and models had lists of their own before there were options.
fn old_form(answer: &Value, field: &str, about: About, names: [&str; 3]) -> Option<ConfigOption> {
    let [current, available, id] = names;
    let state = answer.get(field)?;
    let choices = state.get(available)?.as_array()?.iter().filter_map(|entry| {
        let value = entry.get(id)?.as_str()?.to_owned();
        let name = entry.get("name").and_then(Value::as_str).unwrap_or(&value).to_owned();
        Some(Choice { value, name })
    });
    Some(ConfigOption {
        id: field.to_owned(),
        name: field.to_owned(),
        about,
        current: state.get(current).and_then(Value::as_str).unwrap_or_default().to_owned(),
        choices: choices.collect(),
        switch: false,
    })
}

/// What an agent asks of its client.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    Permission { tool: Box<ToolNews>, options: Vec<PermissionOption> },
    Read { path: PathBuf, line: Option<u32>, limit: Option<u32> },
    Write { path: PathBuf, text: String },
    Terminal(TerminalAsk),
}

#[derive(Debug, Clone, PartialEq)]
pub enum TerminalAsk {
    Create {
        command: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
        cwd: Option<PathBuf>,
        /// How much of its output is kept, in bytes.
        keep: Option<u64>,
    },
    Output(String),
    Wait(String),
    Kill(String),
    Release(String),
}

impl Ask {
    /// Reads a request, with the session it is for. The error is the answer.
    pub fn parse(method: &str, params: &Params) -> Result<(String, Self), RpcError> {
        fn read<T: DeserializeOwned>(params: &Params) -> Result<T, RpcError> {
            params.parse().map_err(|error| RpcError::new(RpcError::INVALID_PARAMS, error.to_string()))
        }
        let terminal = |make: fn(String) -> TerminalAsk| -> Result<(String, Self), RpcError> {
            let request: schema::TerminalOutputRequest = read(params)?;
            Ok((request.session_id.0.to_string(), Self::Terminal(make(request.terminal_id.0.to_string()))))
        };
        match method {
            "session/request_permission" => {
                let request: schema::RequestPermissionRequest = read(params)?;
                let options = request.options.into_iter().map(convert::option).collect();
                let tool = Box::new(ToolNews::of(request.tool_call));
                Ok((request.session_id.0.to_string(), Self::Permission { tool, options }))
            }
            "fs/read_text_file" => {
                let request: schema::ReadTextFileRequest = read(params)?;
                let (path, line, limit) = (request.path, request.line, request.limit);
                Ok((request.session_id.0.to_string(), Self::Read { path, line, limit }))
            }
            "fs/write_text_file" => {
                let request: schema::WriteTextFileRequest = read(params)?;
                let (path, text) = (request.path, request.content);
                Ok((request.session_id.0.to_string(), Self::Write { path, text }))
            }
            "terminal/create" => {
                let request: schema::CreateTerminalRequest = read(params)?;
                let create = TerminalAsk::Create {
                    command: request.command,
                    args: request.args,
                    env: request.env.into_iter().map(|variable| (variable.name, variable.value)).collect(),
                    cwd: request.cwd,
                    keep: request.output_byte_limit,
                };
                Ok((request.session_id.0.to_string(), Self::Terminal(create)))
            }
            "terminal/output" => terminal(TerminalAsk::Output),
            "terminal/wait_for_exit" => terminal(TerminalAsk::Wait),
            "terminal/kill" => terminal(TerminalAsk::Kill),
            "terminal/release" => terminal(TerminalAsk::Release),
            other => Err(RpcError::unknown_method(other)),
        }
    }
}

/// The answer to a permission request: the chosen option, or that the turn was cancelled.
pub fn permission_answer(option: Option<&str>) -> Value {
    match option {
        Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    }
}
