//! One front end's conversation, whatever carries its messages.
//!
//! Requests are answered as they are done; changes are made in the order in which they were sent. Everything that goes
//! out passes one bounded queue: who reads slowly waits for their own answers and is caught up from the log, and nobody
//! else notices.

use std::collections::HashMap;
use std::sync::Arc;

use client::wire::{self, AnswerHost, Call, Hello, Incoming, News, RpcError, Submit, Subscribed, Topic};
use client::{ClientError, EventStream};
use futures::StreamExt;
use protocol::{Event, HostOffer, Reply, Request, SessionId};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{AbortHandle, JoinSet};

use crate::roster::RosterChange;
use crate::server::App;

/// Messages that wait to be sent to one front end.
const OUTGOING: usize = 64;
/// Requests of one front end that are worked on at once.
const AT_ONCE: usize = 32;
/// Changes of one front end that wait for the one before.
const WAITING: usize = 64;
const MAX_SUBSCRIPTIONS: usize = 64;
/// Events that are ready are sent together, as long as they are few and small.
const EVENTS_AT_ONCE: usize = 128;
const EVENT_BYTES_AT_ONCE: usize = 256 << 10;

/// The two ends of a conversation: what arrives is given to [`Conversation::take`]; what comes out of the receiver is
/// sent.
pub(crate) struct Conversation {
    app: App,
    outgoing: mpsc::Sender<String>,
    changes: mpsc::Sender<(Value, Submit)>,
    slots: Arc<Semaphore>,
    subscriptions: HashMap<u64, AbortHandle>,
    next_subscription: u64,
    /// Ends with the conversation.
    tasks: JoinSet<()>,
}

impl Conversation {
    pub(crate) fn new(app: App) -> (Self, mpsc::Receiver<String>) {
        let (outgoing, sent) = mpsc::channel(OUTGOING);
        let (changes, waiting) = mpsc::channel(WAITING);
        let mut tasks = JoinSet::new();
        tasks.spawn(make_changes(app.clone(), waiting, outgoing.clone()));
        let conversation = Self {
            app,
            outgoing,
            changes,
            slots: Arc::new(Semaphore::new(AT_ONCE)),
            subscriptions: HashMap::new(),
            next_subscription: 1,
            tasks,
        };
        (conversation, sent)
    }

    /// Takes one message. Waits while the front end has too much under way.
    pub(crate) async fn take(&mut self, text: &str) {
        while self.tasks.try_join_next().is_some() {}
        let (id, call) = parse(text);
        let call = match call {
            Ok(call) => call,
            Err(error) => return self.answer(&id, Err::<(), _>(error)).await,
        };
        match call {
            Call::Ping => self.answer(&id, Ok(Value::Null)).await,
            Call::Hello => {
                let hello = Hello {
                    protocol: wire::VERSION,
                    covey: self.app.version.to_string(),
                    cwd: self.app.cwd.to_string(),
                };
                self.answer(&id, Ok(hello)).await;
            }
            // The queue only closes with the conversation.
            Call::Submit(submit) => drop(self.changes.send((id, submit)).await),
            Call::Read(request) => self.read(id, request).await,
            Call::AnswerHost(answer) => self.answer_host(id, *answer).await,
            Call::Subscribe(topic) => self.subscribe(id, topic).await,
            Call::Unsubscribe(which) => {
                if let Some(task) = self.subscriptions.remove(&which.subscription) {
                    task.abort();
                }
                self.answer(&id, Ok(Value::Null)).await;
            }
        }
    }

    async fn answer(&self, id: &Value, result: Result<impl serde::Serialize, RpcError>) {
        // A front end that is gone reads no answer.
        let _ = self.outgoing.send(wire::answer(id, result)).await;
    }

    async fn read(&mut self, id: Value, request: Request) {
        let Ok(slot) = self.slots.clone().acquire_owned().await else { return };
        let (app, outgoing) = (self.app.clone(), self.outgoing.clone());
        self.tasks.spawn(async move {
            let result = app.client.read(request).await.map_err(RpcError::from);
            let _ = outgoing.send(wire::answer(&id, result)).await;
            drop(slot);
        });
    }

