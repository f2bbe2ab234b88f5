//! One language server that runs.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use project::{Host, Program as Run, Running, Streams, Task};
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::frame::{Frames, frame};
use super::programs::Program;
use super::uri;
use crate::ToolError;

/// How long a server may take to be there.
const START: Duration = Duration::from_secs(60);
/// How long it may take to read the project.
const LOADING: Duration = Duration::from_secs(60);
/// How long it may take to answer.
const ANSWER: Duration = Duration::from_secs(30);
/// How long one that answers when asked is given to say more.
const MOMENT: Duration = Duration::from_secs(2);
/// Who has little patience to begin with waits for such a part of it only.
const PATIENT: u32 = 20;
/// What waits to be written.
const QUEUE: usize = 64;
/// Findings of one file that are kept.
const MAX_FINDINGS: usize = 500;

/// Something that a server found in a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Diagnostic {
    pub(crate) line: u64,
    pub(crate) severity: u64,
    pub(crate) message: String,
}

impl From<project::Finding> for Diagnostic {
    fn from(found: project::Finding) -> Self {
        let line = u64::from(found.line.saturating_sub(1));
        Self { line, severity: found.severity.into(), message: found.message }
    }
}

impl Diagnostic {
    pub(crate) fn is_error(&self) -> bool {
        self.severity == 1
    }

    /// `src/a.rs:10: error: …`, with the path as it is given.
    pub(crate) fn line_in(&self, path: &Path) -> String {
        let kind = match self.severity {
            1 => "error",
            2 => "warning",
            3 => "note",
            _ => "hint",
        };
        format!("{}:{}: {kind}: {}", path.display(), self.line + 1, self.message.replace('\n', " "))
    }
}

pub(crate) struct LanguageServer {
    name: &'static str,
    outgoing: mpsc::Sender<Vec<u8>>,
    shared: Arc<Shared>,
    next_id: AtomicI64,
    /// What each open file says, and how often it was told.
    open: Mutex<HashMap<String, (i64, String)>>,
    capabilities: Value,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<HashMap<i64, oneshot::Sender<Result<Value, String>>>>,
    findings: Mutex<HashMap<String, Findings>>,
    told: Notify,
    /// It has read the project.
    ready: AtomicBool,
    gone: AtomicBool,
}

#[derive(Default, Clone)]
struct Findings {
    /// Counts how often the server spoke about the file.
    told: u64,
    list: Vec<Diagnostic>,
}

