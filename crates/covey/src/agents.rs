//! `covey agents`: which there are, whether they work, how to get them and log in.

use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use ::agents::{Found, Login, Roll, survey};
use client::Client;
use futures::StreamExt;
use guard::SandboxLauncher;
use project::ProcessInfo;
use protocol::{AgentId, Content, EventBody, Limits, Mode, Op, Stop, Timestamp};
use serde_json::json;

use crate::block_on;
use crate::cli::{AgentsArguments, AgentsCommand};
use crate::exit::{Exit, Failure};
use crate::in_process::InProcess;
use crate::named_command::NamedCommand;
use crate::settings::Settings;
use crate::terminal::{Stream, Style, ago, one_line, plain, print, tell, tell_warning};

pub(crate) fn agents(arguments: AgentsArguments) -> Result<Exit, Failure> {
    match arguments.command {
        None => list(arguments.json, arguments.refresh),
        Some(AgentsCommand::Test { name, json }) => block_on(test(&name, json)),
        Some(AgentsCommand::Status { json }) => status(json),
        Some(AgentsCommand::Install { name, yes }) => install(&name, yes),
        Some(AgentsCommand::Login { name }) => login(&name),
    }
}

fn list(json: bool, fresh: bool) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let launcher = Arc::new(SandboxLauncher::new(settings.sandbox()?, |reverted| {
        tell_warning(&reverted.to_string());
    }));
    let fleet = settings.fleet(launcher)?;
    let cache = settings.home.cache_dir().join("agents.json");
    let found = block_on(async { Ok(survey(&fleet, &cache, fresh).await) })?;
    if json {
        for one in &found {
            print(&format!("{}\n", serde_json::to_string(one).unwrap_or_default()))?;
        }
        return Ok(Exit::Done);
    }
    let style = Style::of(Stream::Out);
    let default = settings.agent()?;
    let mut out = String::new();
    let row = |name: &str, version: &str, login: &str, interface: &str| {
        format!("{name:<10} {version:<12} {login:<14} {interface:<12}")
    };
    out.push_str(&format!("{}\n", style.faint(&row("agent", "version", "login", "interface"))));
    out.push_str(&format!(
        "{} {}\n",
        row("native", env!("CARGO_PKG_VERSION"), "-", "built in"),
        mark(&default, "native")
    ));
    for one in &found {
        out.push_str(&line(one, &style, mark(&default, &one.agent)));
    }
    print(&out)?;
    Ok(Exit::Done)
}

fn mark(default: &AgentId, name: &str) -> &'static str {
    if default.as_str() == name { "default" } else { "" }
}

fn line(found: &Found, style: &Style, mark: &str) -> String {
    let version = match (found.installed, &found.version) {
        (false, _) => "not here",
        (true, Some(version)) => version,
        (true, None) => "-",
    };
    let login = match (found.installed, found.login) {
        (false, _) => "",
        (true, Login::Yes) => "logged in",
        (true, Login::Key) => "by key",
        (true, Login::No) => "not logged in",
        (true, Login::Untold) => "not told",
    };
    let about =
        if found.installed { found.can.join(", ") } else { found.install.clone().unwrap_or_default() };
    let text = format!("{:<10} {version:<12} {login:<14} {:<12} {}", found.agent, found.interface, mark);
    let text = text.trim_end();
    if found.installed {
        format!("{text} {}\n", style.faint(&about))
    } else {
        format!("{}\n", style.faint(&format!("{text} {about}")))
    }
}

/// A real hello, and everything that comes of it.
async fn test(name: &str, json: bool) -> Result<Exit, Failure> {
    let named = NamedCommand::read(name)?;
    let name = named.as_ref().map_or(name, |named| &named.name);
    let mut settings = Settings::load(None, &[("agent".to_owned(), name.to_owned())])?;
    settings.named.clone_from(&named);
    let engine = settings.engine(settings.store("covey agents"), settings.catalogue()?, settings.model()?)?;
    let client = InProcess::new(engine.clone());
    let started = Instant::now();
    let create = Op::CreateSession {
        cwd: settings.cwd.to_string_lossy().into_owned(),
        agent: Some(AgentId::new(name)),
        model: None,
        mode: Some(Mode::Explore),
        title: None,
        folders: vec![],
        ephemeral: true,
    };
    let session = client.submit(create).await?.session;
    let mut events = client.events(session.clone(), 0).await?;
    let prompt = vec![Content::text("Say hello in one short sentence. Use no tools.")];
    let limits = Limits { timeout_ms: Some(120_000), ..Limits::default() };
    let start = Op::StartTurn { session, prompt, key: None, limits, attended: false };
    let turn = client.submit(start).await?.turn;
    let mut stop = Stop::Error;
    while let Some(event) = events.next().await {
        let event = event?;
        let at = started.elapsed().as_millis();
        if json {
            print(&format!(
                "{}\n",
                json!({"ms": at, "event": serde_json::from_str::<serde_json::Value>(&event.to_json()).unwrap_or_default()})
            ))?;
        } else {
            print(&format!("{at:>6} ms  {}\n", shown(&event.body)))?;
        }
        if let EventBody::TurnEnd(end) = &event.body
            && event.turn == turn
        {
            stop = end.stop;
            break;
        }
    }
    engine.shutdown().await;
    Ok(if stop == Stop::Done { Exit::Done } else { Exit::Unreachable })
}

