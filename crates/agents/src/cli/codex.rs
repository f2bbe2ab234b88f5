//! Codex, over its app server: threads and turns in JSON-RPC, a message a line.

mod reader;

use std::sync::Arc;
use std::time::Duration;

use acp::{CallError, Id, Incoming, News, Odd, Peer, RpcError, Wire};
use futures::FutureExt;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, FuturesUnordered};
use protocol::{
    AgentCommand, AgentCommands, AgentId, Content, Image, Mode, NoticeLevel, OptionKind, PermissionOption,
    Source, Stop, StopCause, Update,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::fleet::{Post, Trouble};
use crate::gate::{Gate, Refusal, Wish};
use crate::handover::{self, HISTORY_BYTES};
use crate::idle::{Kept, Rests};
use crate::memory::Memory;
use crate::narrator::notice;
use crate::process::{Process, Tail};
use crate::roll::{OnRoll, Working};
use crate::telling::{End, Telling, fail, inlined, is_child};
use crate::title::title;
use crate::{Agent, Reporter, Turn, report};
use reader::{Asked, Heard, Reader};

const STARTING: Duration = Duration::from_secs(60);
/// How long a cancelled turn may take to end.
const CANCELLING: Duration = Duration::from_millis(1500);
/// What it is told in the modes in which nothing may change.
const LOOK_ONLY: &str = "You can read the project but change nothing in it: every write is refused. Look around, then answer or propose a plan.";

pub(crate) struct CodexAgent {
    inner: Arc<Inner>,
}

struct Inner {
    post: Post,
    kept: Kept<Live>,
}

/// A process between turns.
struct Live {
    peer: Peer,
    incoming: mpsc::Receiver<Incoming>,
    thread: String,
    reader: Reader,
    only_looks: bool,
    tail: Tail,
    working: Option<Working>,
    process: Process,
}

impl Rests for Live {
    fn on_roll(&self) -> &Arc<OnRoll> {
        self.process.on_roll()
    }

    fn working(&mut self) -> &mut Option<Working> {
        &mut self.working
    }
}

impl CodexAgent {
    pub(crate) fn new(post: Post) -> Self {
        let kept = Kept::new(post.fleet.options.idle);
        Self { inner: Arc::new(Inner { post, kept }) }
    }
}

impl Agent for CodexAgent {
    fn id(&self) -> AgentId {
        self.inner.post.id.clone()
    }

    fn prompt(&self, turn: Turn, cancel: CancellationToken) -> BoxStream<'static, Update> {
        let inner = self.inner.clone();
        report(move |reporter| async move { inner.run(turn, cancel, reporter).await })
    }
}

impl Inner {
    async fn run(&self, turn: Turn, cancel: CancellationToken, reporter: Reporter) {
        let child = is_child(&turn);
        let kept = if child { None } else { self.kept.take().await };
        let memory = if child { None } else { Memory::read(&turn.services.folder(), &self.post.id) };
        let ready = tokio::select! {
            ready = self.ready(kept, memory.as_ref(), &turn, &reporter) => ready,
            () = cancel.cancelled() => {
                return reporter.send(Update::Done { stop: Stop::Cancelled, cause: None }).await;
            }
        };
        let mut live = match ready {
            Ok(live) => live,
            Err(trouble) => return fail(&reporter, trouble).await,
        };
        let knows = memory.filter(|memory| memory.session == live.thread);
        let preamble = match child {
            true => None,
            false => {
                let events = turn.services.history(HISTORY_BYTES).await.ok();
                let since = knows.as_ref().map(|memory| &memory.turn);
                events.and_then(|events| handover::preamble(&events, &self.post.id, since))
            }
        };
        let mut telling = Telling::new(&turn, reporter.clone(), self.post.cwd.clone());
        let ended = self.follow(&mut live, &turn, preamble, &mut telling, &cancel).await;
        telling.finish().await;
        let end = match ended {
            Ok(end) => end,
            Err(trouble) => {
                self.post.fleet.crashed(&self.post.id);
                return fail(&reporter, trouble).await;
            }
        };
        if !child {
            let memory = Memory { session: live.thread.clone(), turn: turn.id.clone() };
            memory.write(&turn.services.folder(), &self.post.id);
            if end.clean {
                self.kept.bring_back(live).await;
            }
        }
        reporter.send(Update::Done { stop: end.stop, cause: end.cause }).await;
    }

