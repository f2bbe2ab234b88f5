//! A [`Client`] to an engine in another process.
//!
//! One task holds the connection and makes it again when it is lost. Reads and changes that were under way are sent again:
//! a change carries a key, so it is made once. A session's events go on after the last one that was seen; the list of
//! sessions begins again with all of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::{SinkExt, StreamExt};
use protocol::{
    Event, HostAccepted, HostAnswer, HostOffer, HostRequest, ListChange, Op, Receipt, Reply, Request,
    SessionId, SessionSummary,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use crate::carrier::{Address, Incoming, Outgoing, connect};
use crate::wire::{self, AnswerHost, News, RpcError, Submit, Subscribed, Topic};
use crate::{Client, ClientError, EventStream, Failure, HostRequests, SessionList};

/// How long to wait before each try to connect again. After the last one the connection is given up.
const WAITS: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(8),
    Duration::from_secs(16),
];
const PING_EVERY: Duration = Duration::from_secs(15);
/// Events that wait for a reader. One that does not read holds up only itself: it is left behind and asked for again.
const WAITING: usize = 1024;
/// How long a reader that was too slow has before it is told more.
const BREATH: Duration = Duration::from_millis(100);

/// An engine behind a socket. Clones share the connection; it ends with the last of them.
#[derive(Clone)]
pub struct Remote {
    asks: mpsc::Sender<Ask>,
    _task: Arc<AbortOnDropHandle<()>>,
}

enum Ask {
    Call {
        method: &'static str,
        params: Box<RawValue>,
        reply: oneshot::Sender<Result<Box<RawValue>, ClientError>>,
    },
    Events {
        session: SessionId,
        after: u64,
        opened: oneshot::Sender<Result<(), ClientError>>,
        out: mpsc::Sender<Told<Arc<Event>>>,
    },
    Sessions {
        out: mpsc::Sender<Told<ListChange>>,
    },
    Host {
        session: SessionId,
        offer: HostOffer,
        opened: oneshot::Sender<Result<HostAccepted, ClientError>>,
        out: mpsc::Sender<Told<HostRequest>>,
    },
}

type Told<T> = Result<T, ClientError>;

impl Remote {
    /// Connects, and fails at once when there is nobody.
    pub async fn connect(address: Address) -> Result<Self, ClientError> {
        let carrier = connect(&address).await?;
        let (asks, asked) = mpsc::channel(64);
        let link = Link {
            address,
            next: 1,
            calls: HashMap::new(),
            watches: HashMap::new(),
            active: HashMap::new(),
            late: vec![],
        };
        let task = tokio::spawn(link.run(carrier, asked));
        Ok(Self { asks, _task: Arc::new(AbortOnDropHandle::new(task)) })
    }

    /// Whether the connection was not given up.
    pub fn is_connected(&self) -> bool {
        !self.asks.is_closed()
    }