impl Drop for LanguageServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LanguageServer {
    pub(crate) async fn start(host: &dyn Host, program: &'static Program) -> Result<Self, ToolError> {
        let Some(command) = program.found() else { return Err(ToolError(program.missing())) };
        let root = host.roots().main().to_owned();
        // What it complains about must not get between its messages.
        let line = format!("exec {} 2>/dev/null", command.join(" "));
        let task =
            Task { program: Run::Shell(line), cwd: root.clone(), env: vec![], streams: Streams::InOut };
        let running = host.start(task).await?;
        let shared = Arc::new(Shared::default());
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let talk = tokio::spawn(talk(running, queue, outgoing.downgrade(), shared.clone()));
        let mut server = Self {
            name: program.name,
            outgoing,
            shared,
            next_id: AtomicI64::new(1),
            open: Mutex::default(),
            capabilities: Value::Null,
            task: talk,
        };
        let hello = json!({
            "processId": std::process::id(),
            "clientInfo": {"name": "covey", "version": env!("CARGO_PKG_VERSION")},
            "rootUri": uri(&root),
            "workspaceFolders": [{"uri": uri(&root), "name": "project"}],
            "initializationOptions": serde_json::from_str::<Value>(program.options).unwrap_or_default(),
            "capabilities": {
                "textDocument": {
                    "publishDiagnostics": {},
                    "diagnostic": {},
                    "definition": {"linkSupport": true},
                    "hover": {"contentFormat": ["markdown", "plaintext"]},
                    "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
                    "rename": {"prepareSupport": false},
                    "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}},
                        "resolveSupport": {"properties": ["edit"]}}
                },
                "experimental": {"serverStatusNotification": true},
                "workspace": {"workspaceFolders": true, "configuration": true, "workspaceEdit": {"documentChanges": true}}
            }
        });
        let answer = match server.ask_within("initialize", hello, START).await {
            // Something of that name is there, such as rustup's stand-in for a component that nobody installed.
            Err(_) if !server.is_alive() => return Err(ToolError(program.does_not_start())),
            answer => answer?,
        };
        server.capabilities = answer.get("capabilities").cloned().unwrap_or_default();
        server.notify("initialized", json!({})).await;
        if program.tells_when_ready {
            server.settle().await;
        }
        Ok(server)
    }

    /// Waits until it has read the project, for a while: what it knows until then is better than nothing.
    async fn settle(&self) {
        let ready = async {
            while !self.shared.ready.load(Ordering::Relaxed) && self.is_alive() {
                let told = self.shared.told.notified();
                let mut told = std::pin::pin!(told);
                told.as_mut().enable();
                if !self.shared.ready.load(Ordering::Relaxed) && self.is_alive() {
                    told.await;
                }
            }
        };
        let _ = tokio::time::timeout(LOADING, ready).await;
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.shared.gone.load(Ordering::Relaxed)
    }

    /// Asks, and waits for the answer for a while.
    pub(crate) async fn ask(&self, method: &str, params: Value) -> Result<Value, ToolError> {
        self.ask_within(method, params, ANSWER).await
    }

    async fn ask_within(&self, method: &str, params: Value, limit: Duration) -> Result<Value, ToolError> {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (reply, answer) = oneshot::channel();
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, reply);
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        let answer = tokio::time::timeout(limit, answer).await;
        self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        match answer {
            Ok(Ok(Ok(value))) => Ok(value),
            Ok(Ok(Err(why))) => Err(ToolError(format!("{} refused: {why}", self.name))),
            Ok(Err(_)) => Err(ToolError(format!("{} ended; ask again to start it anew", self.name))),
            Err(_) => {
                // It may be busy with something that nobody wants any more.
                self.notify("$/cancelRequest", json!({"id": id})).await;
                Err(ToolError(format!(
                    "{} did not answer within {} s; it may still be loading the project, so ask again \
                    later",
                    self.name,
                    limit.as_secs()
                )))
            }
        }
    }

    async fn notify(&self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params})).await;
    }

    async fn send(&self, message: Value) {
        // One that is gone is noticed by whoever waits for its answer.
        let _ = self.outgoing.send(frame(&message)).await;
    }

    /// Tells the server what a file says now.
    pub(crate) async fn show(&self, uri: &str, language: &str, text: &str) {
        let version = {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            match open.get_mut(uri) {
                Some((_, known)) if known == text => return,
                Some((version, known)) => {
                    *version += 1;
                    text.clone_into(known);
                    *version
                }
                None => {
                    open.insert(uri.to_owned(), (1, text.to_owned()));
                    1
                }
            }
        };
        // What it found before was about something else.
        self.forget(uri);
        if version == 1 {
            let document = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
            self.notify("textDocument/didOpen", json!({"textDocument": document})).await;
        } else {
            let document = json!({"uri": uri, "version": version});
            let changes = json!([{"text": text}]);
            self.notify(
                "textDocument/didChange",
                json!({"textDocument": document, "contentChanges": changes}),
            )
            .await;
            self.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}})).await;
        }
    }

    fn forget(&self, uri: &str) {
        let mut findings = self.shared.findings.lock().unwrap_or_else(PoisonError::into_inner);
        findings.entry(uri.to_owned()).or_default().told = 0;
    }

    /// What is known about a file without asking.
    pub(crate) fn known(&self, uri: &str) -> Vec<Diagnostic> {
        let findings = self.shared.findings.lock().unwrap_or_else(PoisonError::into_inner);
        findings.get(uri).map(|findings| findings.list.clone()).unwrap_or_default()
    }

    /// What the server finds in a file: asked for where it can be, else waited for. None when it said nothing in time.
    pub(crate) async fn diagnostics(&self, uri: &str, patience: Duration) -> Option<Vec<Diagnostic>> {
        let pulls = self.capabilities.get("diagnosticProvider").is_some_and(|provider| !provider.is_null());
        let mut patience = patience;
        if pulls {
            let params = json!({"textDocument": {"uri": uri}});
            if let Ok(answer) = self.ask_within("textDocument/diagnostic", params, patience).await {
                let items =
                    answer.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                if !items.is_empty() {
                    return Some(items.iter().map(finding).take(MAX_FINDINGS).collect());
                }
                // It looked and found nothing; what a slower check finds is waited for only a moment.
                patience = patience.min(MOMENT);
            }
        }
        match tokio::time::timeout(patience, self.heard(uri, |_| true)).await {
            Ok(list) if list.is_empty() => {
                // Some look at the words first, find nothing, and understand them a moment later.
                let moment = MOMENT.min(patience / PATIENT);
                let more = tokio::time::timeout(moment, self.heard(uri, |found| !found.is_empty())).await;
                Some(more.unwrap_or(list))
            }
            Ok(list) => Some(list),
            // One that answers when asked and found nothing says nothing else.
            Err(_) => pulls.then(Vec::new),
        }
    }

    /// Waits until the server has told what it finds in a file, and it is this.
    async fn heard(&self, uri: &str, fits: impl Fn(&[Diagnostic]) -> bool) -> Vec<Diagnostic> {
        loop {
            let told = self.shared.told.notified();
            let mut told = std::pin::pin!(told);
            told.as_mut().enable();
            {
                let findings = self.shared.findings.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(found) = findings.get(uri).filter(|found| found.told > 0 && fits(&found.list)) {
                    return found.list.clone();
                }
            }
            told.await;
        }
    }
}