    async fn ready(
        &self,
        kept: Option<Live>,
        memory: Option<&Memory>,
        turn: &Turn,
        reporter: &Reporter,
    ) -> Result<Live, Trouble> {
        let only_looks = self.post.known.only_looks(turn.mode);
        if let Some(live) = kept.filter(|live| live.only_looks == only_looks && !live.peer.is_closed()) {
            return Ok(live);
        }
        self.post.fleet.after_crashes(&self.post.id).await?;
        let id = &self.post.id;
        let starting = self.start(memory, turn, reporter);
        tokio::time::timeout(STARTING, starting).await.unwrap_or_else(|_| {
            Err(Trouble::unreachable(format!("`{id}` did not answer when it was started"), None))
        })
    }

    async fn start(
        &self,
        memory: Option<&Memory>,
        turn: &Turn,
        reporter: &Reporter,
    ) -> Result<Live, Trouble> {
        let (id, options) = (&self.post.id, &self.post.fleet.options);
        let started = Process::start(&self.post.start(turn.mode, &[]), options, id);
        let (process, stdin, stdout) = started
            .map_err(|error| Trouble::unreachable(format!("`{id}` could not be started: {error}"), None))?;
        let tail = process.tail();
        let (peer, incoming) = Peer::start(stdout, stdin, Wire { bare: true, ..Wire::default() });
        let mut live = Live {
            peer,
            incoming,
            thread: String::new(),
            reader: Reader::default(),
            only_looks: self.post.known.only_looks(turn.mode),
            tail,
            working: Some(process.on_roll().work()),
            process,
        };
        let client = json!({"name": "covey", "title": "Covey", "version": options.version});
        live.ask("initialize", json!({"clientInfo": client}))
            .await
            .map_err(|error| live.explain(id, &error))?;
        // A server that has gone says so with the next answer.
        let _ = live.peer.notify("initialized", json!({})).await;
        if let Some(memory) = memory {
            let params = self.thread(turn.mode, json!({"threadId": memory.session}));
            match live.ask("thread/resume", params).await {
                Ok(_) => {
                    live.thread.clone_from(&memory.session);
                    return Ok(live);
                }
                Err(CallError::Closed) => return Err(live.explain(id, &CallError::Closed)),
                Err(_) => {
                    let text = format!(
                        "`{id}` can not take up its session again; it begins a new one and is told what happened"
                    );
                    reporter.send(notice(NoticeLevel::Info, text)).await;
                }
            }
        }
        let answer = live.ask("thread/start", self.thread(turn.mode, json!({}))).await;
        let answer = answer.map_err(|error| live.explain(id, &error))?;
        live.thread = answer["thread"]["id"].as_str().unwrap_or_default().to_owned();
        let compact = AgentCommand {
            name: "compact".to_owned(),
            description: "Summarise the conversation to make room".to_owned(),
            hint: None,
        };
        reporter.send(Update::Commands(AgentCommands { commands: vec![compact] })).await;
        Ok(live)
    }

    /// It asks about everything that it does not know to be harmless, and puts up no walls of its own: ours stand.
    fn thread(&self, mode: Mode, mut params: Value) -> Value {
        params["cwd"] = json!(self.post.cwd);
        params["approvalPolicy"] = json!("untrusted");
        params["sandbox"] = json!(self.post.known.mode(mode).unwrap_or("danger-full-access"));
        if let Some(model) = &self.post.model {
            params["model"] = json!(model);
        }
        if mode <= Mode::Plan {
            params["developerInstructions"] = json!(LOOK_ONLY);
        }
        params
    }

