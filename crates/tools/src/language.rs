//! Language servers: what a compiler knows about the code, asked over the Language Server Protocol.
//!
//! The right server for a file is started when it is first asked for, kept warm for the session, and started again when it
//! died. One that is not on the machine is named, with how to get it.

mod client;
mod edits;
mod frame;
mod programs;
mod question;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use guard::Action;
use project::ByteRange;
use serde_json::{Value, json};

use crate::{ToolContext, ToolError, ToolState};

pub(crate) use client::{Diagnostic, LanguageServer};
pub(crate) use edits::{apply, paths_of, uri};
pub(crate) use programs::{Program, program_for};
pub(crate) use question::{Asks, NameInLine, Question, changed, path};

/// How long a call of a language tool may take: a server that starts loads the project first.
pub(crate) const PATIENCE: Duration = Duration::from_secs(150);
/// Larger files are no source.
const MAX_SOURCE: usize = 4 << 20;
/// A file that was just changed is looked at for this long, if its server runs already.
const AFTER_EDIT: Duration = Duration::from_secs(3);
/// Places of one answer that are told.
const MAX_PLACES: usize = 100;
/// New errors after an edit that are told.
const MAX_NEWS: usize = 10;

/// The servers of a session.
#[derive(Default)]
pub(crate) struct Servers {
    running: tokio::sync::Mutex<HashMap<&'static str, Arc<LanguageServer>>>,
    /// What the host said of a file when it was asked last.
    told: std::sync::Mutex<HashMap<PathBuf, Vec<Diagnostic>>>,
}

impl Servers {
    /// The errors that were not there before.
    fn new_errors(&self, path: &Path, found: Vec<project::Finding>) -> Vec<Diagnostic> {
        let now: Vec<Diagnostic> = found.into_iter().map(Diagnostic::from).collect();
        let mut told = self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = told.insert(path.to_owned(), now.clone()).unwrap_or_default();
        let is_new =
            |found: &Diagnostic| found.is_error() && !before.iter().any(|old| old.message == found.message);
        now.into_iter().filter(is_new).collect()
    }
}

/// What a call of a language tool is about to do: it looks at the file, and may start a program that runs parts of the
/// project (build scripts, macros).
fn actions(context: &ToolContext, path: &str) -> Vec<Action> {
    let path = context.path(path);
    let program = program_for(&path);
    let start = program.map(|program| Action::Program {
        argv: program.command.iter().map(|word| (*word).to_owned()).collect(),
        cwd: context.host.roots().main().to_owned(),
    });
    let read = Action::Read { paths: vec![path] };
    std::iter::once(read).chain(start).collect()
}

/// A file, open in its server.
pub(crate) struct OpenFile {
    pub(crate) server: Arc<LanguageServer>,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) uri: String,
}

/// Opens a file in the server that knows its language, started if need be.
pub(crate) async fn open(context: &ToolContext, path: &str) -> Result<OpenFile, ToolError> {
    let path = context.path(path);
    let Some(program) = program_for(&path) else {
        return Err(ToolError(format!(
            "no language server is known for `{}`; there is one for: {}",
            path.display(),
            programs::known()
        )));
    };
    let text = source(context, &path).await?;
    let server = server(context, program).await?;
    let uri = uri(&path);
    server.show(&uri, program.language(&path), &text).await;
    Ok(OpenFile { server, path, text, uri })
}

async fn source(context: &ToolContext, path: &Path) -> Result<String, ToolError> {
    let read = context.host.read(path, ByteRange::first(MAX_SOURCE)).await?;
    if read.total_len > MAX_SOURCE as u64 {
        return Err(ToolError(format!("`{}` is too large for a language server", path.display())));
    }
    String::from_utf8(read.bytes).map_err(|_| ToolError(format!("`{}` is not UTF-8 text", path.display())))
}

