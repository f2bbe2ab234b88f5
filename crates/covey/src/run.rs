//! `covey run`: one prompt, headless. It never asks.

mod finish;
pub(crate) mod interrupts;
mod output;
mod prompt;
mod target;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use client::{Client, EventStream};
use futures::StreamExt;
use protocol::{Event, EventBody, Limits, Op, SessionId, TurnId};
use tokio::signal::unix::{SignalKind, signal};

use crate::attach::Door;
use crate::block_on;
use crate::cli::RunArguments;
use crate::exit::{Exit, Failure};
use crate::leave::builds_end;
use crate::named_command::NamedCommand;
use crate::settings::Settings;
use crate::terminal::tell;

pub(crate) use prompt::read_image;

use finish::Outcome;
use interrupts::Interrupts;
use output::Output;

pub(crate) fn run(arguments: RunArguments) -> Result<Exit, Failure> {
    let json = arguments.json;
    let result = block_on(run_async(arguments));
    if let (true, Err(failure)) = (json, &result) {
        // Scripts read the last line, whatever happened.
        finish::print_failure(failure);
    }
    result
}

async fn run_async(mut arguments: RunArguments) -> Result<Exit, Failure> {
    let named = match arguments.agent.as_deref() {
        Some(agent) => NamedCommand::read(agent)?,
        None => None,
    };
    if let Some(named) = &named {
        arguments.agent = Some(named.name.clone());
    }
    let mut flags = Vec::new();
    let mut flag =
        |key: &str, value: Option<String>| flags.extend(value.map(|value| (key.to_owned(), value)));
    flag("model", arguments.model.clone());
    flag("agent", arguments.agent.clone());
    flag("mode", arguments.mode.map(|mode| mode.as_str().to_owned()));
    flag("sandbox.level", arguments.sandbox.map(|level| level.name().to_owned()));
    let mut settings = Settings::load(arguments.cwd.as_deref(), &flags)?;
    settings.named = named;
    settings.allow.clone_from(&arguments.allow);
    settings.deny.clone_from(&arguments.deny);
    let prompt = prompt::read(arguments.prompt.as_deref(), &arguments.image)?;

    let door = Door::make(&mut settings);
    let target = target::choose(&settings, &arguments).await?;
    let _open = door.map(|door| door.open(&settings, target.client.clone()));
    let limits = Limits {
        max_steps: arguments.max_steps,
        max_tokens: arguments.max_tokens,
        max_cost_usd: arguments.max_cost,
        timeout_ms: arguments.timeout.map(|limit| u64::try_from(limit.0.as_millis()).unwrap_or(u64::MAX)),
    };
    let mut output = Output::new(arguments.json, &settings.config);
    let result =
        converse(target.client.as_ref(), &target.session, target.after, prompt, limits, &mut output).await;
    if let Some(engine) = &target.engine {
        if !arguments.force && result.as_ref().is_ok_and(|outcome| !outcome.cancelled) {
            let mut interrupts = Interrupts::new()?;
            tokio::select! {
                () = builds_end(engine, |words| tell(&format!("{words}\n"))) => {}
                () = interrupts.next() => {}
            }
        }
        engine.shutdown().await;
    }
    let outcome = result?;
    output.finish(&outcome)?;
    Ok(outcome.exit())
}

const SIGXFSZ: i32 = 25;

/// Sends the prompt and follows the session until its turn is over.
async fn converse(
    client: &dyn Client,
    session: &SessionId,
    after: u64,
    prompt: Vec<protocol::Content>,
    limits: Limits,
    output: &mut Output,
) -> Result<Outcome, Failure> {
    let mut interrupts = Interrupts::new()?;
    // By default a limit on the size of files ends the process; we would rather say that there is no space.
    let _limit = signal(SignalKind::from_raw(SIGXFSZ))?;
    let mut events = client.events(session.clone(), after).await?;
    if after > 0 {
        output.event(first_event(client, session).await?.as_ref())?;
    }
    let start = Op::StartTurn { session: session.clone(), prompt, key: None, limits, attended: false };
    let turn = client.submit(start).await?.turn;
    let mut outcome = Outcome::new(session.clone());
    loop {
        tokio::select! {
            event = events.next() => {
                let Some(event) = event else { break };
                let event = match event {
                    Ok(event) => event,
                    // The log can not be written any more. What was said until then is the outcome.
                    Err(error) => {
                        outcome.failed(&error);
                        break;
                    }
                };
                outcome.apply(&event);
                if let Err(error) = output.event(&event) {
                    // Nobody reads any more. The work so far is recorded.
                    cancel(client, session, &mut events, &turn).await;
                    return Err(error);
                }
                if matches!(event.body, EventBody::TurnEnd(_)) && event.turn == turn {
                    break;
                }
            }
            () = interrupts.next() => {
                output.note("stopping; once more to quit at once");
                let stop = client.submit(Op::CancelTurn { session: session.clone(), turn: None });
                tokio::select! {
                    result = stop => { result?; }
                    () = interrupts.next() => std::process::exit(Exit::Cancelled as i32),
                }
                outcome.cancelled = true;
                interrupts.quit_on_next();
            }
        }
    }
    Ok(outcome)
}

async fn first_event(client: &dyn Client, session: &SessionId) -> Result<Arc<Event>, Failure> {
    let first = client.events(session.clone(), 0).await?.next().await;
    Ok(first.ok_or_else(|| Failure::new(format!("session `{session}` is empty")))??)
}

async fn cancel(client: &dyn Client, session: &SessionId, events: &mut EventStream, turn: &Option<TurnId>) {
    // The turn may have ended by itself.
    let _ = client.submit(Op::CancelTurn { session: session.clone(), turn: None }).await;
    let over = async {
        while let Some(Ok(event)) = events.next().await {
            if matches!(event.body, EventBody::TurnEnd(_)) && event.turn == *turn {
                break;
            }
        }
    };
    // Bounded: the session records the end in any case when it is closed.
    let _ = tokio::time::timeout(Duration::from_secs(3), over).await;
}

/// The folder of a session, as it is compared: two spellings of one folder are one folder.
fn folder(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