    async fn follow(
        &self,
        live: &mut Live,
        turn: &Turn,
        preamble: Option<String>,
        telling: &mut Telling,
        cancel: &CancellationToken,
    ) -> Result<End, Trouble> {
        let id = &self.post.id;
        let gate = Gate::new(turn, telling.reporter.clone());
        while live.incoming.try_recv().is_ok() {
            // What came since the last turn belongs to none.
        }
        let (method, params) = match turn.prompt.as_slice() {
            [Content::Text { text }] if text.trim() == "/compact" => {
                ("thread/compact/start", json!({"threadId": live.thread}))
            }
            _ => ("turn/start", json!({"threadId": live.thread, "input": input(turn, preamble)})),
        };
        let peer = live.peer.clone();
        let starting = peer.call(method, params).fuse();
        tokio::pin!(starting);
        let mut answering: FuturesUnordered<BoxFuture<'static, ()>> = FuturesUnordered::new();
        let mut running: Option<String> = None;
        let mut stopping: Option<(Instant, Stop, Option<StopCause>)> = None;
        let mut interrupted = false;
        loop {
            let deadline = stopping.map(|(deadline, ..)| deadline);
            tokio::select! {
                answer = &mut starting => match answer {
                    Ok(answer) => {
                        running = running.or_else(|| answer["turn"]["id"].as_str().map(str::to_owned));
                    }
                    Err(error) => return Err(live.explain(id, &error)),
                },
                incoming = live.incoming.recv() => match incoming {
                    Some(Incoming::Notification { method, params }) => {
                        let params = params.value();
                        if params["threadId"].as_str().is_some_and(|thread| thread != live.thread) {
                            continue;
                        }
                        for heard in live.reader.read(&method, &params) {
                            if let Some((stop, cause)) = self.hear(heard, &mut running, telling).await {
                                let (stop, cause) = stopping.map_or((stop, cause), |(_, stop, cause)| (stop, cause));
                                return Ok(End { stop, cause, clean: true });
                            }
                        }
                    }
                    Some(Incoming::Request { id: request, method, params }) => {
                        let answer = answer(request, method, &params.value(), telling, &gate, live.peer.clone()).await;
                        answering.push(answer);
                    }
                    Some(Incoming::Odd(Odd::Noise(line))) => live.tail.push(&line),
                    Some(Incoming::Odd(Odd::TooLong { bytes })) => {
                        let text = format!("the agent sent a line of {bytes} bytes, which was passed over");
                        telling.send(vec![notice(NoticeLevel::Warning, text)]).await;
                    }
                    Some(Incoming::Odd(_)) => {}
                    None => return Err(live.explain(id, &CallError::Closed)),
                },
                Some(()) = answering.next() => {}
                () = cancel.cancelled(), if stopping.is_none() => {
                    stopping = Some((Instant::now() + CANCELLING, Stop::Cancelled, None));
                }
                () = at(deadline) => {
                    let (stop, cause) = stopping.map_or((Stop::Cancelled, None), |(_, stop, cause)| (stop, cause));
                    return Ok(End { stop, cause, clean: false });
                }
            }
            if stopping.is_none()
                && let Some(cause) = telling.over_limit()
            {
                stopping = Some((Instant::now() + CANCELLING, Stop::Limit, Some(cause)));
            }
            if stopping.is_some()
                && !interrupted
                && let Some(turn) = &running
            {
                // Its answer comes with the end of the turn; nobody waits for it.
                interrupted = true;
                let (peer, params) = (live.peer.clone(), json!({"threadId": live.thread, "turnId": turn}));
                answering.push(async move { drop(peer.call("turn/interrupt", params).await) }.boxed());
            }
        }
    }

    async fn hear(
        &self,
        heard: Heard,
        running: &mut Option<String>,
        telling: &mut Telling,
    ) -> Option<(Stop, Option<StopCause>)> {
        match heard {
            Heard::News(news) => telling.news(news, |_| false).await,
            Heard::Turn(turn) => *running = Some(turn),
            Heard::Usage { usage, used, window } => {
                if let Some(size) = window {
                    telling.news(News::Window { used, size, cost_usd: None }, |_| false).await;
                }
                telling.usage(self.post.model.as_deref(), usage).await;
            }
            Heard::Done { stop, cause, error } => {
                if let Some(error) = error {
                    let message = format!("`{}` reports: {error}", self.post.id);
                    let login =
                        ["401", "nauthorized", "log in", "login"].iter().any(|word| error.contains(word));
                    let hint = login.then(|| format!("covey agents login {}", self.post.id));
                    telling.finish().await;
                    telling.reporter.send(Update::Error(protocol::ErrorInfo { message, hint })).await;
                }
                return Some((stop, cause));
            }
        }
        None
    }
}