async fn server(context: &ToolContext, program: &'static Program) -> Result<Arc<LanguageServer>, ToolError> {
    let servers = context.state.extra::<Servers>();
    let mut running = servers.running.lock().await;
    if let Some(server) = running.get(program.name).filter(|server| server.is_alive()) {
        return Ok(server.clone());
    }
    let server = Arc::new(LanguageServer::start(context.host.as_ref(), program).await?);
    running.insert(program.name, server.clone());
    Ok(server)
}

/// Errors in files that were just written, from servers that run already: for the model to see with its edit. Nothing is
/// started, and nobody waits long.
pub async fn errors_after_edit(
    state: &ToolState,
    host: &dyn project::Host,
    paths: &[PathBuf],
) -> Vec<String> {
    let servers = state.extra::<Servers>();
    let mut news = Vec::new();
    for path in paths {
        let name = path.strip_prefix(host.roots().main()).unwrap_or(path);
        if let Ok(Some(found)) = host.findings(path).await {
            news.extend(servers.new_errors(path, found).into_iter().map(|found| found.line_in(name)));
            continue;
        }
        let Some(program) = program_for(path) else { continue };
        let server = servers.running.lock().await.get(program.name).cloned();
        let Some(server) = server.filter(|server| server.is_alive()) else { continue };
        let Ok(read) = host.read(path, ByteRange::first(MAX_SOURCE)).await else { continue };
        let Ok(text) = String::from_utf8(read.bytes) else { continue };
        let uri = uri(path);
        let before = server.known(&uri);
        server.show(&uri, program.language(path), &text).await;
        let now = server.diagnostics(&uri, AFTER_EDIT).await.unwrap_or_default();
        let new = now
            .into_iter()
            .filter(|found| found.is_error() && !before.iter().any(|old| old.message == found.message));
        news.extend(new.map(|found| found.line_in(name)));
    }
    news.truncate(MAX_NEWS);
    news
}

/// Where a name stands in a line, as the protocol counts: lines from zero, columns in UTF-16.
pub(crate) fn position(text: &str, line: u32, symbol: Option<&str>) -> Result<Value, ToolError> {
    let Some(content) = text.lines().nth(line.saturating_sub(1) as usize).filter(|_| line > 0) else {
        return Err(ToolError(format!("there is no line {line}; the file has {}", text.lines().count())));
    };
    let column = match symbol {
        None => content.len() - content.trim_start().len(),
        Some(symbol) => content.find(symbol).ok_or_else(|| {
            ToolError(format!("`{symbol}` is not in line {line}, which is: {}", content.trim()))
        })?,
    };
    let character = content[..column].encode_utf16().count();
    Ok(json!({"line": line - 1, "character": character}))
}

/// Places that a server answered, one a line: `src/a.rs:10: the line`.
pub(crate) async fn places(context: &ToolContext, answer: &Value) -> (String, usize) {
    let list = match answer {
        Value::Array(list) => list.clone(),
        Value::Null => vec![],
        one => vec![one.clone()],
    };
    let root = context.host.roots().main().to_owned();
    let mut texts: HashMap<PathBuf, String> = HashMap::new();
    let mut lines = String::new();
    for place in list.iter().take(MAX_PLACES) {
        let at = place.get("uri").or_else(|| place.get("targetUri")).and_then(Value::as_str);
        let range = place.get("range").or_else(|| place.get("targetSelectionRange"));
        let line = range.and_then(|range| range["start"]["line"].as_u64()).unwrap_or_default();
        let Some(path) = at.and_then(edits::path) else { continue };
        if !texts.contains_key(&path) {
            // What lies outside the project is named and not shown.
            let text = source(context, &path).await.unwrap_or_default();
            texts.insert(path.clone(), text);
        }
        let shown = texts[&path].lines().nth(line as usize).unwrap_or_default().trim();
        let shown: String = shown.chars().take(160).collect();
        let name = path.strip_prefix(&root).unwrap_or(&path).display();
        lines.push_str(&format!("{name}:{}: {shown}\n", line + 1));
    }
    if list.len() > MAX_PLACES {
        lines.push_str(&format!("… {} more\n", list.len() - MAX_PLACES));
    }
    (lines, list.len())
}
