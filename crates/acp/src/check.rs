//! The protocol's rules, held against a conversation. Nothing here waits or acts.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use agent_client_protocol_schema::v1 as schema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::recording::{Record, Said, Side};

#[cfg(test)]
mod tests;

/// A rule that was broken, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub by: Side,
    /// The rule, in words.
    pub text: String,
}

/// Watches a conversation from its beginning.
#[derive(Default)]
pub struct Checker {
    /// What each side asked and was not answered yet, by id.
    client_asks: HashMap<String, Asked>,
    agent_asks: HashMap<String, Asked>,
    is_introduced: bool,
    client_can: Value,
    agent_can: Value,
    sessions: HashMap<String, Session>,
    findings: Vec<Finding>,
}

struct Asked {
    method: String,
    params: Value,
    /// Asked before the turn that it belongs to was cancelled, or after.
    in_cancelled: bool,
}

#[derive(Default)]
struct Session {
    prompting: bool,
    cancelled: bool,
    /// What was said before is told again.
    loading: bool,
    calls: HashSet<String>,
    terminals: HashSet<String>,
}

impl Checker {
    /// Takes one line more, and says what is wrong with it.
    pub fn see(&mut self, record: &Record) -> Vec<Finding> {
        match &record.said {
            Said::Noise(text) => {
                let start: String = text.chars().take(60).collect();
                self.find(record.by, format!("a line that is no message: {start}"));
            }
            Said::Message(message) => self.message(record.by, message),
        }
        std::mem::take(&mut self.findings)
    }

    /// What is wrong with the end: questions that were never answered.
    pub fn end(&mut self) -> Vec<Finding> {
        let left = |asks: &mut HashMap<String, Asked>| -> Vec<(String, String)> {
            let mut left: Vec<_> = asks.drain().map(|(id, asked)| (id, asked.method)).collect();
            left.sort();
            left
        };
        for (side, asks) in
            [(Side::Agent, left(&mut self.client_asks)), (Side::Client, left(&mut self.agent_asks))]
        {
            for (id, method) in asks {
                self.find(side, format!("`{method}` ({id}) was never answered"));
            }
        }
        std::mem::take(&mut self.findings)
    }

    fn find(&mut self, by: Side, text: impl Into<String>) {
        self.findings.push(Finding { by, text: text.into() });
    }

    fn asks(&mut self, side: Side) -> &mut HashMap<String, Asked> {
        match side {
            Side::Client => &mut self.client_asks,
            Side::Agent => &mut self.agent_asks,
        }
    }

