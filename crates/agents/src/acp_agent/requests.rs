//! What an agent asks of us in the middle of a turn: permission, files, terminals.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use acp::{Ask, Id, Peer, RpcError, TerminalAsk, ToolNews, permission_answer};
use futures::FutureExt;
use futures::future::BoxFuture;
use guard::{Action, Change, Verdict};
use project::{ByteRange, Expect, Grants, Host, HostError, MAX_READ, Program};
use protocol::{FileRead, FileWrite, OptionKind, PermissionOption, Update};
use serde_json::{Value, json};

use super::terminals::{self, Terminals, Wanted};
use crate::Reporter;
use crate::actions::{self, Described};
use crate::gate::{Gate, Refusal, Wish};
use crate::narrator::Narrator;
use crate::title::title;

pub(super) struct Requests {
    pub(super) peer: Peer,
    pub(super) gate: Gate,
    pub(super) host: Arc<dyn Host>,
    pub(super) reporter: Reporter,
    pub(super) cwd: PathBuf,
    /// What was allowed in this turn and is asked again in another form: a file that is to be written, a command.
    pub(super) allowed: Arc<Mutex<HashSet<String>>>,
    /// What we wrote for it in this turn.
    pub(super) written: Arc<Mutex<HashSet<String>>>,
}

type Answering = BoxFuture<'static, ()>;

impl Requests {
    /// What is to be told first, and the work of answering. Each answers for itself, so that a question to the person
    /// holds up nothing else.
    pub(super) fn answer(
        &self,
        id: Id,
        ask: Ask,
        narrator: &mut Narrator,
        terminals: &Terminals,
    ) -> (Vec<Update>, Answering) {
        let peer = self.peer.clone();
        let (updates, result) = match ask {
            Ask::Permission { tool, options } => self.permission(*tool, options, narrator),
            Ask::Read { path, line, limit } => (vec![], self.read(path, line, limit)),
            Ask::Write { path, text } => (vec![], self.write(path, text)),
            Ask::Terminal(ask) => (vec![], self.terminal(ask, terminals)),
        };
        let answering = async move {
            let result = result.await;
            // An agent that is gone needs no answer; its end is noticed elsewhere.
            let _ = peer.respond(&id, result).await;
        };
        (updates, answering.boxed())
    }

    /// Whether we wrote this file for the agent.
    pub(super) fn wrote(&self, path: &str) -> bool {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    fn permission(
        &self,
        tool: ToolNews,
        options: Vec<PermissionOption>,
        narrator: &mut Narrator,
    ) -> (Vec<Update>, BoxFuture<'static, Result<Value, RpcError>>) {
        let (updates, call) = narrator.insist(tool);
        let Some(call) = call else { return (updates, async { Ok(permission_answer(None)) }.boxed()) };
        let described = Described {
            kind: call.kind,
            title: &call.title,
            input: &call.input,
            locations: &call.locations,
            content: &call.content,
            cwd: &self.cwd,
        };
        let actions = described.actions();
        let (gate, allowed) = (self.gate.clone(), self.allowed.clone());
        let name = call.tool().to_owned();
        let title = title(&call.title, &name, &actions);
        let answer = async move {
            let wish = Wish { tool: &name, call: Some(&call.ours), title: &title, actions: &actions };
            let chosen = match gate.ask_first(wish, &call.input).await {
                Ok(_) => {
                    let mut allowed = allowed.lock().unwrap_or_else(PoisonError::into_inner);
                    allowed.extend(actions.iter().flat_map(keys));
                    pick(&options, &[OptionKind::AllowOnce, OptionKind::AllowAlways])
                }
                Err(Refusal::Denied(_) | Refusal::Forbidden(_)) => {
                    pick(&options, &[OptionKind::RejectOnce, OptionKind::RejectAlways])
                }
                Err(Refusal::Cancelled) => None,
            };
            Ok(permission_answer(chosen))
        };
        (updates, answer.boxed())
    }

    fn read(
        &self,
        path: PathBuf,
        line: Option<u32>,
        limit: Option<u32>,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        let (gate, host, reporter) = (self.gate.clone(), self.host.clone(), self.reporter.clone());
        async move {
            let path = absolute(path)?;
            let actions = [Action::Read { paths: vec![path.clone()] }];
            let title = format!("read {}", path.display());
            let wish = Wish { tool: "read", call: None, title: &title, actions: &actions };
            let verdict = gate.ask_first(wish, &json!({"path": path})).await.map_err(refused)?;
            let host = granted(host, &verdict)?;
            let read =
                host.read(&path, ByteRange::first(MAX_READ)).await.map_err(|error| file_error(&error))?;
            if read.total_len > MAX_READ as u64 {
                return Err(RpcError::new(
                    RpcError::INTERNAL,
                    format!("the file has {} bytes", read.total_len),
                ));
            }
            let bytes = read.bytes.len() as u64;
            let text = String::from_utf8(read.bytes)
                .map_err(|_| RpcError::new(RpcError::INTERNAL, "the file is not UTF-8 text"))?;
            let path = path.to_string_lossy().into_owned();
            reporter.send(Update::FileRead(FileRead { path, bytes, call: None })).await;
            Ok(json!({"content": lines(&text, line, limit)}))
        }
        .boxed()
    }

    fn write(&self, path: PathBuf, text: String) -> BoxFuture<'static, Result<Value, RpcError>> {
        let (gate, host, reporter) = (self.gate.clone(), self.host.clone(), self.reporter.clone());
        let (allowed, written) = (self.allowed.clone(), self.written.clone());
        async move {
            let path = absolute(path)?;
            let change = if path.exists() { Change::Edit } else { Change::Create };
            let actions = [Action::Write { change, paths: vec![path.clone()] }];
            let key = format!("write {}", path.display());
            let asked = allowed.lock().unwrap_or_else(PoisonError::into_inner).contains(&key);
            let host = if asked {
                host
            } else {
                let wish = Wish { tool: "edit", call: None, title: &key, actions: &actions };
                let input = json!({"path": path, "content": text});
                granted(host, &gate.ask_first(wish, &input).await.map_err(refused)?)?
            };
            let bytes = text.len() as u64;
            host.write(&path, text.into_bytes(), Expect::Anything)
                .await
                .map_err(|error| file_error(&error))?;
            let path = path.to_string_lossy().into_owned();
            written.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
            reporter.send(Update::FileWrite(FileWrite { path, bytes, call: None, blob: None })).await;
            Ok(json!({}))
        }
        .boxed()
    }

