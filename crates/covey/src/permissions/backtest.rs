//! `covey guard backtest`: a set of rules against what really happened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use guard::{Action, Change, GuardSettings, PermissionsConfig, Request, Ruling};
use project::Config;
use protocol::{AnsweredBy, EventBody, PermissionOutcome, ToolCall, ToolKind};
use serde_json::{Value, json};

use super::arguments::BacktestArguments;
use super::{done, looking_on, shown};
use crate::exit::{Exit, Failure};
use crate::settings::Settings;
use crate::terminal::{Stream, Style, one_line};

/// What became of a call in the session itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Then {
    /// Nobody was asked.
    #[default]
    Ran,
    AskedAndAllowed,
    AskedAndDenied,
    Denied,
}

pub(super) fn backtest(arguments: &BacktestArguments) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let permissions = match &arguments.rules {
        Some(file) => from_file(file)?,
        None => settings.permissions(&[], &[])?,
    };
    let mode = match arguments.mode {
        Some(mode) => mode,
        None => settings.config.get("mode")?.unwrap_or_default(),
    };
    let guard = looking_on(&settings, permissions)?;
    let store = settings.store("covey guard backtest");
    let sessions = match &arguments.session {
        Some(query) => vec![crate::session::one_session(&store, query)?],
        None => store.ids()?,
    };
    let mut now: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut asked_then, mut saved, mut added, mut lines) = (0, 0, 0, Vec::new());
    for session in &sessions {
        let Ok(calls) = calls(&store, session) else { continue };
        for (call, then, cwd) in calls {
            let actions = actions(&call, &cwd);
            let verdict = guard.judge(&Request { tool: &call.name, actions: &actions, mode, attended: true });
            *now.entry(verdict.decision.as_str()).or_default() += 1;
            let was_asked = matches!(then, Then::AskedAndAllowed | Then::AskedAndDenied);
            asked_then += usize::from(was_asked);
            saved += usize::from(was_asked && verdict.decision != Ruling::Ask);
            added += usize::from(!was_asked && verdict.decision == Ruling::Ask);
            lines.push((session.as_str().to_owned(), call, then, verdict));
        }
    }
    let count = |word: &str| now.get(word).copied().unwrap_or_default();
    if arguments.json {
        let calls: Vec<Value> = lines
            .iter()
            .map(|(session, call, then, verdict)| {
                json!({"session": session, "call": call.call, "tool": call.name, "title": call.title, "then": then.as_str(),
                    "decision": verdict.decision, "level": verdict.level, "because": verdict.because})
            })
            .collect();
        let summary = json!({"mode": mode, "sessions": sessions.len(), "calls": calls.len(), "allow": count("allow"), "ask": count("ask"),
            "deny": count("deny"), "asked_then": asked_then, "questions_saved": saved, "questions_added": added, "results": calls});
        return done(&format!("{summary}\n"));
    }
    let style = Style::of(Stream::Out);
    let mut out = format!(
        "{} sessions, {} calls, mode {}\n{} {}   {} {}   {} {}\nasked then: {asked_then}   saved: {saved}   new: {added}\n",
        sessions.len(),
        lines.len(),
        mode.as_str(),
        style.good("allow"),
        count("allow"),
        style.warning("ask"),
        count("ask"),
        style.danger("deny"),
        count("deny"),
    );
    for (session, call, then, verdict) in
        lines.iter().filter(|(_, _, then, verdict)| then.differs(verdict.decision))
    {
        let why = verdict.because.first().map(String::as_str).unwrap_or_default();
        out.push_str(&format!(
            "  {} {}  {}: then {}, now {} {}\n",
            style.faint(session),
            call.name,
            one_line(&call.title, 60),
            then.as_str(),
            verdict.decision.as_str(),
            style.faint(&one_line(why, 80))
        ));
    }
    done(&out)
}

impl Then {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ran => "allow",
            Self::AskedAndAllowed => "ask, allowed",
            Self::AskedAndDenied => "ask, denied",
            Self::Denied => "deny",
        }
    }

    fn differs(self, now: Ruling) -> bool {
        match self {
            Self::Ran => now != Ruling::Allow,
            Self::AskedAndAllowed | Self::AskedAndDenied => now != Ruling::Ask,
            Self::Denied => now != Ruling::Deny,
        }
    }
}