    fn message(&mut self, by: Side, message: &Value) {
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            self.find(by, "a message without `\"jsonrpc\":\"2.0\"`");
        }
        let id = message.get("id").filter(|id| !id.is_null()).map(Value::to_string);
        let method = message.get("method").and_then(Value::as_str);
        let params = message.get("params").cloned().unwrap_or_default();
        match (method, id) {
            (Some(method), Some(id)) => self.request(by, id, method, params),
            (Some(method), None) => self.notification(by, method, &params),
            (None, Some(id)) => self.response(by, &id, message),
            (None, None) => self.find(by, "a message that is neither a call nor an answer"),
        }
    }

    fn request(&mut self, by: Side, id: String, method: &str, params: Value) {
        let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default().to_owned();
        if by == Side::Client && method != "initialize" && !self.is_introduced {
            self.find(by, format!("`{method}` before `initialize` was answered"));
        }
        if let Some(why) = shape(method, &params) {
            self.find(by, format!("`{method}`: {why}"));
        }
        self.capability(by, method, &params);
        let opens = matches!(method, "session/load" | "session/resume");
        let about_session =
            method.starts_with("session/") || method.starts_with("fs/") || method.starts_with("terminal/");
        let needs_session =
            about_session && !matches!(method, "session/new" | "session/list" | "session/delete");
        if needs_session && !opens && !self.sessions.contains_key(&session) {
            self.find(by, format!("`{method}` for the session `{session}`, which is not open"));
        }
        match method {
            "session/load" => self.sessions.entry(session.clone()).or_default().loading = true,
            "session/prompt" => {
                let state = self.sessions.entry(session.clone()).or_default();
                let twice = std::mem::replace(&mut state.prompting, true);
                state.cancelled = false;
                if twice {
                    self.find(by, "a prompt while another one runs in the same session");
                }
            }
            "terminal/output" | "terminal/wait_for_exit" | "terminal/kill" | "terminal/release" => {
                let terminal = params.get("terminalId").and_then(Value::as_str).unwrap_or_default();
                let state = self.sessions.entry(session.clone()).or_default();
                let known = if method == "terminal/release" {
                    state.terminals.remove(terminal)
                } else {
                    state.terminals.contains(terminal)
                };
                if !known {
                    self.find(by, format!("`{method}` for the terminal `{terminal}`, which is not open"));
                }
            }
            _ => {}
        }
        if let Some(path) = ["cwd", "path"].iter().find_map(|name| params.get(*name)?.as_str())
            && !Path::new(path).is_absolute()
        {
            self.find(by, format!("`{method}`: `{path}` is no absolute path"));
        }
        let in_cancelled = self.sessions.get(&session).is_some_and(|state| state.cancelled);
        let asked = Asked { method: method.to_owned(), params, in_cancelled };
        if self.asks(by).insert(id.clone(), asked).is_some() {
            self.find(by, format!("the id {id} is used again before it was answered"));
        }
    }

    /// What may be asked only of a side that said it can do it.
    fn capability(&mut self, by: Side, method: &str, params: &Value) {
        let has = |can: &Value, path: &str| {
            can.pointer(path).is_some_and(|can| *can != Value::Bool(false) && !can.is_null())
        };
        let (can, path) = match (by, method) {
            (Side::Agent, "fs/read_text_file") => (&self.client_can, "/fs/readTextFile"),
            (Side::Agent, "fs/write_text_file") => (&self.client_can, "/fs/writeTextFile"),
            (Side::Agent, method) if method.starts_with("terminal/") => (&self.client_can, "/terminal"),
            (Side::Client, "session/load") => (&self.agent_can, "/loadSession"),
            (Side::Client, "session/resume") => (&self.agent_can, "/sessionCapabilities/resume"),
            (Side::Client, "session/list") => (&self.agent_can, "/sessionCapabilities/list"),
            (Side::Client, "session/close") => (&self.agent_can, "/sessionCapabilities/close"),
            (Side::Client, "session/delete") => (&self.agent_can, "/sessionCapabilities/delete"),
            (Side::Client, "session/prompt") => {
                let blocks = params.get("prompt").and_then(Value::as_array).cloned().unwrap_or_default();
                for (kind, path) in [
                    ("image", "/promptCapabilities/image"),
                    ("audio", "/promptCapabilities/audio"),
                    ("resource", "/promptCapabilities/embeddedContext"),
                ] {
                    if blocks.iter().any(|block| block["type"] == kind) && !has(&self.agent_can, path) {
                        self.find(by, format!("a prompt with `{kind}`, which the agent does not take"));
                    }
                }
                return;
            }
            _ => return,
        };
        if !has(can, path) {
            self.find(by, format!("`{method}`, which the other side did not offer"));
        }
    }

    fn notification(&mut self, by: Side, method: &str, params: &Value) {
        let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
        match (by, method) {
            (Side::Client, "session/cancel") => match self.sessions.get_mut(session) {
                Some(state) => state.cancelled |= state.prompting,
                None => self.find(by, format!("`{method}` for the session `{session}`, which is not open")),
            },
            (Side::Agent, "session/update") => self.update(session, params),
            _ => {}
        }
    }

    fn update(&mut self, session: &str, params: &Value) {
        let by = Side::Agent;
        let update = &params["update"];
        let name = update["sessionUpdate"].as_str().unwrap_or_default().to_owned();
        if let Some(why) = wrong::<schema::SessionNotification>(params) {
            self.find(by, format!("an update `{name}` that the protocol does not know: {why}"));
        }
        // One that is just being opened may be told of before its answer names it.
        let opening = self.client_asks.values().any(|asked| asked.method == "session/new");
        let Some(state) = self.sessions.get_mut(session) else {
            if !opening {
                self.find(by, format!("an update for the session `{session}`, which is not open"));
            }
            return;
        };
        let in_turn = state.prompting || state.loading;
        let call = update["toolCallId"].as_str().unwrap_or_default().to_owned();
        let problem = match name.as_str() {
            "tool_call" if !state.calls.insert(call.clone()) => {
                Some(format!("the call `{call}` begins twice"))
            }
            "tool_call_update" if !state.calls.contains(&call) => {
                state.calls.insert(call.clone());
                Some(format!("news of the call `{call}`, which was never begun"))
            }
            "agent_message_chunk"
            | "agent_thought_chunk"
            | "user_message_chunk"
            | "tool_call"
            | "tool_call_update"
            | "plan"
                if !in_turn =>
            {
                Some(format!("`{name}` while no prompt runs"))
            }
            _ => None,
        };
        let relative = places(update).into_iter().find(|path| !Path::new(path).is_absolute());
        if let Some(problem) = problem {
            self.find(by, problem);
        }
        if let Some(path) = relative {
            self.find(by, format!("`{name}`: `{path}` is no absolute path"));
        }
    }

    fn response(&mut self, by: Side, id: &str, message: &Value) {
        let Some(asked) = self.asks(by.other()).remove(id) else {
            return self.find(by, format!("an answer to {id}, which was not asked or was answered before"));
        };
        let result = message.get("result");
        if result.is_some() == message.get("error").is_some_and(|error| !error.is_null()) {
            self.find(
                by,
                format!("the answer to `{}` has not exactly one of result and error", asked.method),
            );
        }
        let session = asked.params.get("sessionId").and_then(Value::as_str).unwrap_or_default().to_owned();
        if asked.method == "session/prompt" {
            self.prompt_ended(by, &session, result);
        }
        let Some(result) = result else {
            if matches!(asked.method.as_str(), "session/load" | "session/resume") {
                self.sessions.remove(&session);
            }
            return;
        };
        match asked.method.as_str() {
            "initialize" => {
                self.is_introduced = true;
                self.client_can = asked.params.get("clientCapabilities").cloned().unwrap_or_default();
                self.agent_can = result.get("agentCapabilities").cloned().unwrap_or_default();
                if result.get("protocolVersion").and_then(Value::as_u64).is_none() {
                    self.find(by, "`initialize` was answered without a version");
                }
            }
            "session/new" => match result.get("sessionId").and_then(Value::as_str) {
                Some(id) => drop(self.sessions.insert(id.to_owned(), Session::default())),
                None => self.find(by, "`session/new` was answered without a session"),
            },
            "session/load" | "session/resume" => self.sessions.entry(session).or_default().loading = false,
            "session/close" => drop(self.sessions.remove(&session)),
            "session/request_permission" => self.permission(by, &asked, result),
            "terminal/create" => {
                if let Some(terminal) = result.get("terminalId").and_then(Value::as_str) {
                    self.sessions.entry(session).or_default().terminals.insert(terminal.to_owned());
                }
            }
            _ => {}
        }
    }

    fn prompt_ended(&mut self, by: Side, session: &str, result: Option<&Value>) {
        let Some(state) = self.sessions.get_mut(session) else { return };
        state.prompting = false;
        let cancelled = std::mem::take(&mut state.cancelled);
        let Some(result) = result else {
            if cancelled {
                self.find(by, "a cancelled prompt was answered with an error");
            }
            return;
        };
        let reason = result.get("stopReason").and_then(Value::as_str).unwrap_or_default().to_owned();
        const KNOWN: &[&str] = &["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];
        if !KNOWN.contains(&reason.as_str()) {
            self.find(by, format!("`{reason}` is no reason for a prompt to end"));
        } else if reason == "cancelled" && !cancelled {
            self.find(by, "a prompt ended as cancelled that nobody cancelled");
        } else if cancelled && reason != "cancelled" {
            self.find(by, format!("a cancelled prompt ended with `{reason}`"));
        }
    }

    fn permission(&mut self, by: Side, asked: &Asked, result: &Value) {
        let outcome = &result["outcome"];
        let chosen = outcome["optionId"].as_str();
        let offered = asked.params["options"].as_array().cloned().unwrap_or_default();
        match outcome["outcome"].as_str() {
            Some("selected") if asked.in_cancelled => {
                self.find(by, "a question of a cancelled prompt was answered with a choice");
            }
            Some("selected") if !offered.iter().any(|option| option["optionId"].as_str() == chosen) => {
                self.find(by, format!("`{}` was chosen and not offered", chosen.unwrap_or_default()));
            }
            Some("selected" | "cancelled") => {}
            _ => self.find(by, "a question was answered with no outcome"),
        }
    }
}

