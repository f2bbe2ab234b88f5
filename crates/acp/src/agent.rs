//! Being the agent: what a client asks of us, and the words to answer it in.

use std::path::PathBuf;

use agent_client_protocol_schema::v1 as schema;
use protocol::{Content, Stop, StopCause, Usage};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::client::{Listed, McpServer, Opened, Place};
use crate::convert;
use crate::message::{Params, RpcError};
use crate::options::About;

/// The version of the protocol that we speak.
const VERSION: u16 = 1;

/// What the client at the other end can do for us.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offered {
    pub read_files: bool,
    pub write_files: bool,
    pub terminals: bool,
    /// It shows notices as such; others get them as text.
    pub notices: bool,
    /// It can start our program in a terminal for a person to log in.
    pub terminal_login: bool,
}

/// What a client asks of an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    Initialize(Offered),
    Authenticate { method: String },
    NewSession { place: Place },
    LoadSession { session: String, place: Place },
    ResumeSession { session: String, place: Place },
    ListSessions { cwd: Option<PathBuf> },
    CloseSession { session: String },
    DeleteSession { session: String },
    SetMode { session: String, mode: String },
    SetOption { session: String, option: String, value: String },
    Prompt { session: String, prompt: Vec<Content> },
}

impl Call {
    /// Reads a request. The error is the answer.
    pub fn parse(method: &str, params: &Params) -> Result<Self, RpcError> {
        Ok(match method {
            "initialize" => Self::Initialize(offered(read(params)?)),
            "authenticate" => {
                let request: schema::AuthenticateRequest = read(params)?;
                Self::Authenticate { method: request.method_id.0.to_string() }
            }
            "session/new" => {
                let request: schema::NewSessionRequest = read(params)?;
                Self::NewSession {
                    place: place(request.cwd, request.additional_directories, request.mcp_servers)?,
                }
            }
            "session/load" => {
                let request: schema::LoadSessionRequest = read(params)?;
                let place = place(request.cwd, request.additional_directories, request.mcp_servers)?;
                Self::LoadSession { session: request.session_id.0.to_string(), place }
            }
            "session/resume" => {
                let request: schema::ResumeSessionRequest = read(params)?;
                let place = place(request.cwd, request.additional_directories, request.mcp_servers)?;
                Self::ResumeSession { session: request.session_id.0.to_string(), place }
            }
            "session/list" => {
                let request: schema::ListSessionsRequest = read(params)?;
                Self::ListSessions { cwd: request.cwd }
            }
            "session/close" => {
                let request: schema::CloseSessionRequest = read(params)?;
                Self::CloseSession { session: request.session_id.0.to_string() }
            }
            "session/delete" => {
                let request: schema::DeleteSessionRequest = read(params)?;
                Self::DeleteSession { session: request.session_id.0.to_string() }
            }
            "session/set_mode" => {
                let request: schema::SetSessionModeRequest = read(params)?;
                let mode = request.mode_id.0.to_string();
                Self::SetMode { session: request.session_id.0.to_string(), mode }
            }
            "session/set_config_option" => {
                let request: schema::SetSessionConfigOptionRequest = read(params)?;
                let schema::SessionConfigOptionValue::ValueId { value } = request.value else {
                    return Err(RpcError::new(
                        RpcError::INVALID_PARAMS,
                        "every option here is a choice by name",
                    ));
                };
                let (option, value) = (request.config_id.0.to_string(), value.0.to_string());
                Self::SetOption { session: request.session_id.0.to_string(), option, value }
            }
            "session/prompt" => {
                let request: schema::PromptRequest = read(params)?;
                let audio = |block: &schema::ContentBlock| matches!(block, schema::ContentBlock::Audio(_));
                if request.prompt.iter().any(audio) {
                    return Err(RpcError::new(
                        RpcError::INVALID_PARAMS,
                        "sound is not taken, and was not offered",
                    ));
                }
                let prompt = request.prompt.into_iter().map(convert::content).collect();
                Self::Prompt { session: request.session_id.0.to_string(), prompt }
            }
            other => return Err(RpcError::unknown_method(other)),
        })
    }

    /// The session that is to be cancelled, from the arguments of `session/cancel`.
    pub fn cancelled(params: &Params) -> Option<String> {
        let cancel: schema::CancelNotification = params.parse().ok()?;
        Some(cancel.session_id.0.to_string())
    }
}

fn read<T: DeserializeOwned>(params: &Params) -> Result<T, RpcError> {
    params.parse().map_err(|error| RpcError::new(RpcError::INVALID_PARAMS, error.to_string()))
}

