//! `covey session import`: past sessions of other agents, with a report of what is lost.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ::agents::{Imported, ImportedTurn, PastSession, Step, past_sessions};
use protocol::{
    CallId, Chunk, EventBody, MessageEnd, MessageId, Mode, SessionId, SessionStart, Stop, Timestamp,
    ToolCall, ToolCallUpdate, ToolContent, ToolStatus, TurnEnd, TurnId, TurnStart, Usage, UsageReport,
    UserPrompt,
};
use serde_json::{Value, json};
use sessions::Store;

use crate::exit::{Exit, Failure};
use crate::terminal::{ago, one_line, plain, print};

/// No file above this is read.
const MOST: u64 = 512 << 20;
/// Of what a tool gave back; a record has a bound.
const OUTPUT: usize = 256 * 1024;

pub(super) fn import(
    store: &Store,
    files: &[PathBuf],
    cwd: Option<&Path>,
    json: bool,
) -> Result<Exit, Failure> {
    for file in files {
        let cannot = |why: &dyn std::fmt::Display| {
            Failure::usage(format!("can not take over `{}`: {why}", file.display()))
        };
        if !file.exists() {
            let hint =
                "covey session import --from AGENT finds the newest, --help says where all of them are";
            return Err(cannot(&"there is no such file").hint(hint));
        }
        if file.metadata().is_ok_and(|metadata| metadata.len() > MOST) {
            return Err(cannot(&format!("it is larger than {} MB", MOST >> 20)));
        }
        // A file that was cut off in the middle of a letter is read up to there.
        let text =
            String::from_utf8_lossy(&std::fs::read(file).map_err(|error| cannot(&error))?).into_owned();
        let imported = ::agents::import(&text).map_err(|error| cannot(&error))?;
        let place = place(&imported, file, cwd)?;
        let session = write(store, &imported, &place)?;
        report(&session, &imported, json)?;
    }
    Ok(Exit::Done)
}

/// The newest session that an agent had here.
pub(super) fn newest(store: &Store, agent: &str, cwd: Option<&Path>, json: bool) -> Result<Exit, Failure> {
    let past = past(agent, cwd)?;
    import(store, &[past[0].file.clone()], cwd, json)
}

/// Which sessions an agent had here, the newest first.
pub(super) fn list(agent: &str, cwd: Option<&Path>, json: bool) -> Result<Exit, Failure> {
    let now = Timestamp::now();
    for past in past(agent, cwd)? {
        let first = past.first_prompt();
        let (file, changed) = (past.file.to_string_lossy(), past.changed);
        let line = match json {
            true => json!({"file": file, "changed": changed, "prompt": first}).to_string(),
            false => {
                let prompt = one_line(first.as_deref().unwrap_or("(it can not be read)"), 60);
                format!("{:<12} {prompt:<60} {}", ago(changed, now), plain(&file))
            }
        };
        print(&format!("{line}\n"))?;
    }
    Ok(Exit::Done)
}

/// Never empty.
fn past(agent: &str, cwd: Option<&Path>) -> Result<Vec<PastSession>, Failure> {
    let here = match cwd {
        Some(cwd) => cwd.canonicalize()?,
        None => std::env::current_dir()?,
    };
    let home = std::env::home_dir().ok_or_else(|| Failure::new("there is no home folder to look in"))?;
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let past = past_sessions(agent, &home, &variable, &here).map_err(|error| {
        Failure::usage(error.to_string()).hint("covey session import --help says where sessions are")
    })?;
    if past.is_empty() {
        let message = format!("`{agent}` had no session in {}", here.display());
        return Err(Failure::usage(message).hint("name the folder with --cwd DIR, or the file itself"));
    }
    Ok(past)
}

/// Where it worked: as told, as the file says, or as a file beside it does.
fn place(imported: &Imported, file: &Path, cwd: Option<&Path>) -> Result<PathBuf, Failure> {
    let beside = || {
        let project = file.parent()?.parent()?.join(".project_root");
        std::fs::read_to_string(project).ok().map(|text| PathBuf::from(text.trim()))
    };
    let given = cwd.map(|cwd| cwd.canonicalize()).transpose()?;
    match given.or_else(|| imported.cwd.clone()).or_else(beside) {
        Some(place) => Ok(place),
        None => Ok(std::env::current_dir()?),
    }
}