    /// Beside the changes, not among them: a change may be waiting for this very answer.
    async fn answer_host(&mut self, id: Value, answer: AnswerHost) {
        let Ok(slot) = self.slots.clone().acquire_owned().await else { return };
        let (app, outgoing) = (self.app.clone(), self.outgoing.clone());
        self.tasks.spawn(async move {
            let AnswerHost { session, request, answer } = answer;
            let result = app.client.answer_host(session, request, answer).await.map_err(RpcError::from);
            let _ = outgoing.send(wire::answer(&id, result.map(|()| Value::Null))).await;
            drop(slot);
        });
    }

    async fn subscribe(&mut self, id: Value, topic: Topic) {
        self.subscriptions.retain(|_, task| !task.is_finished());
        if self.subscriptions.len() >= MAX_SUBSCRIPTIONS {
            let message = format!("no more than {MAX_SUBSCRIPTIONS} subscriptions on one socket");
            return self.answer(&id, Err::<(), _>(RpcError::new(RpcError::REFUSED, message))).await;
        }
        let subscription = self.next_subscription;
        self.next_subscription += 1;
        let (app, outgoing) = (self.app.clone(), self.outgoing.clone());
        let task = match topic {
            Topic::Sessions => self.tasks.spawn(watch_roster(app, id, subscription, outgoing)),
            Topic::Session { session, after } => {
                self.tasks.spawn(watch_session(app, id, subscription, session, after, outgoing))
            }
            Topic::Host { session, offer } => {
                self.tasks.spawn(send_requests(app, id, subscription, session, offer, outgoing))
            }
        };
        self.subscriptions.insert(subscription, task);
    }
}

/// What is asked, and under which id it is answered: without one, that is null.
fn parse(text: &str) -> (Value, Result<Call, RpcError>) {
    let incoming: Incoming = match serde_json::from_str(text) {
        Ok(incoming) => incoming,
        Err(error) => {
            let code = if error.is_data() { RpcError::REQUEST } else { RpcError::PARSE };
            return (Value::Null, Err(RpcError::new(code, format!("not a request: {error}"))));
        }
    };
    match incoming.id {
        Some(id) => (id, Call::parse(&incoming.method, incoming.params.as_deref())),
        None => (Value::Null, Err(RpcError::new(RpcError::REQUEST, "a request needs an `id`"))),
    }
}

/// Makes changes one after the other.
async fn make_changes(
    app: App,
    mut waiting: mpsc::Receiver<(Value, Submit)>,
    outgoing: mpsc::Sender<String>,
) {
    while let Some((id, Submit { op, key })) = waiting.recv().await {
        let result = app.submitted.submit(op, key).await.map_err(RpcError::from);
        if outgoing.send(wire::answer(&id, result)).await.is_err() {
            break;
        }
    }
}

/// Sends the list and its changes for as long as anybody reads.
async fn watch_roster(app: App, id: Value, subscription: u64, outgoing: mpsc::Sender<String>) {
    let (state, version, mut changes) = app.roster.watch();
    let answer = Subscribed { subscription, state: raw(&state), version };
    if outgoing.send(wire::answer(&id, Ok(answer))).await.is_err() {
        return;
    }
    let mut seen = version;
    loop {
        let news = match changes.recv().await {
            Ok(change) => match change.as_ref() {
                // Part of a state that was sent since.
                RosterChange::Patch { version, .. } if *version <= seen => continue,
                RosterChange::Patch { base, version, patch } if *base == seen => {
                    seen = *version;
                    News::Patch { subscription, base: *base, version: *version, patch: patch.clone() }
                }
                RosterChange::Patch { .. } | RosterChange::Reset => again(&app, subscription, &mut seen),
            },
            Err(RecvError::Lagged(_)) => again(&app, subscription, &mut seen),
            Err(RecvError::Closed) => return,
        };
        if outgoing.send(wire::notification(&news)).await.is_err() {
            return;
        }
    }
}

fn again(app: &App, subscription: u64, seen: &mut u64) -> News {
    let (state, version) = app.roster.state();
    *seen = version;
    News::State { subscription, state, version }
}

