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
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::AcpArguments;
use crate::exit::{Exit, Failure};
use crate::terminal::tell;

use door::Door;

/// How long turns that were cancelled may take to end.
const CANCELLING: Duration = Duration::from_secs(5);

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

/// What makes us leave before we are done.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.terminate.recv() => Exit::Done,
            _ = self.interrupt.recv() => Exit::Cancelled,
        }
    }
}

async fn converse(arguments: &AcpArguments) -> Result<Exit, Failure> {
    let wire = Wire { withdraws: true, ..Wire::default() };
    let mut signals =
        Signals { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? };
    let (peer, mut incoming) = Peer::start(tokio::io::stdin(), tokio::io::stdout(), wire);
    let mut door = Door::new(peer.clone(), arguments);
    let exit = loop {
        let message = tokio::select! {
            message = incoming.recv() => message,
            exit = signals.next() => break exit,
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
            // Nothing more will be asked.
            None => {
                let grace = Duration::from_secs(arguments.grace);
                break tokio::select! {
                    () = finish(&peer, &door, grace) => Exit::Done,
                    exit = signals.next() => exit,
                };
            }
        }
    };
    // Whatever still runs is cancelled, and whoever asked for it is told so if they still listen.
    door.cancel().await;
    let _ = tokio::time::timeout(CANCELLING, peer.settled()).await;
    // What was recorded is safe; what runs is given a moment to record its end.
    let _ = tokio::time::timeout(CANCELLING, door.close()).await;
    Ok(exit)
}

/// Brings to an end what was asked before the other side closed its end: a script that wrote its questions still reads.
async fn finish(peer: &Peer, door: &Door, grace: Duration) {
    // One that reads no more wants its agents gone, and no build either.
    if let Ok(Ok(())) = tokio::time::timeout(grace, peer.settled()).await {
        door.builds_end(|words| tell(&format!("{words}\n"))).await;
    }
}
