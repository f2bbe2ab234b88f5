//! The line to an editor: what was asked and not answered yet, whatever becomes of the connection.
//!
//! A request has a number and is answered once. When the connection is lost and the same editor comes back, what it did
//! not answer is sent again under its number, and the editor, which keeps its answers until they arrived, does not do it
//! again. Another editor, or one that was started anew, can not know what was done: then what waits fails and says so.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use project::HostError;
use protocol::{HostAccepted, HostAnswer, HostCall, HostOffer, HostRequest};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// How long an editor that lost its connection may stay away.
pub(crate) const BACK_WITHIN: Duration = Duration::from_secs(30);
/// Requests that wait for one editor.
const MAX_WAITING: usize = 256;
const MAX_NAME: usize = 100;

/// One session's line.
pub(crate) struct Line {
    roots: Vec<String>,
    /// Whether programs run in a sandbox here, so that an editor without one may not run them.
    confined: bool,
    back_within: Duration,
    state: Mutex<State>,
    /// Counts what happens to the connection.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    editor: Option<Editor>,
    next: u64,
    connections: u64,
    waiting: BTreeMap<u64, Waiting>,
}

struct Editor {
    offer: HostOffer,
    accepted: HostAccepted,
    /// Which connection it is on.
    connection: u64,
    link: Link,
}

enum Link {
    Up(mpsc::UnboundedSender<HostRequest>),
    LostAt(Instant),
}

struct Waiting {
    call: HostCall,
    /// None for what has to be done and whose answer nobody reads.
    reply: Option<oneshot::Sender<HostAnswer>>,
}

impl Waiting {
    /// Whoever asked may have gone; then it must not be done any more.
    fn is_wanted(&self) -> bool {
        self.reply.as_ref().is_none_or(|reply| !reply.is_closed())
    }
}

/// Why an offer is not taken.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum OfferRefused {
    #[error("`{0}` runs the tools of this session already")]
    Taken(String),
    #[error("an editor has a name and an id of 1 to {MAX_NAME} bytes")]
    Nameless,
}

/// What arrives at an editor. The connection counts as lost when this is dropped.
pub(crate) struct Requests {
    line: std::sync::Arc<Line>,
    connection: u64,
    received: mpsc::UnboundedReceiver<HostRequest>,
}

impl Line {
    pub(super) fn new(roots: Vec<String>, confined: bool, back_within: Duration) -> Self {
        Self { roots, confined, back_within, state: Mutex::default(), changes: watch::channel(0).0 }
    }

    /// Takes an offer: a new editor's, or one's that was here before. Says whether it is a new one.
    pub(crate) fn offer(
        self: &std::sync::Arc<Self>,
        offer: HostOffer,
    ) -> Result<(HostAccepted, Requests, bool), OfferRefused> {
        let is_name = |text: &str| !text.is_empty() && text.len() <= MAX_NAME;
        if !is_name(&offer.host) || !is_name(&offer.name) {
            return Err(OfferRefused::Nameless);
        }
        let mut state = self.lock();
        let known = state.editor.as_ref().filter(|editor| editor.is_there(self.back_within));
        let is_same = known.is_some_and(|known| known.offer.host == offer.host);
        if let Some(known) = known.filter(|known| !is_same && matches!(known.link, Link::Up(_))) {
            return Err(OfferRefused::Taken(known.offer.name.clone()));
        }
        if !is_same {
            // Whoever waits hears that nobody will answer.
            state.waiting.clear();
        }
        state.waiting.retain(|_, waiting| waiting.is_wanted());
        let accepted = self.accept(&offer);
        let (sender, received) = mpsc::unbounded_channel();
        for (request, waiting) in &state.waiting {
            // The other end is in our hand.
            let _ = sender.send(HostRequest { request: *request, call: waiting.call.clone() });
        }
        state.connections += 1;
        let connection = state.connections;
        let link = Link::Up(sender);
        state.editor = Some(Editor { offer, accepted: accepted.clone(), connection, link });
        drop(state);
        self.changes.send_modify(|count| *count += 1);
        Ok((accepted, Requests { line: self.clone(), connection, received }, !is_same))
    }

    fn accept(&self, offer: &HostOffer) -> HostAccepted {
        let terminal = offer.terminal.is_some_and(|terminal| terminal.confined || !self.confined);
        let note = (offer.terminal.is_some() && !terminal)
            .then(|| "programs run here, in the sandbox: the editor's terminal has none".to_owned());
        HostAccepted {
            roots: self.roots.clone(),
            files: offer.files,
            terminal,
            diagnostics: offer.diagnostics,
            note,
        }
    }

    /// Takes an answer. One that nobody waits for was given before, or comes too late.
    pub(crate) fn answer(&self, request: u64, answer: HostAnswer) {
        if let Some(waiting) = self.lock().waiting.remove(&request) {
            // Who asked may have gone.
            let _ = waiting.reply.map(|reply| reply.send(answer));
        }
    }

    pub(super) fn does_files(&self) -> bool {
        self.accepted(|accepted| accepted.files)
    }

    pub(super) fn does_programs(&self) -> bool {
        self.accepted(|accepted| accepted.terminal)
    }

