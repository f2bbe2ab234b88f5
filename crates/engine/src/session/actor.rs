//! Carrying out what [`step`](super::step) decided: recording, telling, running agents, keeping time.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agents::{Agent, Answer, ChildEnd, HookCall};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use guard::{Guard, Redactor};
use project::Host;
use protocol::{Event, EventBody, HookEvent, SessionId, SessionView, Timestamp, TurnId, Update};
use sessions::{AppendError, Opened, Store, UsageEntry, UsageLog, Writer};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::blobs::move_to_blobs;
use super::handle::{Handle, Live, Message, OpFailure, OpResult, StorageFailure};
use super::hooks::Hooks;
use super::masking::masked;
use super::news::{Listed, News};
use super::services::{Asked, ChildAsked, SessionServices};
use super::step::{ChildStart, Effect, Input, Session, SessionOp, Ticket};
use super::turn::Records;
use crate::editor::SessionHost;

/// Text is recorded at most this often: twice a frame of a fast terminal.
const FLUSH_EVERY: Duration = Duration::from_millis(33);
/// How long a cancelled agent may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// What a power cut may cost.
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// Front ends that fall further behind than this read the log instead.
const LIVE_EVENTS: usize = 128;
const INPUTS: usize = 256;
/// Updates that wait are handed over together.
const UPDATES_AT_ONCE: usize = 128;

/// What a session runs with.
pub(crate) struct Setup {
    pub(crate) opened: Opened,
    pub(crate) store: Store,
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) host: Arc<SessionHost>,
    pub(crate) guard: Arc<Guard>,
    pub(crate) hooks: Arc<Hooks>,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) usage_log: Option<UsageLog>,
    /// Where lists hear of it.
    pub(crate) news: News,
    /// Where other processes can attach to it.
    pub(crate) socket: Option<PathBuf>,
}

/// Starts the actor. What a crash left open in the log is closed first.
pub(crate) fn open(setup: Setup, now: Timestamp) -> Result<Handle, AppendError> {
    let Setup { opened, store, agent, host, guard, hooks, redactor, usage_log, news, socket } = setup;
    let Opened { mut writer, mut view, .. } = opened;
    if socket.is_some() {
        // Without it nobody can attach; the session works all the same.
        let _ = writer.announce(socket);
    }
    let left_open = sessions::unfinished(&view);
    if !left_open.is_empty() {
        for event in writer.append(left_open.closing_records(now), now)? {
            view.apply(&event);
        }
    }
    let (cwd, seen_host, heard) = (view.cwd.clone().into(), host.clone(), hooks.clone());
    let (inputs, received) = mpsc::channel(INPUTS);
    let (live, _) = broadcast::channel(LIVE_EVENTS);
    let actor = Actor {
        session: view.session.clone(),
        state: Session::new(agent.id(), view.model.clone(), view.mode, view.turns).taking_up(&view),
        told: Listed::of(&view),
        news,
        last_input: Instant::now(),
        disk: Some(Disk { writer, view }),
        live: live.clone(),
        inputs: inputs.downgrade(),
        store,
        agent,
        host,
        guard,
        hooks,
        redactor,
        usage_log,
        running: HashMap::new(),
        tasks: JoinSet::new(),
        replies: HashMap::new(),
        asks: HashMap::new(),
        children: HashMap::new(),
        next_ticket: 0,
        flush_at: None,
        sync_at: None,
        closing: false,
    };
    let task = tokio::spawn(actor.run(received));
    Ok(Handle::new(inputs, live, task, cwd, seen_host, heard))
}

/// The log and the state that it adds up to. They travel together to where blocking is allowed.
struct Disk {
    writer: Writer,
    view: SessionView,
}

struct Actor {
    session: SessionId,
    state: Session,
    /// Absent only while a task syncs it, which the actor waits for.
    disk: Option<Disk>,
    live: broadcast::Sender<Live>,
    news: News,
    /// What lists show of it.
    told: Listed,
    last_input: Instant,
    inputs: mpsc::WeakSender<Message>,
    store: Store,
    agent: Arc<dyn Agent>,
    host: Arc<dyn Host>,
    guard: Arc<Guard>,
    hooks: Arc<Hooks>,
    redactor: Arc<Redactor>,
    usage_log: Option<UsageLog>,
    running: HashMap<TurnId, Running>,
    /// Everything that runs for this session; it ends with the actor.
    tasks: JoinSet<()>,
    replies: HashMap<Ticket, oneshot::Sender<OpResult>>,
    asks: HashMap<Ticket, oneshot::Sender<Answer>>,
    /// Child turns: who does them, and where their end is told.
    children: HashMap<Ticket, (Arc<dyn Agent>, oneshot::Sender<ChildEnd>)>,
    next_ticket: Ticket,
    flush_at: Option<Instant>,
    sync_at: Option<Instant>,
    closing: bool,
}