/// Rules from a file of their own: the section `permissions`, or just what is in it.
fn from_file(file: &Path) -> Result<GuardSettings, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("`{}` can not be read: {error}", shown(file))))?;
    let section = if text.contains("[permissions]") { text } else { format!("[permissions]\n{text}") };
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("config.toml"), section)?;
    // Read as settings are, so that a typing error is named as it would be there.
    let config = Config::load(&project::LoadOptions {
        home: &project::Home::at(folder.path()),
        project: None,
        sections: &[&guard::PERMISSIONS],
        env: &|_| None,
        flags: &[],
        trust: &project::NobodyTrusted,
    })
    .map_err(|errors| {
        let first = errors.errors.first();
        let hint = first.and_then(project::ConfigError::hint);
        let message = first
            .map(ToString::to_string)
            .unwrap_or_default()
            .replace(&shown(&folder.path().join("config.toml")), &shown(file));
        Failure { hint, ..Failure::usage(message) }
    })?;
    let section: PermissionsConfig = config.get("permissions")?.unwrap_or_default();
    GuardSettings::new(&section, &[], &[])
        .map_err(|error| Failure::usage(error.to_string()).hint(error.hint()))
}

/// The tool calls of a session, with what became of them and where they ran.
fn calls(
    store: &sessions::Store,
    session: &protocol::SessionId,
) -> Result<Vec<(ToolCall, Then, PathBuf)>, Failure> {
    let mut cwd = PathBuf::from("/");
    let mut calls: Vec<(ToolCall, Then, PathBuf)> = Vec::new();
    let mut questions = BTreeMap::new();
    let mut reader = store.reader(session)?;
    for record in reader.iter(0)? {
        let Some(event) = record?.event() else { continue };
        match event.body {
            EventBody::SessionStart(start) => cwd = PathBuf::from(&start.cwd),
            EventBody::ToolCall(call) => calls.push((call, Then::Ran, cwd.clone())),
            EventBody::PermissionRequest(request) => {
                questions.insert(request.request.clone(), request.call);
            }
            EventBody::Permission(answer) => {
                let Some(Some(id)) = questions.get(&answer.request) else { continue };
                let then = match (answer.by, answer.outcome) {
                    (AnsweredBy::Person, PermissionOutcome::Approved) => Then::AskedAndAllowed,
                    (AnsweredBy::Person, _) => Then::AskedAndDenied,
                    (_, PermissionOutcome::Approved) => Then::Ran,
                    _ => Then::Denied,
                };
                if let Some(known) = calls.iter_mut().rev().find(|(call, ..)| call.call == *id) {
                    known.1 = then;
                }
            }
            _ => {}
        }
    }
    Ok(calls)
}

/// What a recorded call was about to do, by its kind and the usual names of arguments.
fn actions(call: &ToolCall, cwd: &Path) -> Vec<Action> {
    let text =
        |names: &[&str]| names.iter().find_map(|name| call.input.get(*name)?.as_str().map(str::to_owned));
    let path = || {
        let named = text(&["path", "file_path", "file", "destination", "to"]).map(|path| cwd.join(path));
        let mut paths: Vec<PathBuf> = named.into_iter().collect();
        paths.extend(call.locations.iter().map(|location| cwd.join(&location.path)));
        paths.dedup();
        paths
    };
    if let Some(command) = text(&["command", "cmd"]) {
        return vec![Action::Shell { command, cwd: cwd.to_owned() }];
    }
    if let Some(url) = text(&["url"]) {
        return vec![Action::Fetch { url }];
    }
    let paths = path();
    match call.kind {
        ToolKind::Read | ToolKind::Search if !paths.is_empty() => vec![Action::Read { paths }],
        ToolKind::Read | ToolKind::Search => vec![Action::Read { paths: vec![cwd.to_owned()] }],
        ToolKind::Edit if !paths.is_empty() => vec![Action::Write { change: Change::Edit, paths }],
        ToolKind::Delete if !paths.is_empty() => vec![Action::Write { change: Change::Delete, paths }],
        ToolKind::Move if !paths.is_empty() => vec![Action::Write { change: Change::Move, paths }],
        ToolKind::Think => vec![Action::Inward],
        _ => vec![Action::Foreign { read_only: false }],
    }
}