    fn terminal(
        &self,
        ask: TerminalAsk,
        terminals: &Terminals,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        let now = |result: Result<Value, RpcError>| async move { result }.boxed();
        match ask {
            TerminalAsk::Create { command, args, env, cwd, keep } => {
                self.create(command, args, env, cwd, keep, terminals)
            }
            TerminalAsk::Output(id) => now(terminals.output(&id)),
            TerminalAsk::Wait(id) => match terminals.wait(&id) {
                Ok(waiting) => waiting.boxed(),
                Err(error) => now(Err(error)),
            },
            TerminalAsk::Kill(id) => now(terminals.kill(&id)),
            TerminalAsk::Release(id) => now(terminals.release(&id)),
        }
    }

    fn create(
        &self,
        command: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
        cwd: Option<PathBuf>,
        keep: Option<u64>,
        terminals: &Terminals,
    ) -> BoxFuture<'static, Result<Value, RpcError>> {
        let program = terminals::program(&command, &args);
        let cwd = cwd.unwrap_or_else(|| self.cwd.clone());
        let action = match &program {
            Program::Shell(line) => Action::Shell { command: line.clone(), cwd: cwd.clone() },
            Program::Argv(argv) => actions::of_argv(argv.clone(), &cwd),
        };
        let asked = {
            let allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
            keys(&action).iter().all(|key| allowed.contains(key))
        };
        let input = json!({"command": command, "args": args, "cwd": cwd});
        let title = format!("run {}", std::iter::once(command).chain(args).collect::<Vec<_>>().join(" "));
        let (gate, host) = (self.gate.clone(), self.host.clone());
        let terminals = terminals.clone();
        async move {
            let actions = [action];
            let grants = match asked {
                true => Grants::default(),
                false => {
                    let wish = Wish { tool: "shell", call: None, title: &title, actions: &actions };
                    grants(&gate.ask_first(wish, &input).await.map_err(refused)?)
                }
            };
            let terminal = terminals.create(host, &grants, Wanted { program, env, cwd, keep }).await?;
            Ok(json!({"terminalId": terminal}))
        }
        .boxed()
    }
}

/// By what an action is known when it comes again in another form.
fn keys(action: &Action) -> Vec<String> {
    match action {
        Action::Shell { command, .. } => vec![format!("run {command}")],
        Action::Program { argv, .. } => vec![format!("run {}", argv.join(" "))],
        Action::Write { paths, .. } => paths.iter().map(|path| format!("write {}", path.display())).collect(),
        _ => vec![],
    }
}

/// The first option of the best kind. Never one of another kind: a yes is not guessed.
fn pick<'a>(options: &'a [PermissionOption], kinds: &[OptionKind]) -> Option<&'a str> {
    let best = kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
    best.map(|option| option.id.as_str())
}

fn absolute(path: PathBuf) -> Result<PathBuf, RpcError> {
    if path.is_absolute() {
        return Ok(path);
    }
    Err(RpcError::new(RpcError::INVALID_PARAMS, format!("`{}` is not an absolute path", path.display())))
}

fn refused(refusal: Refusal) -> RpcError {
    match refusal {
        Refusal::Denied(reason) | Refusal::Forbidden(reason) => {
            RpcError::new(RpcError::INTERNAL, format!("denied: {reason}"))
        }
        Refusal::Cancelled => RpcError::new(RpcError::INTERNAL, "the turn was cancelled"),
    }
}

fn file_error(error: &HostError) -> RpcError {
    match error {
        // Agents in JavaScript look for the system's own word, to tell a new file from an error.
        HostError::NotFound { .. } => {
            let message = format!("Resource not found: {error} (ENOENT: no such file or directory)");
            RpcError::new(RpcError::NOT_FOUND, message)
        }
        _ => RpcError::new(RpcError::INTERNAL, error.to_string()),
    }
}

/// The room that a verdict gives. What does not exist can not be opened up.
fn grants(verdict: &Verdict) -> Grants {
    let there = |paths: &[PathBuf]| paths.iter().filter(|path| path.exists()).cloned().collect();
    let needs = &verdict.needs;
    Grants { reads: there(&needs.reads), writes: there(&needs.writes), network: needs.network() }
}

fn granted(host: Arc<dyn Host>, verdict: &Verdict) -> Result<Arc<dyn Host>, RpcError> {
    let grants = grants(verdict);
    if grants.is_empty() { Ok(host) } else { host.granting(&grants).map_err(|error| file_error(&error)) }
}

/// `limit` lines from line `line` on, counted from 1.
fn lines(text: &str, line: Option<u32>, limit: Option<u32>) -> String {
    if line.is_none() && limit.is_none() {
        return text.to_owned();
    }
    let skipped = line.map_or(0, |line| line.saturating_sub(1)) as usize;
    let most = limit.map_or(usize::MAX, |limit| limit as usize);
    text.split_inclusive('\n').skip(skipped).take(most).collect()
}
