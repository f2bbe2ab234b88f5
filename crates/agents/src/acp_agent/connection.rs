//! A process that speaks the protocol, and the sessions in it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use acp::{
    Agreed, Ask, CallError, Client, Id, Incoming, News, Odd, Offer, Peer, RpcError, SessionNews, Wire,
    permission_answer,
};
use protocol::AgentId;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;

use crate::fleet::{FleetOptions, Trouble};
use crate::process::{Process, Start, Tail};
use crate::roll::OnRoll;

/// How long an agent may take to say who it is. Some fetch half a runtime first.
const INITIALIZE: Duration = Duration::from_secs(60);
/// What waits for a session's turn; beyond that the agent waits.
const WAITING: usize = 256;
/// What a session that is not open yet may have sent.
const EARLY: usize = 64;

/// What arrives for a session.
pub(crate) enum Arrived {
    News(News),
    Ask { id: Id, ask: Ask },
    Odd(Odd),
}

/// An agent's process that has said who it is.
pub(crate) struct Connection {
    pub(crate) client: Client,
    pub(crate) agreed: Agreed,
    routes: Arc<Mutex<Routes>>,
    handled: watch::Receiver<u64>,
    tail: Tail,
    dispatching: AbortHandle,
    process: Process,
    ready: Once,
}

#[derive(Default)]
struct Routes {
    open: HashMap<String, mpsc::Sender<Arrived>>,
    /// For sessions that we have not heard the name of yet.
    early: Vec<(String, News)>,
    closed: bool,
}

impl Connection {
    pub(crate) async fn open(
        start: &Start,
        options: &FleetOptions,
        id: &AgentId,
        files: bool,
    ) -> Result<Self, Trouble> {
        let started = Process::start(start, options, id);
        let (process, stdin, stdout) = started
            .map_err(|error| Trouble::unreachable(format!("`{id}` could not be started: {error}"), None))?;
        let tail = process.tail();
        let (peer, incoming) = Peer::start(stdout, stdin, Wire::default());
        let client = Client::new(peer.clone());
        let routes = Arc::new(Mutex::new(Routes::default()));
        let (progress, handled) = watch::channel(0);
        let dispatch = dispatch(incoming, peer, routes.clone(), progress, tail.clone());
        let dispatching = tokio::spawn(dispatch).abort_handle();
        let offer =
            Offer { name: "covey".to_owned(), version: options.version.clone(), files, terminals: true };
        let agreed = match tokio::time::timeout(INITIALIZE, client.initialize(&offer)).await {
            Ok(Ok(agreed)) => agreed,
            Ok(Err(error)) => {
                dispatching.abort();
                let said = last_words(&tail).await;
                return Err(Trouble::unreachable(
                    format!("`{id}` did not answer as an agent does: {error}{said}"),
                    Some(format!("see what it says: covey agents test {id}")),
                ));
            }
            Err(_) => {
                dispatching.abort();
                let said = last_words(&tail).await;
                let seconds = INITIALIZE.as_secs();
                let message = format!("`{id}` said nothing for {seconds} seconds after it was started{said}");
                return Err(Trouble::unreachable(message, None));
            }
        };
        Ok(Self { client, agreed, routes, handled, tail, dispatching, process, ready: Once::new() })
    }

    pub(crate) fn on_roll(&self) -> &Arc<OnRoll> {
        self.process.on_roll()
    }

    /// The first session is open; a process that serves another one keeps what it counted as its own.
    pub(crate) fn is_ready(&self) {
        self.ready.call_once(|| self.process.on_roll().is_ready());
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.peer().is_closed()
    }

    /// From now on, what concerns this session arrives here; what came before it did is first.
    pub(crate) fn route(&self, session: &str) -> mpsc::Receiver<Arrived> {
        let (sender, arrived) = mpsc::channel(WAITING);
        let mut routes = lock(&self.routes);
        let (mine, others) = std::mem::take(&mut routes.early).into_iter().partition(|(id, _)| id == session);
        routes.early = others;
        let mine: Vec<(String, News)> = mine;
        for (_, news) in mine {
            // There is room: fewer are kept than fit.
            let _ = sender.try_send(Arrived::News(news));
        }
        if !routes.closed {
            routes.open.insert(session.to_owned(), sender);
        }
        arrived
    }

    pub(crate) fn unroute(&self, session: &str) {
        lock(&self.routes).open.remove(session);
    }

    /// Counts the messages that were handed on; see [`acp::PromptEnd::before`].
    pub(crate) fn handled(&self) -> watch::Receiver<u64> {
        self.handled.clone()
    }

    /// The last that it said on its standard error, to be added to a message.
    pub(crate) async fn last_words(&self) -> String {
        last_words(&self.tail).await
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.dispatching.abort();
    }
}

