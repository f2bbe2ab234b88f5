//! `covey` alone: a conversation in the terminal.

mod branch;
mod outside;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use client::Client;
use project::{Key, Schema};
use protocol::{AgentId, Mode, ModelRef, Op, SessionId};
use tui::{Left, Options, Theme};

use crate::added::{add_folders, as_typed};
use crate::attach::Door;
use crate::block_on;
use crate::cli::TalkArguments;
use crate::discover::{discover, nothing_found};
use crate::exit::{Exit, Failure};
use crate::in_process::InProcess;
use crate::leave::builds_end;
use crate::remote;
use crate::session::one_session;
use crate::settings::Settings;
use crate::terminal::{self, Stream, Style, tell};

use outside::World;

/// What the settings may say about the terminal UI.
pub(crate) const SECTION: Key = Key::table(
    "tui",
    &[
        Key::choice("theme", Theme::NAMES).default("auto").doc("the colours"),
        Key::choice("screen", &["inline", "full"])
            .default("inline")
            .doc("the terminal's scrollback, or the whole screen"),
        Key::bool("vim").default("false").doc("Vim's keys"),
        Key::bool("mouse").default("false").doc("the wheel scrolls, on the whole screen"),
        Key::bool("notify").default("true").doc("bell and message when a long turn ends unseen"),
        Key::map("keys", &Schema::List(&Schema::Text)).doc("keys by what they do: submit = [\"ctrl-enter\"]"),
    ],
);

pub(crate) fn talk(arguments: &TalkArguments) -> Result<Exit, Failure> {
    let result = block_on(talk_async(arguments));
    terminal::release();
    result
}

async fn talk_async(arguments: &TalkArguments) -> Result<Exit, Failure> {
    let mut flags = Vec::new();
    let mut flag =
        |key: &str, value: Option<String>| flags.extend(value.map(|value| (key.to_owned(), value)));
    flag("model", arguments.model.clone());
    flag("agent", arguments.agent.clone());
    flag("mode", arguments.mode.map(|mode| mode.as_str().to_owned()));
    let mut settings = Settings::load(arguments.cwd.as_deref(), &flags)?;
    if let Some(server) = &arguments.server {
        return talk_to(server, &settings, arguments).await;
    }
    let door = Door::make(&mut settings);
    let store = settings.store("covey");
    let here = settings.cwd.to_string_lossy().into_owned();
    let session = match (&arguments.session, arguments.continue_latest) {
        (Some(query), _) => Some(one_session(&store, query)?),
        (None, true) => {
            let latest = store.latest(Some(&here))?.map(|summary| summary.session);
            Some(latest.ok_or_else(|| {
                Failure::usage(format!("there is no session in `{here}` to continue"))
                    .hint("list all: covey session list")
            })?)
        }
        (None, false) => None,
    };
    let catalogue = settings.catalogue()?;
    let mut model = settings.model()?.or_else(|| catalogue.main().map(ModelRef::new));
    let mut notes = held_settings(&settings);
    let agent =
        settings.config.get::<AgentId>("agent")?.unwrap_or_else(|| AgentId::new(engine::NativeAgent::ID));
    if model.is_none() && session.is_none() && agent.as_str() == engine::NativeAgent::ID {
        let found = discover(&catalogue, &settings.configured_providers()).await.ok_or_else(nothing_found)?;
        notes.push(format!("{} · found by {}", found.model, found.because));
        model = Some(found.model);
    }
    let options = options(&settings, arguments, agent, model.clone(), session.clone(), notes)?;
    let engine = settings.engine(store, catalogue, model.clone())?;
    let client = InProcess::new(engine.clone());
    let _open = door.map(|door| door.open(&settings, client.clone()));
    if let Some(session) = &session {
        take_up(client.as_ref(), session, arguments, model).await?;
    }
    let result = show(client, &settings, options).await;
    if result.is_ok() {
        tokio::select! {
            () = builds_end(&engine, |words| tell(&format!("{words}\n"))) => {}
            // Without a way to be told, nothing is waited for.
            _ = tokio::signal::ctrl_c() => {}
        }
    }
    engine.shutdown().await;
    say_goodbye(&result?, "covey");
    Ok(Exit::Done)
}

