//! Which session and which model a run works with.

use std::sync::Arc;

use ::models::Catalogue;
use client::Client;
use engine::Engine;
use protocol::{AgentId, Mode, ModelRef, Op, SessionId};

use super::folder;
use crate::added::{add_folders, as_typed};
use crate::cli::RunArguments;
use crate::discover::{discover, nothing_found};
use crate::exit::Failure;
use crate::in_process::InProcess;
use crate::session::one_session;
use crate::settings::Settings;
use crate::terminal::{Stream, Style, tell};

mod remote;

/// A way to the session.
pub(super) struct Target {
    pub(super) client: Arc<dyn Client>,
    /// Where the session runs in this process, to be ended with it.
    pub(super) engine: Option<Engine>,
    pub(super) session: SessionId,
    /// The last event that was there before.
    pub(super) after: u64,
}

pub(super) async fn choose(settings: &Settings, arguments: &RunArguments) -> Result<Target, Failure> {
    if let Some(server) = &arguments.server {
        return remote::choose(settings, arguments, server).await;
    }
    let store = settings.store("covey run");
    let existing = match (&arguments.session, arguments.continue_latest) {
        (Some(query), _) => Some(one_session(&store, query)?),
        (None, true) => {
            let here = folder(&settings.cwd);
            let latest = store.latest(Some(&here))?;
            Some(latest.map(|summary| summary.session).ok_or_else(|| {
                Failure::usage(format!("there is no session in `{here}` to continue"))
                    .hint("list all: covey session list")
            })?)
        }
        (None, false) if arguments.fork => {
            return Err(
                Failure::usage("--fork needs a session").hint("name one: --session ID, or --continue")
            );
        }
        (None, false) => None,
    };
    let catalogue = settings.catalogue()?;
    let agent = match (&existing, &arguments.agent) {
        (Some(session), None) => store.summary(session)?.agent,
        _ => settings.agent()?,
    };
    let native = agent.as_str() == engine::NativeAgent::ID;
    // Other agents have models of their own, which only those who name the agent name too.
    let mut model = if native { settings.model()? } else { arguments.model.clone().map(ModelRef::from) };
    if model.is_none() && existing.is_none() && native {
        // Who wrote down a main chain has said which model answers.
        model = catalogue.main().map(ModelRef::new);
    }
    if model.is_none() && existing.is_none() && native {
        let configured = settings.configured_providers();
        let found = discover(&catalogue, &configured).await.ok_or_else(nothing_found)?;
        if Stream::Err.is_terminal() {
            let style = Style::of(Stream::Err);
            tell(&format!("{}\n", style.faint(&format!("{} · found by {}", found.model, found.because))));
        }
        model = Some(found.model);
    }
    if arguments.max_cost.is_some() && arguments.max_tokens.is_none() && native {
        let model = match (&model, &existing) {
            (None, Some(session)) => store.summary(session)?.model,
            (model, _) => model.clone(),
        };
        refuse_unpriced(&catalogue, model.as_ref())?;
    }
    let engine = settings.engine(store, catalogue, model.clone())?;
    let client: Arc<dyn Client> = InProcess::new(engine.clone());
    let target = match existing {
        None => create(client, settings, arguments, model).await?,
        Some(session) => resume(client, session, arguments, model).await?,
    };
    Ok(Target { engine: Some(engine), ..target })
}

/// A limit in money means nothing for a model whose price nobody knows.
fn refuse_unpriced(catalogue: &Catalogue, model: Option<&ModelRef>) -> Result<(), Failure> {
    let unpriced = model.map(|model| catalogue.unpriced(model.as_str())).unwrap_or_default();
    match unpriced.first() {
        None => Ok(()),
        Some(model) => {
            Err(Failure::usage(format!("the price of `{model}` is not known, so --max-cost can not hold"))
                .hint("give --max-tokens as well, or set its prices in config.toml"))
        }
    }
}

async fn create(
    client: Arc<dyn Client>,
    settings: &Settings,
    arguments: &RunArguments,
    model: Option<ModelRef>,
) -> Result<Target, Failure> {
    let create = Op::CreateSession {
        cwd: folder(&settings.cwd),
        agent: None,
        model,
        mode: None,
        title: None,
        folders: arguments.add_dir.iter().map(|added| as_typed(added)).collect(),
        ephemeral: arguments.ephemeral,
    };
    let session = submit(client.as_ref(), create).await?;
    set_effort(client.as_ref(), &session, arguments).await?;
    Ok(Target { client, engine: None, session, after: 0 })
}

async fn resume(
    client: Arc<dyn Client>,
    mut session: SessionId,
    arguments: &RunArguments,
    model: Option<ModelRef>,
) -> Result<Target, Failure> {
    if arguments.fork {
        session = submit(client.as_ref(), Op::ForkSession { session, at: None }).await?;
    }
    // What is asked for now goes before what the session had.
    if let Some(agent) = &arguments.agent {
        let agent = AgentId::new(agent);
        let now = client.read(protocol::Request::Session { session: session.clone() }).await?;
        let same = matches!(now, protocol::Reply::Session(view) if view.agent == agent);
        if !same {
            let model = model.clone();
            submit(client.as_ref(), Op::SetAgent { session: session.clone(), agent, model }).await?;
        }
    }
    if let Some(model) = model.filter(|_| arguments.model.is_some()) {
        submit(client.as_ref(), Op::SetModel { session: session.clone(), model }).await?;
    }
    if let Some(mode) = arguments.mode {
        submit(client.as_ref(), Op::SetMode { session: session.clone(), mode: Mode::clone(&mode) }).await?;
    }
    set_effort(client.as_ref(), &session, arguments).await?;
    add_folders(client.as_ref(), &session, &arguments.add_dir).await?;
    let view = client.read(protocol::Request::Session { session: session.clone() }).await?;
    let after = match view {
        protocol::Reply::Session(view) => view.seq,
        _ => 0,
    };
    Ok(Target { client, engine: None, session, after })
}

async fn set_effort(
    client: &dyn Client,
    session: &SessionId,
    arguments: &RunArguments,
) -> Result<(), Failure> {
    if arguments.effort.is_some() {
        let op = Op::SetEffort { session: session.clone(), effort: arguments.effort };
        submit(client, op).await?;
    }
    Ok(())
}

async fn submit(client: &dyn Client, op: Op) -> Result<SessionId, Failure> {
    Ok(client.submit(op).await?.session)
}