    pub(super) fn knows_findings(&self) -> bool {
        self.accepted(|accepted| accepted.diagnostics)
    }

    fn accepted(&self, of: impl Fn(&HostAccepted) -> bool) -> bool {
        let state = self.lock();
        state.editor.as_ref().is_some_and(|editor| editor.is_there(self.back_within) && of(&editor.accepted))
    }

    /// Asks, and waits: for `within` if that is given, and never longer than the editor is there.
    pub(super) async fn ask(
        &self,
        call: HostCall,
        within: Option<Duration>,
    ) -> Result<HostAnswer, HostError> {
        let asked = self.send(call)?;
        self.wait(asked, within).await
    }

    /// Puts a request on the line.
    pub(super) fn send(&self, call: HostCall) -> Result<Asked, HostError> {
        let (reply, answer) = oneshot::channel();
        let (request, name) = self.put(call, Some(reply))?;
        Ok(Asked { request, answer, name })
    }

    /// Has something done whose answer does not matter.
    pub(super) fn tell(&self, call: HostCall) {
        // Without an editor there is nothing to be done.
        let _ = self.put(call, None);
    }

    fn put(
        &self,
        call: HostCall,
        reply: Option<oneshot::Sender<HostAnswer>>,
    ) -> Result<(u64, String), HostError> {
        let mut state = self.lock();
        state.waiting.retain(|_, waiting| waiting.is_wanted());
        if state.waiting.len() >= MAX_WAITING {
            return Err(HostError::NoAnswer("the editor has too much to do already".to_owned()));
        }
        state.next += 1;
        let request = state.next;
        let Some(editor) = state.editor.as_ref() else { return Err(gone("the editor")) };
        let name = editor.offer.name.clone();
        if let Link::Up(link) = &editor.link {
            // If it is lost this moment, it is sent again on the next connection.
            let _ = link.send(HostRequest { request, call: call.clone() });
        }
        state.waiting.insert(request, Waiting { call, reply });
        Ok((request, name))
    }

    async fn wait(&self, mut asked: Asked, within: Option<Duration>) -> Result<HostAnswer, HostError> {
        let answer = self.wait_for(&mut asked, within).await;
        // What was given up is not sent again.
        self.lock().waiting.remove(&asked.request);
        answer
    }

    /// Waits for an answer. May be dropped and called again.
    pub(super) async fn wait_for(
        &self,
        asked: &mut Asked,
        within: Option<Duration>,
    ) -> Result<HostAnswer, HostError> {
        let too_late = within.map(|within| Instant::now() + within);
        let mut changes = self.changes.subscribe();
        loop {
            let lost = self.lost_for_good_at();
            let until = [too_late, lost].into_iter().flatten().min();
            tokio::select! {
                biased;
                answer = &mut asked.answer => return answer.map_err(|_| gone(&asked.name)),
                Ok(()) = changes.changed() => {}
                () = at(until) => {
                    let name = &asked.name;
                    return Err(match (lost, too_late) {
                        (Some(lost), Some(late)) if lost > late => slow(name, within),
                        (Some(_), _) => gone(name),
                        (None, _) => slow(name, within),
                    });
                }
            }
        }
    }

    fn lost_for_good_at(&self) -> Option<Instant> {
        match self.lock().editor.as_ref().map(|editor| &editor.link) {
            Some(Link::LostAt(since)) => Some(*since + self.back_within),
            _ => None,
        }
    }

    /// Whether the editor stayed away too long. Told once.
    pub(crate) fn gave_up(&self) -> bool {
        let mut state = self.lock();
        let is_gone = state.editor.as_ref().is_some_and(|editor| !editor.is_there(self.back_within));
        if is_gone {
            state.editor = None;
        }
        is_gone
    }

    fn lost(&self, connection: u64) {
        {
            let mut state = self.lock();
            let Some(editor) = state.editor.as_mut().filter(|editor| editor.connection == connection) else {
                // It is back on another one.
                return;
            };
            editor.link = Link::LostAt(Instant::now());
        }
        self.changes.send_modify(|count| *count += 1);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Editor {
    /// Connected, or away for so short that it may come back.
    fn is_there(&self, back_within: Duration) -> bool {
        match self.link {
            Link::Up(_) => true,
            Link::LostAt(since) => since.elapsed() < back_within,
        }
    }
}

/// A request that is under way.
pub(super) struct Asked {
    request: u64,
    answer: oneshot::Receiver<HostAnswer>,
    name: String,
}

impl Requests {
    pub(crate) async fn next(&mut self) -> Option<HostRequest> {
        self.received.recv().await
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        self.line.lost(self.connection);
    }
}

fn gone(name: &str) -> HostError {
    HostError::NoAnswer(format!("{name} is gone before it answered; nobody knows whether it was done"))
}

fn slow(name: &str, within: Option<Duration>) -> HostError {
    let seconds = within.unwrap_or_default().as_secs();
    HostError::NoAnswer(format!("{name} did not answer within {seconds} s"))
}

async fn at(when: Option<Instant>) {
    match when {
        Some(when) => tokio::time::sleep_until(when).await,
        None => std::future::pending().await,
    }
}