/// An event in a line.
fn shown(body: &EventBody) -> String {
    let first = |text: &str| text.lines().next().unwrap_or_default().chars().take(120).collect::<String>();
    match body {
        EventBody::AgentMessage(chunk) => format!("says     {}", first(&chunk.text)),
        EventBody::AgentThought(chunk) => format!("thinks   {}", first(&chunk.text)),
        EventBody::Commands(list) => {
            const SHOWN: usize = 12;
            let names = list.commands.iter().take(SHOWN).map(|command| format!(" /{}", command.name));
            let more = if list.commands.len() > SHOWN { " …" } else { "" };
            format!("commands {}{}{more}", list.commands.len(), names.collect::<String>())
        }
        EventBody::Usage(report) => {
            format!("usage    {} in, {} out", report.usage.input, report.usage.output)
        }
        EventBody::Notice(notice) => format!("notice   {}", first(&notice.text)),
        EventBody::Error(error) => match &error.hint {
            Some(hint) => format!("error    {}\n           hint: {hint}", error.message),
            None => format!("error    {}", error.message),
        },
        EventBody::ToolCall(call) => format!("calls    {}", first(&call.title)),
        EventBody::TurnEnd(end) => format!("ends     {}", end.stop.as_str()),
        other => other.name().to_owned(),
    }
}

/// Which run now, and what they take, with everything they started.
fn status(json: bool) -> Result<Exit, Failure> {
    let running = Roll::read(&crate::settings::home()?.data_dir().join("run"));
    let moment = |time: SystemTime| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    };
    if json {
        for (agent, tree) in &running {
            let process = |process: &ProcessInfo| {
                json!({"pid": process.pid, "parent": process.parent, "name": process.name, "memory": process.memory,
                    "started": moment(process.started), "cpu_ms": u64::try_from(process.cpu.as_millis()).unwrap_or(u64::MAX)})
            };
            let memory: u64 = tree.iter().map(|process| process.memory).sum();
            let mut line = json!(agent);
            line["memory"] = json!(memory);
            line["processes"] = tree.iter().map(process).collect();
            print(&format!("{line}\n"))?;
        }
        return Ok(Exit::Done);
    }
    if running.is_empty() {
        print("no agent runs\n")?;
        return Ok(Exit::Done);
    }
    let (style, now) = (Style::of(Stream::Out), Timestamp::now());
    let megabytes = |bytes: u64| format!("{:.0} MB", bytes as f64 / 1e6);
    let row = |cells: [&str; 6]| {
        let [agent, pid, state, since, memory, rest] = cells;
        format!("{agent:<10} {pid:<8} {state:<14} {since:<11} {memory:>8}  {rest}\n")
    };
    let mut out = style.faint(&row(["agent", "process", "state", "started", "memory", "where"]));
    for (agent, tree) in &running {
        let memory = megabytes(tree.iter().map(|process| process.memory).sum());
        let (pid, started) = (agent.pid.to_string(), ago(agent.started, now));
        let cwd = agent.cwd.to_string_lossy();
        out.push_str(&row([
            agent.agent.as_str(),
            &pid,
            agent.state.as_str(),
            &started,
            &memory,
            &plain(&cwd),
        ]));
        for process in tree.iter().skip(1) {
            let (pid, started) = (process.pid.to_string(), ago(moment(process.started), now));
            let line =
                row(["", &pid, "", &started, &megabytes(process.memory), &one_line(&process.name, 40)]);
            out.push_str(&style.faint(&line));
        }
    }
    print(&out)?;
    Ok(Exit::Done)
}

fn install(name: &str, yes: bool) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let launcher = Arc::new(SandboxLauncher::new(settings.sandbox()?, |_| {}));
    let fleet = settings.fleet(launcher)?;
    let known = fleet
        .known(&AgentId::new(name))
        .map_err(|error| Failure::usage(error.to_string()).hint(error.hint()))?;
    let Some((program, arguments)) = known.entry.install.split_first() else {
        let hint = known.entry.install_hint.clone().unwrap_or_else(|| format!("see {}", known.entry.docs));
        return Err(Failure::usage(format!("`{name}` has no command that installs it")).hint(hint));
    };
    let command = known.entry.install.join(" ");
    if !yes
        && !confirmed(&format!("This runs: {command}\nIt installs a program of another maker. Go ahead?"))?
    {
        let failure = Failure::new("nothing was installed, because nobody said yes");
        return Err(Failure { exit: Exit::Denied, ..failure }
            .hint(format!("covey agents install {name} --yes, or: {command}")));
    }
    tell(&format!("› {command}\n"));
    Err(become_it(Path::new(program), arguments))
}

/// Its own program logs a person in, in this terminal.
fn login(name: &str) -> Result<Exit, Failure> {
    let settings = Settings::load(None, &[])?;
    let launcher = Arc::new(SandboxLauncher::new(settings.sandbox()?, |_| {}));
    let fleet = settings.fleet(launcher)?;
    let known = fleet
        .known(&AgentId::new(name))
        .map_err(|error| Failure::usage(error.to_string()).hint(error.hint()))?;
    let Some(program) = known.find(&std::env::var("PATH").unwrap_or_default()) else {
        return Err(
            Failure::usage(format!("`{name}` is not installed")).hint(format!("covey agents install {name}"))
        );
    };
    if known.entry.login.is_empty() {
        tell(&format!("`{name}` logs in when it is started by hand; leave it when you are done\n"));
    }
    Err(become_it(&program, &known.entry.login))
}

/// Becomes a program that talks to the person: it is theirs, in their terminal, with their environment. A child of ours
/// could not read from the terminal.
fn become_it(program: &Path, arguments: &[String]) -> Failure {
    use std::os::unix::process::CommandExt;
    let error = std::process::Command::new(program).args(arguments).exec();
    Failure::new(format!("`{}` could not be started: {error}", program.display()))
}

fn confirmed(question: &str) -> Result<bool, Failure> {
    if !crate::terminal::has_person() {
        return Ok(false);
    }
    tell(&format!("{question} [y/N] "));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
