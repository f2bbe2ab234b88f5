//! `covey acp`: Covey as an agent of an editor, over standard input and output.
//!
//! The conversation is `acp`'s. Here is what it means: `door` answers what the editor asks, `workshop` has an engine for
//! each project, `relay` tells one session's events and asks its questions, `host` acts on the files and terminals that
//! the editor offers.

mod commands;
mod door;
mod host;
mod relay;
mod tell;
mod workshop;

use std::time::Duration;

use ::acp::{Incoming, Peer, Wire};
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::AcpArguments;
use crate::exit::{Exit, Failure};

use door::Door;

/// How long turns that run may take to end when the editor is gone.
const GRACE: Duration = Duration::from_secs(5);

pub(crate) fn acp(arguments: &AcpArguments) -> Result<Exit, Failure> {
    if arguments.login {
        return crate::login::login_somewhere();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(format!("could not start: {error}")))?;
    let result = runtime.block_on(converse(arguments));
    // A read of standard input can not be called off, and nobody waits for it.
    runtime.shutdown_background();
    result
}

async fn converse(arguments: &AcpArguments) -> Result<Exit, Failure> {
    let wire = Wire { withdraws: true, ..Wire::default() };
    let (peer, mut incoming) = Peer::start(tokio::io::stdin(), tokio::io::stdout(), wire);
    let mut door = Door::new(peer.clone(), arguments);
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let exit = loop {
        let message = tokio::select! {
            message = incoming.recv() => message,
            _ = terminate.recv() => break Exit::Done,
            _ = interrupt.recv() => break Exit::Cancelled,
        };
        match message {
            Some(Incoming::Request { id, method, params }) => door.request(id, &method, &params).await,
            Some(Incoming::Notification { method, params }) => door.notification(&method, &params).await,
            // The conversation goes on after what was no message; an editor that is gone is noticed by the next one.
            Some(Incoming::Odd(odd)) => {
                if let Some(error) = odd.refusal() {
                    let _ = peer.refuse(&error).await;
                }
            }
            // The editor closed its end.
            None => break Exit::Done,
        }
    };
    // What was recorded is safe; what runs is given a moment to record its end.
    let _ = tokio::time::timeout(GRACE, door.close()).await;
    Ok(exit)
}
