//! Another way to talk to an agent whose program does not know the first.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;
use protocol::NoticeLevel;
use tokio_util::sync::CancellationToken;

use crate::fleet::{Post, Trouble};
use crate::narrator::notice;
use crate::{Agent, Reporter, Turn};

/// The same program, in a dialect that every version of it has.
#[derive(Clone)]
pub(crate) struct Fallback {
    agent: Arc<dyn Agent>,
    interface: &'static str,
    /// The first way was tried, and is not there. It stays away until the agent is made anew.
    taken: Arc<AtomicBool>,
}

impl Fallback {
    pub(crate) fn new(agent: Arc<dyn Agent>, interface: &'static str) -> Self {
        Self { agent, interface, taken: Arc::default() }
    }

    pub(crate) async fn answer(&self, turn: Turn, cancel: CancellationToken, reporter: &Reporter) {
        if !self.taken.swap(true, Ordering::Relaxed) {
            let text = format!(
                "this version of `{}` is talked to by `{}`: it can not ask before it acts",
                self.agent.id(),
                self.interface
            );
            reporter.send(notice(NoticeLevel::Info, text)).await;
        }
        let mut updates = self.agent.prompt(turn, cancel);
        while let Some(update) = updates.next().await {
            reporter.send(update).await;
        }
    }
}

impl Post {
    /// The other way, once it is known that it is needed.
    pub(crate) fn other_way(&self) -> Option<&Fallback> {
        self.fallback.as_ref().filter(|fallback| fallback.taken.load(Ordering::Relaxed))
    }

    /// The other way, if what went wrong is that the program does not know the first.
    pub(crate) fn other_way_after(&self, trouble: &Trouble) -> Option<&Fallback> {
        self.fallback.as_ref().filter(|_| trouble.unreachable && is_misuse(&trouble.message))
    }
}

/// What programs say to words on their command line that they do not know.
pub(crate) fn is_misuse(said: &str) -> bool {
    const SAID: &[&str] = &[
        "unknown option",
        "unknown argument",
        "unknown command",
        "unknown flag",
        "unrecognized subcommand",
        "unrecognized option",
        "unexpected argument",
        "invalid option",
        "no such subcommand",
        "no such option",
        "too many arguments",
        // One that took the word for a prompt.
        "not a terminal",
        "not a tty",
    ];
    let said = said.to_lowercase();
    SAID.iter().any(|words| said.contains(words))
}