    async fn call(
        &self,
        method: &'static str,
        params: &impl serde::Serialize,
    ) -> Result<Box<RawValue>, ClientError> {
        let params = serde_json::value::to_raw_value(params).map_err(|error| nonsense(&error))?;
        let (reply, answer) = oneshot::channel();
        self.asks.send(Ask::Call { method, params, reply }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

fn gone() -> ClientError {
    ClientError {
        kind: Failure::Closed,
        message: "the connection to the server was lost".to_owned(),
        hint: None,
    }
}

fn nonsense(error: &dyn std::fmt::Display) -> ClientError {
    ClientError {
        kind: Failure::Closed,
        message: format!("the server can not be understood: {error}"),
        hint: None,
    }
}

fn decode<T: for<'de> Deserialize<'de>>(text: &RawValue) -> Result<T, ClientError> {
    serde_json::from_str(text.get()).map_err(|error| nonsense(&error))
}

#[async_trait]
impl Client for Remote {
    async fn read(&self, request: Request) -> Result<Reply, ClientError> {
        decode(&self.call("read", &request).await?)
    }

    async fn submit(&self, op: Op) -> Result<Receipt, ClientError> {
        decode(&self.call("submit", &Submit { op, key: Some(random_key()) }).await?)
    }

    async fn events(&self, session: SessionId, after: u64) -> Result<EventStream, ClientError> {
        let (out, told) = mpsc::channel(WAITING);
        let (opened, answer) = oneshot::channel();
        self.asks.send(Ask::Events { session, after, opened, out }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())??;
        Ok(stream(told, self.clone()))
    }

    async fn sessions(&self) -> Result<SessionList, ClientError> {
        let (out, told) = mpsc::channel(WAITING);
        self.asks.send(Ask::Sessions { out }).await.map_err(|_| gone())?;
        Ok(stream(told, self.clone()))
    }

    async fn offer_host(
        &self,
        session: SessionId,
        offer: HostOffer,
    ) -> Result<(HostAccepted, HostRequests), ClientError> {
        let (out, told) = mpsc::channel(WAITING);
        let (opened, answer) = oneshot::channel();
        self.asks.send(Ask::Host { session, offer, opened, out }).await.map_err(|_| gone())?;
        Ok((answer.await.map_err(|_| gone())??, stream(told, self.clone())))
    }

    async fn answer_host(
        &self,
        session: SessionId,
        request: u64,
        answer: HostAnswer,
    ) -> Result<(), ClientError> {
        self.call("answer_host", &AnswerHost { session, request, answer }).await.map(drop)
    }
}

/// Holds the connection for as long as somebody listens.
fn stream<T: Send + 'static>(
    told: mpsc::Receiver<T>,
    remote: Remote,
) -> futures::stream::BoxStream<'static, T> {
    futures::stream::unfold((told, remote), |(mut told, remote)| async move {
        Some((told.recv().await?, (told, remote)))
    })
    .boxed()
}

/// Not guessable by accident, and that is all it needs: it tells one process's changes from another's.
fn random_key() -> String {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let part = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", part(), part())
}

struct Call {
    method: &'static str,
    params: Box<RawValue>,
    reply: oneshot::Sender<Result<Box<RawValue>, ClientError>>,
}

/// Something that is watched, whatever becomes of the connection.
enum Watch {
    Events {
        session: SessionId,
        seen: u64,
        opened: Option<oneshot::Sender<Result<(), ClientError>>>,
        out: mpsc::Sender<Told<Arc<Event>>>,
    },
    Sessions {
        version: u64,
        out: mpsc::Sender<Told<ListChange>>,
    },
    Host {
        session: SessionId,
        offer: HostOffer,
        opened: Option<oneshot::Sender<Result<HostAccepted, ClientError>>>,
        out: mpsc::Sender<Told<HostRequest>>,
    },
}

struct Link {
    address: Address,
    next: u64,
    calls: HashMap<u64, Call>,
    /// By the id of the request that asks for them.
    watches: HashMap<u64, Watch>,
    /// The server's numbers of subscriptions, and whose they are.
    active: HashMap<u64, u64>,
    /// Watches whose reader was too slow; asked for again in a moment.
    late: Vec<u64>,
}

/// A message of the server: an answer, or news.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Option<u64>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<RpcError>,
}

impl Link {
    async fn run(mut self, carrier: (Outgoing, Incoming), mut asked: mpsc::Receiver<Ask>) {
        let mut carrier = Some(carrier);
        loop {
            let Some((sink, texts)) = carrier.take() else { return self.give_up() };
            if self.converse(sink, texts, &mut asked).await {
                // Nobody can ask any more.
                return;
            }
            self.active.clear();
            for wait in WAITS {
                // Some of it by chance, so that many do not come back at once.
                let chance = u32::from_str_radix(&random_key()[..2], 16).unwrap_or(0);
                tokio::time::sleep(wait / 2 + wait / 512 * chance).await;
                match connect(&self.address).await {
                    Ok(found) => {
                        carrier = Some(found);
                        break;
                    }
                    // Asking again would not change it.
                    Err(error) if error.kind == Failure::Denied => return self.give_up(),
                    Err(_) => {}
                }
            }
        }
    }

    /// Speaks until the connection is lost (false) or nobody wants it any more (true).
    async fn converse(
        &mut self,
        mut sink: Outgoing,
        mut texts: Incoming,
        asked: &mut mpsc::Receiver<Ask>,
    ) -> bool {
        for text in self.everything_again() {
            if sink.send(text).await.is_err() {
                return false;
            }
        }
        let mut ping = tokio::time::interval_at(tokio::time::Instant::now() + PING_EVERY, PING_EVERY);
        let mut heard = true;
        loop {
            let text = tokio::select! {
                ask = asked.recv() => match ask {
                    Some(ask) => self.take(ask),
                    None => return true,
                },
                text = texts.next() => {
                    let Some(text) = text else { return false };
                    heard = true;
                    match self.received(&text) {
                        Some(again) => again,
                        None => continue,
                    }
                }
                () = tokio::time::sleep(BREATH), if !self.late.is_empty() => {
                    let Some(id) = self.late.pop() else { continue };
                    self.subscribe(id)
                }
                _ = ping.tick() => {
                    if !std::mem::take(&mut heard) {
                        return false;
                    }
                    let id = self.id();
                    wire::request(id, "ping", &Value::Null)
                }
            };
            if sink.send(text).await.is_err() {
                return false;
            }
        }
    }