/// The same with an engine that is somewhere else: what is not said here is the server's to choose.
async fn talk_to(server: &str, settings: &Settings, arguments: &TalkArguments) -> Result<Exit, Failure> {
    let client = remote::connect(server).await?;
    let here = settings.cwd.to_string_lossy();
    let query = arguments.session.as_deref();
    let session = remote::session(client.as_ref(), query, arguments.continue_latest, &here).await?;
    let model = arguments.model.clone().map(ModelRef::from);
    if let Some(session) = &session {
        take_up(client.as_ref(), session, arguments, model.clone()).await?;
    }
    let agent = settings.agent()?;
    let address = server.split('#').next().unwrap_or(server);
    let notes = vec![];
    let options = options(settings, arguments, agent, model, session, notes)?;
    let left = show(client, settings, options).await?;
    say_goodbye(&left, &format!("covey --server {address}"));
    Ok(Exit::Done)
}

async fn show(client: Arc<dyn Client>, settings: &Settings, options: Options) -> Result<Left, Failure> {
    let outside = Arc::new(World::new(settings));
    terminal::hold();
    tui::run(client, outside, options).await.map_err(|error| match error {
        tui::TuiError::Keys(_) => Failure::usage(error.to_string()),
        tui::TuiError::Terminal(_) => Failure::from_error(&error),
    })
}

/// What is asked for now goes before what the session had.
async fn take_up(
    client: &dyn Client,
    session: &SessionId,
    arguments: &TalkArguments,
    model: Option<ModelRef>,
) -> Result<(), Failure> {
    if let Some(model) = model.filter(|_| arguments.model.is_some()) {
        let op = Op::SetModel { session: session.clone(), model };
        client.submit(op).await?;
    }
    if let Some(mode) = arguments.mode {
        let op = Op::SetMode { session: session.clone(), mode };
        client.submit(op).await?;
    }
    add_folders(client, session, &arguments.add_dir).await
}

fn options(
    settings: &Settings,
    arguments: &TalkArguments,
    agent: AgentId,
    model: Option<ModelRef>,
    session: Option<SessionId>,
    mut notes: Vec<String>,
) -> Result<Options, Failure> {
    let config = &settings.config;
    let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let theme = match config.get::<String>("tui.theme")? {
        _ if no_colour => Theme::Plain,
        Some(name) => Theme::named(&name).unwrap_or_default(),
        None => Theme::default(),
    };
    let keys: Option<BTreeMap<String, Vec<String>>> = config.get("tui.keys")?;
    let folders = added_folders(arguments)?;
    notes.extend(folders.iter().map(|folder| format!("works in {} too", outside::place(Path::new(folder)))));
    Ok(Options {
        cwd: settings.cwd.to_string_lossy().into_owned(),
        place: outside::place(&settings.cwd),
        branch: branch::checked_out(&settings.root),
        agent,
        model,
        mode: config.get::<Mode>("mode")?.unwrap_or_default(),
        folders,
        session,
        theme,
        vim: config.get("tui.vim")?.unwrap_or(false),
        full: arguments.fullscreen || config.get::<String>("tui.screen")?.as_deref() == Some("full"),
        mouse: config.get("tui.mouse")?.unwrap_or(false),
        notify: config.get("tui.notify")?.unwrap_or(true),
        pictures: may_show_pictures(),
        keys: keys.unwrap_or_default().into_iter().collect(),
        state_dir: Some(settings.home.data_dir().join("tui")),
        notes,
    })
}

/// What is no folder is better known before the terminal is taken. Of a server's folders only the server knows.
fn added_folders(arguments: &TalkArguments) -> Result<Vec<String>, Failure> {
    let missing = arguments.add_dir.iter().find(|folder| !folder.is_dir());
    if let Some(folder) = missing.filter(|_| arguments.server.is_none()) {
        return Err(Failure::usage(format!("`{}` can not be added: it is no folder", folder.display()))
            .hint("name a folder that exists"));
    }
    Ok(arguments.add_dir.iter().map(|folder| as_typed(folder)).collect())
}

/// Others print what they do not understand, so not every terminal is asked.
fn may_show_pictures() -> bool {
    let of = |name: &str| std::env::var(name).unwrap_or_default().to_lowercase();
    let known = |name: &str| name.contains("kitty") || name.contains("ghostty");
    known(&of("TERM")) || known(&of("TERM_PROGRAM"))
}

/// Settings of the project that do not hold because nobody trusts it yet.
fn held_settings(settings: &Settings) -> Vec<String> {
    let held = settings.config.held();
    let Some(first) = held.first() else { return vec![] };
    let more = held.len() - 1;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    vec![format!("`{}` in {}{more} is not applied: this project is not trusted", first.key, first.origin)]
}

/// How to come back; `program` is how this one was started.
fn say_goodbye(left: &Left, program: &str) {
    if let Some(session) = &left.session {
        terminal::release();
        let style = Style::of(Stream::Err);
        terminal::tell(&format!("{}\n", style.faint(&format!("go on with: {program} --session {session}"))));
    }
}