fn finding(value: &Value) -> Diagnostic {
    Diagnostic {
        line: value["range"]["start"]["line"].as_u64().unwrap_or_default(),
        severity: value["severity"].as_u64().unwrap_or(1),
        message: value["message"].as_str().unwrap_or_default().chars().take(1_000).collect(),
    }
}

/// Carries messages both ways until the program ends.
async fn talk(
    mut running: Box<dyn Running>,
    mut queue: mpsc::Receiver<Vec<u8>>,
    outgoing: mpsc::WeakSender<Vec<u8>>,
    shared: Arc<Shared>,
) {
    let mut frames = Frames::default();
    loop {
        tokio::select! {
            message = queue.recv() => {
                let Some(message) = message else { break };
                if !running.write(&message).await {
                    break;
                }
            }
            piece = running.output() => {
                let Some(piece) = piece else { break };
                frames.push(&piece);
                let mut understood = true;
                loop {
                    match frames.next() {
                        Ok(Some(message)) => receive(&shared, &outgoing, message),
                        Ok(None) => break,
                        Err(_) => {
                            understood = false;
                            break;
                        }
                    }
                }
                if !understood {
                    break;
                }
            }
        }
    }
    shared.gone.store(true, Ordering::Relaxed);
    shared.told.notify_waiters();
    // Whoever waits hears that nothing comes.
    shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

fn receive(shared: &Shared, outgoing: &mpsc::WeakSender<Vec<u8>>, message: Value) {
    let method = message.get("method").and_then(Value::as_str);
    match (method, message.get("id")) {
        (None, Some(id)) => {
            let reply = id
                .as_i64()
                .and_then(|id| shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
            let answer = match message.get("error") {
                Some(error) => Err(error["message"].as_str().unwrap_or("no reason given").to_owned()),
                None => Ok(message.get("result").cloned().unwrap_or_default()),
            };
            if let Some(reply) = reply {
                // Who asked may have given up.
                let _ = reply.send(answer);
            }
        }
        (Some("textDocument/publishDiagnostics"), None) => {
            let Some(uri) = message["params"]["uri"].as_str() else { return };
            let list = message["params"]["diagnostics"].as_array().map(Vec::as_slice).unwrap_or_default();
            let mut findings = shared.findings.lock().unwrap_or_else(PoisonError::into_inner);
            let found = findings.entry(uri.to_owned()).or_default();
            found.told += 1;
            found.list = list.iter().map(finding).take(MAX_FINDINGS).collect();
            drop(findings);
            shared.told.notify_waiters();
        }
        (Some("experimental/serverStatus"), None) if message["params"]["quiescent"] == true => {
            shared.ready.store(true, Ordering::Relaxed);
            shared.told.notify_waiters();
        }
        (Some(method), Some(id)) => {
            let result = match method {
                "workspace/configuration" => {
                    let wanted = message["params"]["items"].as_array().map_or(0, Vec::len);
                    json!({"result": vec![Value::Null; wanted.min(1_000)]})
                }
                "client/registerCapability"
                | "client/unregisterCapability"
                | "window/workDoneProgress/create" => {
                    json!({"result": null})
                }
                // Edits happen through the guard, never because a server says so.
                "workspace/applyEdit" => json!({"result": {"applied": false}}),
                _ => json!({"error": {"code": -32601, "message": "not known here"}}),
            };
            let mut answer = json!({"jsonrpc": "2.0", "id": id});
            if let (Value::Object(answer), Value::Object(result)) = (&mut answer, result) {
                answer.extend(result);
            }
            if let Some(outgoing) = outgoing.upgrade() {
                // A server that asks faster than it reads does without an answer.
                let _ = outgoing.try_send(frame(&answer));
            }
        }
        _ => {}
    }
}