    fn id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn take(&mut self, ask: Ask) -> String {
        let id = self.id();
        match ask {
            Ask::Call { method, params, reply } => {
                let text = wire::request(id, method, &params);
                self.calls.insert(id, Call { method, params, reply });
                text
            }
            Ask::Events { session, after, opened, out } => {
                self.watches.insert(id, Watch::Events { session, seen: after, opened: Some(opened), out });
                self.subscribe(id)
            }
            Ask::Sessions { out } => {
                self.watches.insert(id, Watch::Sessions { version: 0, out });
                self.subscribe(id)
            }
            Ask::Host { session, offer, opened, out } => {
                self.watches.insert(id, Watch::Host { session, offer, opened: Some(opened), out });
                self.subscribe(id)
            }
        }
    }

    fn subscribe(&self, id: u64) -> String {
        let topic = match self.watches.get(&id) {
            Some(Watch::Events { session, seen, .. }) => {
                Topic::Session { session: session.clone(), after: Some(*seen) }
            }
            Some(Watch::Host { session, offer, .. }) => {
                Topic::Host { session: session.clone(), offer: offer.clone() }
            }
            _ => Topic::Sessions,
        };
        wire::request(id, "subscribe", &topic)
    }

    /// What was under way when the connection was lost.
    fn everything_again(&mut self) -> Vec<String> {
        self.late.clear();
        self.watches.retain(|_, watch| !watch.is_over());
        let mut calls: Vec<_> = self.calls.iter().collect();
        calls.sort_by_key(|(id, _)| **id);
        let calls = calls.into_iter().map(|(id, call)| wire::request(*id, call.method, &call.params));
        calls.chain(self.watches.keys().map(|id| self.subscribe(*id))).collect()
    }

    /// Takes what the server said. Answers with what is to be said to that.
    fn received(&mut self, text: &str) -> Option<String> {
        let message: Message = serde_json::from_str(text).ok()?;
        let Some(id) = message.id else { return self.news(serde_json::from_str(text).ok()?) };
        let result = match (message.result, message.error) {
            (_, Some(error)) => Err(ClientError::from(error)),
            (Some(result), None) => Ok(result),
            (None, None) => RawValue::from_string("null".to_owned()).map_err(|error| nonsense(&error)),
        };
        if let Some(call) = self.calls.remove(&id) {
            // Whoever asked may be gone.
            let _ = call.reply.send(result);
            return None;
        }
        let watch = self.watches.get_mut(&id)?;
        match result.and_then(|result| decode::<Subscribed>(&result)) {
            Ok(subscribed) => {
                self.active.insert(subscribed.subscription, id);
                watch.opened(subscribed);
            }
            Err(error) => {
                watch.failed(error);
                self.watches.remove(&id);
            }
        }
        None
    }

    fn news(&mut self, news: News) -> Option<String> {
        let (News::Events { subscription, .. }
        | News::Patch { subscription, .. }
        | News::State { subscription, .. }
        | News::Host { subscription, .. }
        | News::End { subscription, .. }) = &news;
        let subscription = *subscription;
        let id = *self.active.get(&subscription)?;
        let watch = self.watches.get_mut(&id)?;
        match watch.take(news) {
            After::GoOn => None,
            After::Again => {
                self.active.remove(&subscription);
                self.late.push(id);
                Some(wire::request(self.id(), "unsubscribe", &wire::Subscription { subscription }))
            }
            After::Over => {
                self.active.remove(&subscription);
                self.watches.remove(&id);
                Some(wire::request(self.id(), "unsubscribe", &wire::Subscription { subscription }))
            }
        }
    }

    fn give_up(self) {
        for call in self.calls.into_values() {
            let _ = call.reply.send(Err(gone()));
        }
        for mut watch in self.watches.into_values() {
            watch.failed(gone());
        }
    }
}