fn write(store: &Store, imported: &Imported, place: &Path) -> Result<SessionId, Failure> {
    let first = imported.turns.first().map_or_else(Timestamp::now, |turn| turn.started);
    let session = SessionId::new(first, engine::random());
    let start = SessionStart {
        session: session.clone(),
        cwd: place.to_string_lossy().into_owned(),
        agent: imported.agent.clone(),
        model: None,
        mode: Mode::default(),
        title: None,
        forked_from: None,
        covey: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let mut opened = store.create(start, first)?;
    let mut last = None;
    for (at, turn) in imported.turns.iter().enumerate() {
        let id = TurnId::new(format!("t{}", at + 1));
        let bodies = events(imported, turn, &id);
        let bodies = bodies.into_iter().map(|body| (Some(id.clone()), body));
        // What it said is as old as the turn; the files know no better than that for most of it.
        let (begins, rest): (Vec<_>, Vec<_>) =
            bodies.partition(|(_, body)| matches!(body, EventBody::UserPrompt(_) | EventBody::TurnStart(_)));
        for (part, time) in [(begins, turn.started), (rest, turn.ended)] {
            let written = opened.writer.append(part, time).map_err(sessions::StoreError::from)?;
            written.iter().for_each(|event| opened.view.apply(event));
        }
        last = Some(id);
    }
    let view = opened.view.clone();
    opened.writer.close(&view).map_err(sessions::StoreError::from)?;
    if let Some(turn) = last.filter(|_| !imported.session.is_empty()) {
        ::agents::remember(&store.dir(&session), &imported.agent, &imported.session, &turn);
    }
    Ok(session)
}

fn events(imported: &Imported, turn: &ImportedTurn, id: &TurnId) -> Vec<EventBody> {
    let prompt = UserPrompt { content: turn.prompt.clone(), key: None };
    let start = TurnStart {
        parent: None,
        agent: imported.agent.clone(),
        model: None,
        mode: Mode::default(),
        limits: None,
        attended: None,
    };
    let mut bodies = vec![EventBody::UserPrompt(prompt), EventBody::TurnStart(start)];
    let (mut messages, mut steps, mut spent) = (0, 0, Usage::default());
    let mut open: HashMap<&str, CallId> = HashMap::new();
    let mut order = 0;
    for step in &turn.steps {
        match step {
            Step::Thought(text) | Step::Said(text) => {
                messages += 1;
                let message = MessageId::new(format!("{id}.m{messages}"));
                let chunk = Chunk { message: message.clone(), text: text.clone() };
                bodies.push(match step {
                    Step::Thought(_) => EventBody::AgentThought(chunk),
                    _ => EventBody::AgentMessage(chunk),
                });
                bodies.push(EventBody::MessageEnd(MessageEnd { message }));
            }
            Step::Call { call, name, kind, input } => {
                order += 1;
                let ours = CallId::new(format!("{id}_c{order}"));
                open.insert(call, ours.clone());
                bodies.push(EventBody::ToolCall(ToolCall {
                    call: ours,
                    name: name.clone(),
                    title: title(name, input),
                    kind: *kind,
                    status: ToolStatus::InProgress,
                    input: input.clone(),
                    locations: vec![],
                    via: None,
                }));
            }
            Step::Result { call, failed, text } => {
                if let Some(ours) = open.remove(call.as_str()) {
                    bodies.push(ended(ours, *failed, text));
                }
            }
            Step::Usage(usage) => {
                steps += 1;
                spent += *usage;
                bodies.push(EventBody::Usage(UsageReport { model: None, usage: *usage, estimated: false }));
            }
        }
    }
    let mut left: Vec<CallId> = open.into_values().collect();
    left.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    bodies.extend(left.into_iter().map(|call| ended(call, true, "there is no answer to it in the file")));
    let duration_ms = turn.ended.millis_since(turn.started);
    bodies.push(EventBody::TurnEnd(TurnEnd {
        stop: Stop::Done,
        cause: None,
        usage: spent,
        steps,
        duration_ms,
    }));
    bodies
}

fn ended(call: CallId, failed: bool, text: &str) -> EventBody {
    let mut shown = text.to_owned();
    if shown.len() > OUTPUT {
        shown.truncate(shown.floor_char_boundary(OUTPUT));
        shown.push_str("\n[the rest is left out]");
    }
    let status = Some(if failed { ToolStatus::Failed } else { ToolStatus::Completed });
    let content = Some(vec![ToolContent::text(shown)]);
    EventBody::ToolCallUpdate(ToolCallUpdate { status, content, ..ToolCallUpdate::of(call) })
}

/// What a person reads of a call.
fn title(name: &str, input: &Value) -> String {
    let named = ["command", "cmd", "file_path", "path", "pattern", "query", "url", "description"];
    let about = named.iter().find_map(|field| match input.get(*field)? {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")),
        _ => None,
    });
    one_line(&about.map_or_else(|| name.to_owned(), |about| format!("{name} {about}")), 120)
}

fn report(session: &SessionId, imported: &Imported, json: bool) -> Result<(), Failure> {
    let steps = || imported.turns.iter().flat_map(|turn| &turn.steps);
    let messages = steps().filter(|step| matches!(step, Step::Said(_) | Step::Thought(_))).count();
    let calls = steps().filter(|step| matches!(step, Step::Call { .. })).count();
    let turns = imported.turns.len();
    if json {
        let value = json!({
            "session": session, "agent": imported.agent, "their_session": imported.session,
            "turns": turns, "messages": messages, "calls": calls, "lost": imported.losses,
        });
        return Ok(print(&format!("{value}\n"))?);
    }
    let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let counts = [many(turns, "turn"), many(messages, "message"), many(calls, "call")].join(", ");
    let mut text = format!("{session}  {counts} of {}\n", imported.agent);
    for (what, count) in &imported.losses {
        text.push_str(&format!("  not taken over: {count} {}\n", plain(what)));
    }
    text.push_str(&format!("  go on with it: covey run --session {session} \"…\"\n"));
    Ok(print(&text)?)
}