/// A process that dies closes its pipes in any order; the words of its end may come a moment later.
async fn last_words(tail: &Tail) -> String {
    for _ in 0..10 {
        if let Some(words) = tail.words() {
            return format!("; it said: {words}");
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    String::new()
}

async fn dispatch(
    mut incoming: mpsc::Receiver<Incoming>,
    peer: Peer,
    routes: Arc<Mutex<Routes>>,
    progress: watch::Sender<u64>,
    tail: Tail,
) {
    let mut count = 0;
    while let Some(message) = incoming.recv().await {
        match message {
            Incoming::Notification { method, params } if method == "session/update" => {
                match SessionNews::parse(&params) {
                    Some(SessionNews { session, news }) => hand_on(&routes, &session, news).await,
                    None => tell_all(&routes, &method),
                }
            }
            // Of its own making, as the protocol allows, and not for us.
            Incoming::Notification { method, .. } if method.starts_with(['_', '$']) => {}
            Incoming::Notification { method, .. } => tell_all(&routes, &method),
            Incoming::Request { id, method, params } => match Ask::parse(&method, &params) {
                Ok((session, ask)) => {
                    let sender = lock(&routes).open.get(&session).cloned();
                    let left = match sender {
                        Some(sender) => match sender.send(Arrived::Ask { id: id.clone(), ask }).await {
                            Ok(()) => None,
                            Err(mpsc::error::SendError(Arrived::Ask { ask, .. })) => Some(ask),
                            Err(_) => None,
                        },
                        None => Some(ask),
                    };
                    if let Some(ask) = left {
                        // It hangs up by itself when it does not want to hear it.
                        let _ = peer.respond(&id, out_of_turn(&ask)).await;
                    }
                }
                Err(error) => drop(peer.respond(&id, Err(error)).await),
            },
            Incoming::Odd(Odd::Noise(line)) => tail.push(&line),
            // An answer that nobody waits for any more, because the turn was cancelled.
            Incoming::Odd(Odd::Unasked(_)) => {}
            Incoming::Odd(odd) => {
                let senders: Vec<_> = lock(&routes).open.values().cloned().collect();
                for sender in senders {
                    let _ = sender.try_send(Arrived::Odd(odd.clone()));
                }
            }
        }
        count += 1;
        progress.send_replace(count);
    }
    let mut routes = lock(&routes);
    routes.closed = true;
    // Those who listen hear that nothing more comes.
    routes.open.clear();
}

/// Something that is not known, and of no session that could be told.
fn tell_all(routes: &Mutex<Routes>, method: &str) {
    let senders: Vec<_> = lock(routes).open.values().cloned().collect();
    for sender in senders {
        // Whoever has much to read already is told of the next one.
        let _ = sender.try_send(Arrived::News(News::Unknown { name: method.to_owned() }));
    }
}

async fn hand_on(routes: &Mutex<Routes>, session: &str, news: News) {
    let sender = {
        let mut routes = lock(routes);
        let sender = routes.open.get(session).cloned();
        if sender.is_none() {
            // What lasts is kept for a session that is just being opened; the rest belongs to a turn that is over.
            let lasting = matches!(news, News::Commands(_) | News::Mode(_) | News::Options(_));
            if lasting && routes.early.len() < EARLY {
                routes.early.push((session.to_owned(), news));
            }
            return;
        }
        sender
    };
    if let Some(sender) = sender {
        // Whoever stopped listening does not want it.
        let _ = sender.send(Arrived::News(news)).await;
    }
}

/// The answer to a request that comes when no turn runs: after a cancel, or for a session that is not there.
pub(crate) fn out_of_turn(ask: &Ask) -> Result<serde_json::Value, RpcError> {
    match ask {
        Ask::Permission { .. } => Ok(permission_answer(None)),
        _ => Err(RpcError::new(RpcError::NOT_FOUND, "no turn is running in this session")),
    }
}

fn lock(routes: &Mutex<Routes>) -> MutexGuard<'_, Routes> {
    routes.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a failed call means for the person.
pub(crate) fn explain(id: &AgentId, error: &CallError, said: &str) -> Trouble {
    match error {
        CallError::Refused(refusal) if refusal.code == RpcError::AUTH_REQUIRED => Trouble::unreachable(
            format!("`{id}` wants you to log in: {refusal}"),
            Some(format!("covey agents login {id}")),
        ),
        CallError::Refused(refusal) => Trouble::new(format!("`{id}` reports: {refusal}")),
        CallError::Closed => Trouble::died(id, said),
        CallError::Unexpected { .. } => Trouble::new(format!("`{id}`: {error}")),
    }
}