/// Sends a session's state, if it is wanted, and its events for as long as anybody reads.
async fn watch_session(
    app: App,
    id: Value,
    subscription: u64,
    session: SessionId,
    after: Option<u64>,
    outgoing: mpsc::Sender<String>,
) {
    let (answer, events) = match open(&app, subscription, session, after).await {
        Ok(opened) => opened,
        Err(error) => {
            let _ = outgoing.send(wire::answer(&id, Err::<(), _>(RpcError::from(error)))).await;
            return;
        }
    };
    if outgoing.send(wire::answer(&id, Ok(answer))).await.is_err() {
        return;
    }
    let error = tell_events(events, subscription, &outgoing).await;
    let end = News::End { subscription, error: error.map(RpcError::from) };
    let _ = outgoing.send(wire::notification(&end)).await;
}

/// Sends an editor what it is to do, for as long as it is there.
async fn send_requests(
    app: App,
    id: Value,
    subscription: u64,
    session: SessionId,
    offer: HostOffer,
    outgoing: mpsc::Sender<String>,
) {
    let (accepted, mut requests) = match app.client.offer_host(session, offer).await {
        Ok(taken) => taken,
        Err(error) => {
            let _ = outgoing.send(wire::answer(&id, Err::<(), _>(RpcError::from(error)))).await;
            return;
        }
    };
    let answer = Subscribed { subscription, state: raw(&accepted), version: 0 };
    if outgoing.send(wire::answer(&id, Ok(answer))).await.is_err() {
        return;
    }
    let mut error = None;
    while let Some(request) = requests.next().await {
        match request {
            Ok(request) => {
                let news = News::Host { subscription, request };
                if outgoing.send(wire::notification(&news)).await.is_err() {
                    return;
                }
            }
            Err(failure) => error = Some(RpcError::from(failure)),
        }
    }
    let _ = outgoing.send(wire::notification(&News::End { subscription, error })).await;
}

async fn open(
    app: &App,
    subscription: u64,
    session: SessionId,
    after: Option<u64>,
) -> Result<(Subscribed, EventStream), ClientError> {
    let (state, version) = match after {
        Some(after) => (None, after),
        None => match app.client.read(Request::Session { session: session.clone() }).await? {
            Reply::Session(view) => (raw(&view), view.seq),
            _ => (None, 0),
        },
    };
    let events = app.client.events(session, version).await?;
    Ok((Subscribed { subscription, state, version }, events))
}

/// Answers why there are no more, if not because the session was closed.
async fn tell_events(
    events: EventStream,
    subscription: u64,
    outgoing: &mpsc::Sender<String>,
) -> Option<ClientError> {
    let mut ready = events.ready_chunks(EVENTS_AT_ONCE);
    while let Some(chunk) = ready.next().await {
        let mut batch = Batch::new(subscription);
        for event in chunk {
            match event {
                Ok(event) => batch.add(&event),
                Err(error) => {
                    batch.send(outgoing).await;
                    return Some(error);
                }
            }
            if batch.is_full() && !batch.send(outgoing).await {
                return None;
            }
        }
        if !batch.send(outgoing).await {
            return None;
        }
    }
    None
}

/// Events that go out together, written as they are added.
struct Batch {
    subscription: u64,
    text: String,
}

impl Batch {
    fn new(subscription: u64) -> Self {
        Self { subscription, text: String::new() }
    }

    fn add(&mut self, event: &Event) {
        if self.text.is_empty() {
            let subscription = self.subscription;
            self.text = format!(
                r#"{{"jsonrpc":"2.0","method":"events","params":{{"subscription":{subscription},"events":["#
            );
        } else {
            self.text.push(',');
        }
        self.text.push_str(&event.to_json());
    }

    fn is_full(&self) -> bool {
        self.text.len() >= EVENT_BYTES_AT_ONCE
    }

    /// Whether anybody still reads.
    async fn send(&mut self, outgoing: &mpsc::Sender<String>) -> bool {
        let mut text = std::mem::take(&mut self.text);
        if text.is_empty() {
            return true;
        }
        text.push_str("]}}");
        outgoing.send(text).await.is_ok()
    }
}

fn raw(value: &impl serde::Serialize) -> Option<Box<RawValue>> {
    serde_json::value::to_raw_value(value).ok()
}