impl Live {
    /// Asks while nothing else is expected; what comes meanwhile is of no turn.
    async fn ask(&mut self, method: &str, params: Value) -> Result<Value, CallError> {
        let peer = self.peer.clone();
        let call = peer.call(method, params);
        tokio::pin!(call);
        loop {
            tokio::select! {
                answer = &mut call => return answer,
                Some(incoming) = self.incoming.recv() => match incoming {
                    Incoming::Request { id, method, .. } => {
                        let _ = self.peer.respond(&id, Err(RpcError::unknown_method(&method))).await;
                    }
                    Incoming::Odd(Odd::Noise(line)) => self.tail.push(&line),
                    _ => {}
                },
            }
        }
    }

    fn explain(&self, id: &AgentId, error: &CallError) -> Trouble {
        let said = self.tail.words().map(|words| format!("; it said: {words}")).unwrap_or_default();
        match error {
            CallError::Closed => Trouble {
                message: format!("`{id}` ended in the middle of its work{said}"),
                hint: Some("send the prompt again; the conversation so far is kept".to_owned()),
                unreachable: self.thread.is_empty(),
            },
            error => Trouble::new(format!("`{id}` reports: {error}")),
        }
    }
}

/// The work of answering a request of its own.
async fn answer(
    id: Id,
    method: String,
    params: &Value,
    telling: &mut Telling,
    gate: &Gate,
    peer: Peer,
) -> BoxFuture<'static, ()> {
    let gate = gate.clone();
    let respond = move |peer: Peer, id: Id, result: Result<Value, RpcError>| async move {
        // A server that is gone needs no answer.
        let _ = peer.respond(&id, result).await;
    };
    match reader::asked(&method, params) {
        Some(Asked::Tool(tool)) => {
            let (updates, call) = telling.narrator.insist(*tool);
            telling.send(updates).await;
            let Some(call) = call else {
                return respond(peer, id, Ok(reader::decision(&method, false, false))).boxed();
            };
            let actions = telling.described(&call).actions();
            let name = call.tool().to_owned();
            let title = title(&call.title, &name, &actions);
            async move {
                let wish = Wish { tool: &name, call: Some(&call.ours), title: &title, actions: &actions };
                let passed = gate.ask_first(wish, &call.input).await;
                let cancelled = matches!(passed, Err(Refusal::Cancelled));
                respond(peer, id, Ok(reader::decision(&method, passed.is_ok(), cancelled))).await;
            }
            .boxed()
        }
        Some(Asked::Questions(questions)) => async move {
            let mut answers = serde_json::Map::new();
            for question in questions {
                let choice = |name: &String| PermissionOption {
                    id: name.clone(),
                    name: name.clone(),
                    kind: OptionKind::AllowOnce,
                };
                let options = question.options.iter().map(choice).collect();
                if let Some(answer) = gate.question(question.words, options).await {
                    answers.insert(question.id, json!({"answers": [answer]}));
                }
            }
            respond(peer, id, Ok(json!({"answers": answers}))).await;
        }
        .boxed(),
        None => respond(peer, id, Err(RpcError::unknown_method(&method))).boxed(),
    }
}

/// A prompt as the server takes it.
fn input(turn: &Turn, preamble: Option<String>) -> Vec<Value> {
    let told = preamble.map(Content::text);
    let blocks = told.iter().chain(&turn.prompt).filter_map(|content| match inlined(content, turn) {
        Content::Text { text } => Some(json!({"type": "text", "text": text})),
        Content::Image(Image { media_type, source: Source::Data(data), .. }) => {
            Some(json!({"type": "image", "url": format!("data:{media_type};base64,{data}")}))
        }
        Content::Resource(resource) => {
            let text = match &resource.text {
                Some(text) => format!("<file path=\"{}\">\n{text}\n</file>", resource.uri),
                None => resource.uri.clone(),
            };
            Some(json!({"type": "text", "text": text}))
        }
        Content::Image(_) | Content::Other(_) => None,
    });
    blocks.collect()
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