/// What follows from news.
enum After {
    GoOn,
    /// Something is missing: subscribe anew.
    Again,
    /// Nobody listens, or nothing more comes.
    Over,
}

impl Watch {
    fn is_over(&self) -> bool {
        match self {
            Self::Events { out, .. } => out.is_closed(),
            Self::Sessions { out, .. } => out.is_closed(),
            Self::Host { out, .. } => out.is_closed(),
        }
    }

    fn opened(&mut self, subscribed: Subscribed) {
        match self {
            Self::Events { opened, .. } => {
                if let Some(opened) = opened.take() {
                    let _ = opened.send(Ok(()));
                }
            }
            Self::Sessions { version, out } => {
                *version = subscribed.version;
                let all = subscribed.state.and_then(|state| decode::<List>(&state).ok());
                let _ = out
                    .try_send(Ok(ListChange::All(all.unwrap_or_default().sessions.into_values().collect())));
            }
            Self::Host { opened, .. } => {
                if let Some(opened) = opened.take() {
                    let state = subscribed.state.ok_or_else(|| nonsense(&"it did not say what it takes"));
                    let _ = opened.send(state.and_then(|state| decode(&state)));
                }
            }
        }
    }

    fn failed(&mut self, error: ClientError) {
        match self {
            Self::Events { opened, out, .. } => {
                let _ = match opened.take() {
                    Some(opened) => opened.send(Err(error)).is_ok(),
                    None => out.try_send(Err(error)).is_ok(),
                };
            }
            Self::Sessions { out, .. } => drop(out.try_send(Err(error))),
            Self::Host { opened, out, .. } => {
                let _ = match opened.take() {
                    Some(opened) => opened.send(Err(error)).is_ok(),
                    None => out.try_send(Err(error)).is_ok(),
                };
            }
        }
    }

    fn take(&mut self, news: News) -> After {
        match (self, news) {
            (Self::Events { seen, out, .. }, News::Events { events, .. }) => {
                for event in events {
                    if event.seq <= *seen {
                        continue;
                    }
                    let seq = event.seq;
                    match out.try_send(Ok(Arc::new(event))) {
                        Ok(()) => *seen = seq,
                        Err(mpsc::error::TrySendError::Full(_)) => return After::Again,
                        Err(mpsc::error::TrySendError::Closed(_)) => return After::Over,
                    }
                }
                After::GoOn
            }
            (Self::Events { out, .. }, News::End { error, .. }) => {
                if let Some(error) = error {
                    let _ = out.try_send(Err(error.into()));
                }
                After::Over
            }
            (Self::Sessions { version, out }, News::Patch { base, version: next, patch, .. }) => {
                if base != *version {
                    return After::Again;
                }
                *version = next;
                for change in changes(&patch) {
                    match out.try_send(Ok(change)) {
                        Ok(()) => {}
                        Err(mpsc::error::TrySendError::Full(_)) => return After::Again,
                        Err(mpsc::error::TrySendError::Closed(_)) => return After::Over,
                    }
                }
                After::GoOn
            }
            (Self::Host { out, .. }, News::Host { request, .. }) => match out.try_send(Ok(request)) {
                Ok(()) => After::GoOn,
                // What it can not take now comes again.
                Err(mpsc::error::TrySendError::Full(_)) => After::Again,
                Err(mpsc::error::TrySendError::Closed(_)) => After::Over,
            },
            (Self::Host { out, .. }, News::End { error, .. }) => {
                if let Some(error) = error {
                    let _ = out.try_send(Err(error.into()));
                }
                After::Over
            }
            (Self::Sessions { .. }, News::State { .. }) => After::Again,
            (Self::Sessions { .. }, News::End { .. }) => After::Over,
            _ => After::GoOn,
        }
    }
}

#[derive(Default, Deserialize)]
struct List {
    sessions: HashMap<SessionId, SessionSummary>,
}

/// A patch of the list, as what it means.
fn changes(patch: &Value) -> Vec<ListChange> {
    let change = |step: &Value| match step["op"].as_str()? {
        "remove" => Some(ListChange::Gone(step["path"].as_str()?.rsplit('/').next()?.parse().ok()?)),
        _ => Some(ListChange::Put(serde_json::from_value(step["value"].clone()).ok()?)),
    };
    patch.as_array().into_iter().flatten().filter_map(change).collect()
}