/// Every path in an update.
fn places(update: &Value) -> Vec<String> {
    let list = |name: &str| update.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let diffs = list("content").into_iter().filter(|part| part["type"] == "diff");
    let paths = list("locations").into_iter().chain(diffs);
    paths.filter_map(|part| part["path"].as_str().map(str::to_owned)).collect()
}

/// What is wrong with the arguments of a request, as far as the protocol says what they are.
fn shape(method: &str, params: &Value) -> Option<String> {
    match method {
        "initialize" => wrong::<schema::InitializeRequest>(params),
        "authenticate" => wrong::<schema::AuthenticateRequest>(params),
        "session/new" => wrong::<schema::NewSessionRequest>(params),
        "session/load" => wrong::<schema::LoadSessionRequest>(params),
        "session/resume" => wrong::<schema::ResumeSessionRequest>(params),
        "session/prompt" => wrong::<schema::PromptRequest>(params),
        "session/request_permission" => wrong::<schema::RequestPermissionRequest>(params),
        "fs/read_text_file" => wrong::<schema::ReadTextFileRequest>(params),
        "fs/write_text_file" => wrong::<schema::WriteTextFileRequest>(params),
        "terminal/create" => wrong::<schema::CreateTerminalRequest>(params),
        _ => None,
    }
}

fn wrong<T: DeserializeOwned>(value: &Value) -> Option<String> {
    serde_json::from_value::<T>(value.clone()).err().map(|error| error.to_string())
}