struct Running {
    cancel: CancellationToken,
    abort: AbortHandle,
}

impl Actor {
    async fn run(mut self, mut inputs: mpsc::Receiver<Message>) {
        while !self.closing {
            tokio::select! {
                message = inputs.recv() => match message {
                    Some(message) => self.receive(message).await,
                    // Every handle is gone: nobody can ask for anything any more.
                    None => self.give(Input::Op { op: SessionOp::Park, ticket: 0 }).await,
                },
                () = at(self.flush_at) => {
                    self.flush_at = None;
                    self.give(Input::Flush).await;
                }
                () = at(self.sync_at) => {
                    self.sync_at = None;
                    self.blocking(|disk| disk.writer.sync()).await;
                }
                Some(_) = self.tasks.join_next() => {}
            }
        }
        self.tasks.shutdown().await;
        if let Some(disk) = self.disk.take() {
            // The log is complete without this; only caches and the last sync are at stake.
            let _ = tokio::task::spawn_blocking(move || disk.writer.close(&disk.view)).await;
        }
    }

    async fn receive(&mut self, message: Message) {
        if let Message::ParkIfIdle { idle } = message {
            // An agent that runs is let go in its own time, which is longer, and not while it builds something.
            let unused = self.state.is_idle() && self.live.receiver_count() == 0 && !self.agent.is_running();
            if unused && self.last_input.elapsed() >= idle {
                self.give(Input::Op { op: SessionOp::Park, ticket: 0 }).await;
            }
            return;
        }
        self.last_input = Instant::now();
        match message {
            Message::Op { op, reply } => {
                let ticket = self.ticket();
                self.replies.insert(ticket, reply);
                self.give(Input::Op { op: *op, ticket }).await;
            }
            Message::Ask { turn, question, reply } => {
                let ticket = self.ticket();
                self.asks.insert(ticket, reply);
                self.give(Input::Ask { turn, question: *question, ticket }).await;
            }
            Message::Child { parent, child, reply } => {
                let ticket = self.ticket();
                let agents::Child { agent, model, prompt, mode, limits } = *child;
                let start = ChildStart { agent: agent.id(), model, prompt, mode, limits };
                self.children.insert(ticket, (agent, reply));
                self.give(Input::StartChild { parent, start, ticket }).await;
            }
            Message::Updates { turn, updates } => {
                for update in updates {
                    self.give(Input::Update { turn: turn.clone(), update }).await;
                }
            }
            Message::AgentGone { turn } => self.give(Input::AgentGone { turn }).await,
            Message::Deadline { turn } => self.give(Input::Deadline { turn }).await,
            Message::GraceOver { turn } => self.give(Input::GraceOver { turn }).await,
            Message::View { reply } => {
                if let Some(disk) = &self.disk {
                    // Whoever asked may be gone.
                    let _ = reply.send(disk.view.clone());
                }
            }
            Message::UseAgent { agent } => self.agent = agent,
            Message::ParkIfIdle { .. } => {}
            Message::IsIdle { reply } => {
                // Whoever asked may be gone.
                let _ = reply.send(self.state.is_idle());
            }
        }
    }

