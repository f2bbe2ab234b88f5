//! Which session and which model a run works with.

use ::models::Catalogue;
use engine::Engine;
use protocol::{Mode, ModelRef, Op, SessionId};

use super::folder;
use crate::cli::RunArguments;
use crate::discover::{discover, nothing_found};
use crate::exit::Failure;
use crate::session::one_session;
use crate::settings::Settings;
use crate::terminal::{Stream, Style, tell};

/// An engine with the session open.
pub(super) struct Target {
    pub(super) engine: Engine,
    pub(super) session: SessionId,
    /// The last event that was there before.
    pub(super) after: u64,
}

pub(super) async fn choose(settings: &Settings, arguments: &RunArguments) -> Result<Target, Failure> {
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
    let mut model = settings.model()?;
    if model.is_none() && existing.is_none() {
        // Who wrote down a main chain has said which model answers.
        model = catalogue.main().map(ModelRef::new);
    }
    if model.is_none() && existing.is_none() {
        let configured = settings.configured_providers();
        let found = discover(&catalogue, &configured).await.ok_or_else(nothing_found)?;
        if Stream::Err.is_terminal() {
            let style = Style::of(Stream::Err);
            tell(&format!("{}\n", style.faint(&format!("{} · found by {}", found.model, found.because))));
        }
        model = Some(found.model);
    }
    if arguments.max_cost.is_some() && arguments.max_tokens.is_none() {
        let model = match (&model, &existing) {
            (None, Some(session)) => store.summary(session)?.model,
            (model, _) => model.clone(),
        };
        refuse_unpriced(&catalogue, model.as_ref())?;
    }
    let engine = settings.engine(store, catalogue, model.clone())?;
    match existing {
        None => create(engine, settings, arguments.ephemeral).await,
        Some(session) => resume(engine, session, arguments, model).await,
    }
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

async fn create(engine: Engine, settings: &Settings, ephemeral: bool) -> Result<Target, Failure> {
    let create = Op::CreateSession {
        cwd: folder(&settings.cwd),
        agent: None,
        model: None,
        mode: None,
        title: None,
        ephemeral,
    };
    let session = submit(&engine, create).await?;
    Ok(Target { engine, session, after: 0 })
}

async fn resume(
    engine: Engine,
    mut session: SessionId,
    arguments: &RunArguments,
    model: Option<ModelRef>,
) -> Result<Target, Failure> {
    if arguments.fork {
        session = submit(&engine, Op::ForkSession { session, at: None }).await?;
    }
    // What is asked for now goes before what the session had.
    if let Some(model) = model.filter(|_| arguments.model.is_some()) {
        submit(&engine, Op::SetModel { session: session.clone(), model }).await?;
    }
    if let Some(mode) = arguments.mode {
        submit(&engine, Op::SetMode { session: session.clone(), mode: Mode::clone(&mode) }).await?;
    }
    let view = engine.read(protocol::Request::Session { session: session.clone() }).await;
    let after = match view.map_err(crate::in_process::failure)? {
        protocol::Reply::Session(view) => view.seq,
        _ => 0,
    };
    Ok(Target { engine, session, after })
}

async fn submit(engine: &Engine, op: Op) -> Result<SessionId, Failure> {
    Ok(engine.submit(op).await.map_err(crate::in_process::failure)?.session)
}