fn offered(request: schema::InitializeRequest) -> Offered {
    let can = request.client_capabilities;
    Offered {
        read_files: can.fs.read_text_file,
        write_files: can.fs.write_text_file,
        terminals: can.terminal,
        notices: can.session.is_some_and(|session| session.notices.is_some()),
        terminal_login: can.auth.terminal,
    }
}

fn place(cwd: PathBuf, folders: Vec<PathBuf>, servers: Vec<schema::McpServer>) -> Result<Place, RpcError> {
    if let Some(relative) = std::iter::once(&cwd).chain(&folders).find(|path| !path.is_absolute()) {
        let why = format!("folders are absolute paths, and `{}` is none", relative.display());
        return Err(RpcError::new(RpcError::INVALID_PARAMS, why));
    }
    let server = |server: schema::McpServer| match server {
        schema::McpServer::Stdio(server) => Some(McpServer::Stdio {
            name: server.name,
            command: server.command,
            args: server.args,
            env: server.env.into_iter().map(|variable| (variable.name, variable.value)).collect(),
        }),
        schema::McpServer::Http(server) => Some(McpServer::Http {
            name: server.name,
            url: server.url,
            headers: server.headers.into_iter().map(|header| (header.name, header.value)).collect(),
        }),
        // Kinds that we do not offer to take.
        _ => None,
    };
    Ok(Place { cwd, folders, servers: servers.into_iter().filter_map(server).collect() })
}

/// A way to log in: our own program, started in a terminal with these arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginMethod {
    pub id: String,
    pub name: String,
    pub description: String,
    pub args: Vec<String>,
}

/// The answer to `initialize`: who we are and what we can do.
pub fn introduction(name: &str, title: &str, version: &str, logins: &[LoginMethod]) -> Value {
    let login = |method: &LoginMethod| json!({"type": "terminal", "id": method.id, "name": method.name, "description": method.description, "args": method.args});
    json!({
        "protocolVersion": VERSION,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": true, "audio": false, "embeddedContext": true},
            "mcpCapabilities": {"http": true, "sse": false},
            "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {}},
        },
        "agentInfo": {"name": name, "title": title, "version": version},
        "authMethods": logins.iter().map(login).collect::<Vec<_>>(),
    })
}

/// The answer to whatever opened a session: what can be chosen in it, modes also in the form of older clients.
pub fn session_answer(opened: &Opened, descriptions: &[(&str, &str)], with_id: bool) -> Value {
    let mut answer = json!({});
    if with_id {
        answer["sessionId"] = json!(opened.id);
    }
    if let Some(modes) = opened.options.iter().find(|option| option.about == About::Mode) {
        let mode = |choice: &crate::Choice| {
            let described = descriptions.iter().find(|(id, _)| *id == choice.value).map(|(_, text)| *text);
            json!({"id": choice.value, "name": choice.name, "description": described})
        };
        answer["modes"] = json!({
            "currentModeId": modes.current,
            "availableModes": modes.choices.iter().map(mode).collect::<Vec<_>>(),
        });
    }
    answer["configOptions"] = opened.options.iter().map(crate::ConfigOption::to_value).collect();
    answer
}

/// The answer to `session/list`.
pub fn listing(sessions: &[Listed]) -> Value {
    let one = |session: &Listed| json!({"sessionId": session.id, "cwd": session.cwd, "title": session.title, "updatedAt": session.updated});
    json!({"sessions": sessions.iter().map(one).collect::<Vec<_>>()})
}

/// The answer to a prompt. None for an end that is an error.
pub fn prompt_answer(stop: Stop, cause: Option<StopCause>, usage: &Usage) -> Option<Value> {
    let reason = match (stop, cause) {
        (Stop::Done | Stop::Denied, _) => "end_turn",
        (Stop::Cancelled, _) => "cancelled",
        (Stop::Limit, Some(StopCause::OutputLimit)) => "max_tokens",
        (Stop::Limit, _) => "max_turn_requests",
        (Stop::Error, Some(StopCause::Refused)) => "refusal",
        (Stop::Error, _) => return None,
    };
    let mut answer = json!({"stopReason": reason});
    if !usage.is_empty() {
        // What was read from a cache is a part of the input for us, and beside it for the protocol.
        answer["usage"] = json!({
            "totalTokens": usage.total(),
            "inputTokens": usage.input.saturating_sub(usage.cache_read + usage.cache_write),
            "outputTokens": usage.output,
            "thoughtTokens": usage.reasoning,
            "cachedReadTokens": usage.cache_read,
            "cachedWriteTokens": usage.cache_write,
        });
    }
    Some(answer)
}