    fn ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        self.next_ticket
    }

    async fn give(&mut self, input: Input) {
        let now = Timestamp::now();
        let mut effects = std::collections::VecDeque::from(self.state.step(input, now));
        while let Some(effect) = effects.pop_front() {
            let Err((failure, lost)) = self.carry_out(effect, now).await else { continue };
            // Nothing that was to follow the record may happen without it.
            for effect in effects.drain(..) {
                if let Effect::Answer { ticket, .. } = effect {
                    self.answer(ticket, Err(OpFailure::Storage(failure.clone())));
                }
            }
            effects.extend(self.state.step(Input::StorageFailed { lost }, now));
            let _ = self.live.send(Live::Failed(Arc::new(failure)));
        }
    }

    async fn carry_out(&mut self, effect: Effect, now: Timestamp) -> Result<(), (StorageFailure, Records)> {
        match effect {
            Effect::Append(records) => return self.append(records, now),
            Effect::Answer { ticket, result } => self.answer(ticket, result.map_err(OpFailure::Refused)),
            Effect::AnswerAgent { ticket, answer } => {
                if let Some(reply) = self.asks.remove(&ticket) {
                    // An agent that was dropped waits no longer.
                    let _ = reply.send(answer);
                }
            }
            Effect::ChildDone { ticket, end } => {
                if let Some((_, reply)) = self.children.remove(&ticket) {
                    // A parent that was dropped waits no longer.
                    let _ = reply.send(end);
                }
            }
            Effect::StartAgent { turn, child, prompt, mode, effort, attended, limits } => {
                let agent = match child {
                    Some(ticket) => self.children.get(&ticket).map(|(agent, _)| agent.clone()),
                    None => Some(self.agent.clone()),
                };
                let Some(agent) = agent else { return Ok(()) };
                let Some(inputs) = self.inputs.upgrade() else { return Ok(()) };
                let upto = self.disk.as_ref().map_or(0, |disk| disk.writer.last_seq());
                let (asks, asked) = mpsc::channel(1);
                let (children, wanted) = mpsc::channel(1);
                let services = SessionServices {
                    turn: turn.clone(),
                    upto,
                    asks,
                    children,
                    host: self.host.clone(),
                    guard: self.guard.clone(),
                    hooks: self.hooks.clone(),
                    store: self.store.clone(),
                    session: self.session.clone(),
                };
                let agents_turn = agents::Turn {
                    session: self.session.clone(),
                    id: turn.clone(),
                    prompt,
                    mode,
                    effort,
                    attended,
                    limits,
                    services: Arc::new(services),
                };
                let cancel = CancellationToken::new();
                let updates = agent.prompt(agents_turn, cancel.clone());
                let updates = masked(updates, self.redactor.clone());
                let updates = told_at_the_end(updates, self.hooks.clone(), turn.clone());
                let abort = self.tasks.spawn(forward(turn.clone(), updates, asked, wanted, inputs));
                self.running.insert(turn, Running { cancel, abort });
            }
            Effect::CancelAgent { turn } => {
                if let Some(running) = self.running.get(&turn) {
                    running.cancel.cancel();
                }
            }
            Effect::AbortAgent { turn } => {
                if let Some(running) = self.running.remove(&turn) {
                    running.cancel.cancel();
                    running.abort.abort();
                }
            }
            Effect::HistoryChanged => self.agent.history_changed(),
            Effect::FlushSoon => self.flush_at = Some(Instant::now() + FLUSH_EVERY),
            Effect::DeadlineIn { turn, millis } => {
                self.later(Duration::from_millis(millis), Message::Deadline { turn });
            }
            Effect::GraceIn { turn } => self.later(GRACE, Message::GraceOver { turn }),
            Effect::Settle => {
                self.sync_at = None;
                self.blocking(|disk| disk.writer.checkpoint(&disk.view)).await;
            }
            Effect::Close => self.closing = true,
        }
        Ok(())
    }

    /// Records, then tells. A front end never sees what the log does not have.
    fn append(&mut self, mut records: Records, now: Timestamp) -> Result<(), (StorageFailure, Records)> {
        let Some(disk) = &mut self.disk else { return Ok(()) };
        let lost = records.clone();
        move_to_blobs(&mut records, disk.writer.blobs());
        match disk.writer.append(records, now) {
            Ok(events) => {
                log_usage(self.usage_log.as_ref(), &disk.view, &events);
                for event in events {
                    disk.view.apply(&event);
                    // No subscriber is no error.
                    let _ = self.live.send(Live::Event(event));
                }
                self.told.tell(&disk.view, &self.news);
                if disk.writer.needs_sync() && self.sync_at.is_none() {
                    self.sync_at = Some(Instant::now() + SYNC_EVERY);
                }
                Ok(())
            }
            Err(error) => {
                let mut lost = lost;
                if let AppendError::TooLarge { kind, .. } = &error {
                    // It would never fit; the turn's end says that something is missing.
                    lost.retain(|(_, body)| body.name() != kind || kind == "turn_start");
                }
                Err((StorageFailure::from(&error), lost))
            }
        }
    }

    fn answer(&mut self, ticket: Ticket, result: OpResult) {
        if let Some(reply) = self.replies.remove(&ticket) {
            // A front end that hung up does not read its answer.
            let _ = reply.send(result);
        }
    }

    fn later(&mut self, delay: Duration, message: Message) {
        let inputs = self.inputs.clone();
        self.tasks.spawn(async move {
            tokio::time::sleep(delay).await;
            if let Some(inputs) = inputs.upgrade() {
                // The session may be closed by then.
                let _ = inputs.send(message).await;
            }
        });
    }

    /// Lets the disk take its time without holding up other sessions.
    async fn blocking<F>(&mut self, work: F)
    where
        F: FnOnce(&mut Disk) -> Result<(), AppendError> + Send + 'static,
    {
        let Some(mut disk) = self.disk.take() else { return };
        let done = tokio::task::spawn_blocking(move || {
            let result = work(&mut disk);
            (disk, result)
        });
        match done.await {
            Ok((disk, result)) => {
                self.disk = Some(disk);
                if let Err(error) = result {
                    let _ = self.live.send(Live::Failed(Arc::new(StorageFailure::from(&error))));
                }
            }
            // The runtime is shutting down, or the work panicked: without its log the session can not go on.
            Err(_) => self.closing = true,
        }
    }
}

