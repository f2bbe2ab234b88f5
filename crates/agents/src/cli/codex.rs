//! Codex, over its app server: threads and turns in JSON-RPC, a message a line.

pub(super) mod exec;
mod reader;

use std::sync::Arc;
use std::time::Duration;

use acp::{CallError, Id, Incoming, News, Odd, Peer, RpcError, Wire};
use futures::FutureExt;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use protocol::{
    AgentCommand, AgentCommands, AgentId, Content, Effort, Image, Mode, OptionKind, PermissionOption, Source,
    Stop, StopCause, Update,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::conversing::Converses;
use crate::fleet::{Post, Trouble};
use crate::gate::{Gate, Refusal, Wish};
use crate::idle::Rests;
use crate::memory::Memory;
use crate::past;
use crate::process::{Process, Tail};
use crate::roll::{OnRoll, Working};
use crate::stopping::Stopping;
use crate::telling::{End, Telling, inlined};
use crate::title::title;
use crate::{Reporter, Turn};
use reader::{Asked, Heard, Reader};

const STARTING: Duration = Duration::from_secs(60);
/// What it is told in the modes in which nothing may change.
const LOOK_ONLY: &str = "You can read the project but change nothing in it: every write is refused. Look around, then answer or propose a plan.";

/// A process, and the thread in it.
pub(crate) struct Live {
    peer: Peer,
    incoming: mpsc::Receiver<Incoming>,
    thread: String,
    /// How much it thinks by itself.
    usual_effort: Option<String>,
    chosen_effort: Option<Effort>,
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

impl Converses for Live {
    async fn start(
        post: &Post,
        turn: &Turn,
        memory: Option<&Memory>,
        reporter: &Reporter,
    ) -> Result<(Self, bool), Trouble> {
        let starting = Self::begin(post, turn, memory, reporter);
        tokio::time::timeout(STARTING, starting).await.unwrap_or_else(|_| {
            Err(Trouble::unreachable(format!("`{}` did not answer when it was started", post.id), None))
        })
    }

    fn serves(&self, post: &Post, turn: &Turn) -> bool {
        self.only_looks == post.known.only_looks(turn.mode) && !self.peer.is_closed()
    }

    fn session(&self) -> Option<&str> {
        Some(&self.thread)
    }

    async fn follow(
        &mut self,
        post: &Post,
        turn: &Turn,
        preamble: Option<String>,
        telling: &mut Telling,
        cancel: &CancellationToken,
    ) -> Result<End, Trouble> {
        let id = &post.id;
        let gate = Gate::new(turn, telling.reporter.clone());
        while self.incoming.try_recv().is_ok() {
            // What came since the last turn belongs to none.
        }
        let (method, params) = match turn.prompt.as_slice() {
            [Content::Text { text }] if text.trim() == "/compact" => {
                ("thread/compact/start", json!({"threadId": self.thread}))
            }
            _ => {
                let mut params = json!({"threadId": self.thread, "input": input(turn, preamble)});
                if let Some(effort) = self.effort(post, turn) {
                    params["effort"] = json!(effort);
                }
                ("turn/start", params)
            }
        };
        let peer = self.peer.clone();
        let starting = peer.call(method, params).fuse();
        tokio::pin!(starting);
        let mut answering: FuturesUnordered<BoxFuture<'static, ()>> = FuturesUnordered::new();
        let mut running: Option<String> = None;
        let mut stopping = Stopping::default();
        let mut interrupted = false;
        loop {
            tokio::select! {
                answer = &mut starting => match answer {
                    Ok(answer) => {
                        running = running.or_else(|| answer["turn"]["id"].as_str().map(str::to_owned));
                    }
                    Err(error) => return Err(self.explain(id, &error)),
                },
                incoming = self.incoming.recv() => match incoming {
                    Some(Incoming::Notification { method, params }) => {
                        let params = params.value();
                        if params["threadId"].as_str().is_some_and(|thread| thread != self.thread) {
                            continue;
                        }
                        for heard in self.reader.read(&method, &params) {
                            if let Some((stop, cause)) = hear(post, heard, &mut running, telling).await {
                                return Ok(stopping.ended(stop, cause));
                            }
                        }
                    }
                    Some(Incoming::Request { id: request, method, params }) => {
                        let answer = answer(request, method, &params.value(), telling, &gate, self.peer.clone()).await;
                        answering.push(answer);
                    }
                    Some(Incoming::Odd(Odd::Noise(line))) => self.tail.push(&line),
                    Some(Incoming::Odd(Odd::TooLong { bytes })) => telling.passed_over(bytes).await,
                    Some(Incoming::Odd(_)) => {}
                    None => return Err(self.explain(id, &CallError::Closed)),
                },
                Some(()) = answering.next() => {}
                () = cancel.cancelled(), if !stopping.has_begun() => stopping.begin(Stop::Cancelled, None),
                () = stopping.over() => return Ok(stopping.forced()),
            }
            if !stopping.has_begun()
                && let Some(cause) = telling.over_limit()
            {
                stopping.begin(Stop::Limit, Some(cause));
            }
            if stopping.has_begun()
                && !interrupted
                && let Some(turn) = &running
            {
                // Its answer comes with the end of the turn; nobody waits for it.
                interrupted = true;
                let (peer, params) = (self.peer.clone(), json!({"threadId": self.thread, "turnId": turn}));
                answering.push(async move { drop(peer.call("turn/interrupt", params).await) }.boxed());
            }
        }
    }
}

impl Live {
    /// Starts a process with a new thread, or the one that it had.
    async fn begin(
        post: &Post,
        turn: &Turn,
        memory: Option<&Memory>,
        reporter: &Reporter,
    ) -> Result<(Self, bool), Trouble> {
        let (id, options) = (&post.id, &post.fleet.options);
        let started = Process::start(&post.start(turn.mode, &[]), options, id);
        let (process, stdin, stdout) = started
            .map_err(|error| Trouble::unreachable(format!("`{id}` could not be started: {error}"), None))?;
        let tail = process.tail();
        let (peer, incoming) = Peer::start(stdout, stdin, Wire { bare: true, ..Wire::default() });
        let mut live = Self {
            peer,
            incoming,
            thread: String::new(),
            usual_effort: None,
            chosen_effort: None,
            reader: Reader::default(),
            only_looks: post.known.only_looks(turn.mode),
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
            let params = thread(post, turn.mode, json!({"threadId": memory.session}));
            let method = if memory.forks { "thread/fork" } else { "thread/resume" };
            match live.ask(method, params).await {
                Ok(answer) => {
                    let copy = answer["thread"]["id"].as_str().filter(|_| memory.forks);
                    live.thread = copy.unwrap_or(&memory.session).to_owned();
                    live.usual_effort = answer["reasoningEffort"].as_str().map(str::to_owned);
                    return Ok((live, true));
                }
                Err(CallError::Closed) => return Err(live.explain(id, &CallError::Closed)),
                Err(_) => reporter.send(past::begins_anew(id)).await,
            }
        }
        let answer = live.ask("thread/start", thread(post, turn.mode, json!({}))).await;
        let answer = answer.map_err(|error| live.explain(id, &error))?;
        live.thread = answer["thread"]["id"].as_str().unwrap_or_default().to_owned();
        live.usual_effort = answer["reasoningEffort"].as_str().map(str::to_owned);
        let compact = AgentCommand {
            name: "compact".to_owned(),
            description: "Summarise the conversation to make room".to_owned(),
            hint: None,
        };
        reporter.send(Update::Commands(AgentCommands { commands: vec![compact] })).await;
        Ok((live, false))
    }

    /// How much it is to think from now on, if that is something else than before.
    fn effort(&mut self, post: &Post, turn: &Turn) -> Option<String> {
        if self.chosen_effort == turn.effort {
            return None;
        }
        self.chosen_effort = turn.effort;
        match turn.effort {
            Some(effort) => post.known.thinking(effort).map(str::to_owned),
            // It stays as it was set until it is set again.
            None => self.usual_effort.clone(),
        }
    }

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
            CallError::Closed => Trouble { unreachable: self.thread.is_empty(), ..Trouble::died(id, &said) },
            error => Trouble::new(format!("`{id}` reports: {error}")),
        }
    }
}

/// It asks about everything that it does not know to be harmless, and puts up no walls of its own: ours stand.
fn thread(post: &Post, mode: Mode, mut params: Value) -> Value {
    params["cwd"] = json!(post.cwd);
    params["approvalPolicy"] = json!("untrusted");
    params["sandbox"] = json!(post.known.mode(mode).unwrap_or("danger-full-access"));
    if let Some(model) = &post.model {
        params["model"] = json!(model);
    }
    if mode <= Mode::Plan {
        params["developerInstructions"] = json!(LOOK_ONLY);
    }
    params
}

/// Tells one thing that it said; some when that was its last.
async fn hear(
    post: &Post,
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
            telling.usage(post.model.as_deref(), usage).await;
        }
        Heard::Done { stop, cause, error } => {
            if let Some(error) = error {
                telling.failed(&post.id, &error, &["401", "nauthorized", "log in", "login"]).await;
            }
            return Some((stop, cause));
        }
    }
    None
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