/// Counts what calls to models cost. Best effort: the session's own log has it too.
fn log_usage(log: Option<&UsageLog>, view: &SessionView, events: &[Arc<Event>]) {
    let Some(log) = log else { return };
    let entry = |event: &Arc<Event>| match &event.body {
        EventBody::Usage(report) => Some(UsageEntry {
            ts: event.ts,
            session: view.session.clone(),
            agent: view.agent.clone(),
            model: report.model.clone(),
            cwd: view.cwd.clone(),
            usage: report.usage,
        }),
        _ => None,
    };
    let entries: Vec<UsageEntry> = events.iter().filter_map(entry).collect();
    let _ = log.append(&entries);
}

/// Hooks hear that a turn is over before it is, so that nobody leaves while they run.
fn told_at_the_end(
    updates: BoxStream<'static, Update>,
    hooks: Arc<Hooks>,
    turn: TurnId,
) -> BoxStream<'static, Update> {
    if !hooks.listen_to(HookEvent::TurnEnd) || turn.as_str().contains('.') {
        return updates;
    }
    let tell = move |update: Update| {
        let (hooks, turn) = (hooks.clone(), turn.clone());
        async move {
            let Update::Done { stop, .. } = &update else { return vec![update] };
            let call = HookCall::new(HookEvent::TurnEnd).with("stop", stop.as_str());
            let ran = hooks.run(Some(&turn), call).await.ran;
            ran.into_iter().map(Update::Hook).chain([update]).collect()
        }
    };
    updates.then(tell).flat_map(futures::stream::iter).boxed()
}

/// Hands on what an agent says and asks, in the order in which it did.
async fn forward(
    turn: TurnId,
    updates: BoxStream<'static, Update>,
    mut asked: mpsc::Receiver<Asked>,
    mut wanted: mpsc::Receiver<ChildAsked>,
    inputs: mpsc::Sender<Message>,
) {
    let mut updates = updates.ready_chunks(UPDATES_AT_ONCE);
    loop {
        let mut child = None;
        let (chunk, ask) = tokio::select! {
            biased;
            chunk = updates.next() => (chunk, None),
            Some(asked) = wanted.recv() => {
                child = Some(asked);
                let said = updates.next().now_or_never();
                (said.unwrap_or(Some(vec![])), None)
            }
            Some(ask) = asked.recv() => {
                // What was said before the question may have arrived since we looked.
                let said = updates.next().now_or_never();
                (said.unwrap_or(Some(vec![])), Some(ask))
            }
        };
        let over = chunk.is_none();
        let said = chunk.unwrap_or_default();
        if !said.is_empty()
            && inputs.send(Message::Updates { turn: turn.clone(), updates: said }).await.is_err()
        {
            return;
        }
        if let Some(Asked { question, reply }) = ask {
            // Without a session the question is dropped, and its asker hears that.
            let _ =
                inputs.send(Message::Ask { turn: turn.clone(), question: Box::new(question), reply }).await;
        }
        if let Some(ChildAsked { child, reply }) = child {
            let _ = inputs.send(Message::Child { parent: turn.clone(), child: Box::new(child), reply }).await;
        }
        if over {
            break;
        }
    }
    // After `Done` this says nothing new; without it the session hears that the agent is gone.
    let _ = inputs.send(Message::AgentGone { turn }).await;
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
