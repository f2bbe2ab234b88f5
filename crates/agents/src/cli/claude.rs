//! Claude Code, over its stream of JSON in both directions.
//!
//! One process serves one session. It is asked to put every tool that its own rules do not allow to us
//! (`--permission-prompt-tool stdio`), and answered in its control protocol.

mod reader;

use std::sync::Arc;
use std::time::Duration;

use acp::News;
use futures::FutureExt;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, FuturesUnordered};
use protocol::{
    AgentId, Content, Image, NoticeLevel, OptionKind, PermissionOption, Source, Stop, StopCause, Update,
    Usage,
};
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::lines::{LineProcess, Spoken};
use crate::fleet::{Post, Trouble};
use crate::gate::{Gate, Refusal, Wish};
use crate::handover::{self, HISTORY_BYTES};
use crate::idle::{Kept, Rests};
use crate::memory::Memory;
use crate::narrator::notice;
use crate::roll::{OnRoll, Working};
use crate::telling::{End, Telling, fail, inlined, is_child};
use crate::title::title;
use crate::{Agent, Reporter, Turn, report};
use reader::{Asked, Done, Heard, Reader};

const STARTING: Duration = Duration::from_secs(60);
/// How long a cancelled turn may take to end.
const CANCELLING: Duration = Duration::from_millis(1500);

pub(crate) struct ClaudeAgent {
    inner: Arc<Inner>,
}

struct Inner {
    post: Post,
    kept: Kept<Live>,
}

/// A process between turns.
struct Live {
    process: LineProcess,
    working: Option<Working>,
    reader: Reader,
    session: Option<String>,
    model: Option<String>,
    only_looks: bool,
    cost_usd: f64,
    requests: u32,
}

impl Rests for Live {
    fn on_roll(&self) -> &Arc<OnRoll> {
        self.process.on_roll()
    }

    fn working(&mut self) -> &mut Option<Working> {
        &mut self.working
    }
}

impl ClaudeAgent {
    pub(crate) fn new(post: Post) -> Self {
        let kept = Kept::new(post.fleet.options.idle);
        Self { inner: Arc::new(Inner { post, kept }) }
    }
}

impl Agent for ClaudeAgent {
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
        let mut telling = Telling::new(&turn, reporter.clone(), self.post.cwd.clone());
        let knows = memory.filter(|memory| live.session.as_ref() == Some(&memory.session));
        let preamble = match child {
            true => None,
            false => {
                let events = turn.services.history(HISTORY_BYTES).await.ok();
                let since = knows.as_ref().map(|memory| &memory.turn);
                events.and_then(|events| handover::preamble(&events, &self.post.id, since))
            }
        };
        let prompt = prompt(&turn, preamble);
        let end = match self.follow(&mut live, prompt, &turn, &mut telling, &cancel).await {
            Ok(end) => end,
            Err(trouble) => {
                self.post.fleet.crashed(&self.post.id);
                telling.finish().await;
                return fail(&reporter, trouble).await;
            }
        };
        telling.finish().await;
        if !child && let Some(session) = &live.session {
            let memory = Memory { session: session.clone(), turn: turn.id.clone() };
            memory.write(&turn.services.folder(), &self.post.id);
        }
        if end.clean && !child {
            self.kept.bring_back(live).await;
        }
        reporter.send(Update::Done { stop: end.stop, cause: end.cause }).await;
    }

    /// The process that is there, or a new one that takes up its session.
    async fn ready(
        &self,
        kept: Option<Live>,
        memory: Option<&Memory>,
        turn: &Turn,
        reporter: &Reporter,
    ) -> Result<Live, Trouble> {
        let only_looks = self.post.known.only_looks(turn.mode);
        if let Some(live) = kept.filter(|live| live.only_looks == only_looks && !live.process.has_ended()) {
            return Ok(live);
        }
        self.post.fleet.after_crashes(&self.post.id).await?;
        if let Some(memory) = memory {
            match self.start(turn, Some(&memory.session), reporter).await {
                Ok(live) => return Ok(live),
                Err(_) => {
                    let text = format!(
                        "`{}` can not take up its session again; it begins a new one and is told what happened",
                        self.post.id
                    );
                    reporter.send(notice(NoticeLevel::Info, text)).await;
                }
            }
        }
        self.start(turn, None, reporter).await
    }

    async fn start(&self, turn: &Turn, session: Option<&str>, reporter: &Reporter) -> Result<Live, Trouble> {
        let id = &self.post.id;
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let mut args = words(&[
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-partial-messages",
            "--permission-prompt-tool",
            "stdio",
        ]);
        if let Some(mode) = self.post.known.mode(turn.mode) {
            args.extend(words(&["--permission-mode", mode]));
        }
        if let Some(model) = &self.post.model {
            args.extend(words(&["--model", model]));
        }
        if let Some(session) = session {
            args.extend(words(&["--resume", session]));
        }
        let start = self.post.start(turn.mode, &args);
        let process = LineProcess::start(&start, &self.post.fleet.options, id)?;
        let mut live = Live {
            working: Some(process.on_roll().work()),
            process,
            reader: Reader::default(),
            session: session.map(str::to_owned),
            model: None,
            only_looks: self.post.known.only_looks(turn.mode),
            cost_usd: 0.0,
            requests: 0,
        };
        let asked = live.control(json!({"subtype": "initialize", "hooks": null})).await;
        let answer = tokio::time::timeout(STARTING, live.answer(&asked)).await;
        match answer {
            Ok(Some(Ok(answer))) => {
                reporter.send(Update::Commands(reader::commands(&answer))).await;
                Ok(live)
            }
            Ok(Some(Err(error))) => Err(Trouble::unreachable(format!("`{id}` reports: {error}"), None)),
            Ok(None) => {
                let said = live.process.last_words().await;
                let hint = Some(format!("see what it says: covey agents test {id}"));
                Err(Trouble::unreachable(format!("`{id}` ended as soon as it was started{said}"), hint))
            }
            Err(_) => {
                let said = live.process.last_words().await;
                Err(Trouble::unreachable(format!("`{id}` did not answer when it was started{said}"), None))
            }
        }
    }

    async fn follow(
        &self,
        live: &mut Live,
        prompt: Vec<Value>,
        turn: &Turn,
        telling: &mut Telling,
        cancel: &CancellationToken,
    ) -> Result<End, Trouble> {
        let gate = Gate::new(turn, telling.reporter.clone());
        let message = json!({
            "type": "user",
            "message": {"role": "user", "content": prompt},
            "parent_tool_use_id": null,
            "session_id": "",
        });
        live.process.say(&message).await;
        let mut answers: FuturesUnordered<BoxFuture<'static, Value>> = FuturesUnordered::new();
        let mut stopping: Option<(Instant, Stop, Option<StopCause>)> = None;
        loop {
            let deadline = stopping.map(|(deadline, ..)| deadline);
            tokio::select! {
                spoken = live.process.next() => match spoken {
                    Some(Spoken::Json(line)) => {
                        for heard in live.reader.read(&line) {
                            if let Some(end) = self.hear(heard, live, telling, &gate, &mut answers).await? {
                                let (stop, cause) =
                                    stopping.map_or((end.stop, end.cause), |(_, stop, cause)| (stop, cause));
                                return Ok(End { stop, cause, clean: true });
                            }
                        }
                    }
                    Some(Spoken::TooLong { bytes }) => {
                        let text = format!("the agent sent a line of {bytes} bytes, which was passed over");
                        telling.send(vec![notice(NoticeLevel::Warning, text)]).await;
                    }
                    None => {
                        let said = live.process.last_words().await;
                        return Err(Trouble {
                            message: format!("`{}` ended in the middle of its work{said}", self.post.id),
                            hint: Some("send the prompt again; the conversation so far is kept".to_owned()),
                            unreachable: false,
                        });
                    }
                },
                Some(answer) = answers.next() => {
                    live.process.say(&answer).await;
                }
                () = cancel.cancelled(), if stopping.is_none() => {
                    stopping = Some((Instant::now() + CANCELLING, Stop::Cancelled, None));
                    live.control(json!({"subtype": "interrupt"})).await;
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
                live.control(json!({"subtype": "interrupt"})).await;
            }
        }
    }

    /// Takes one thing that it said; some when that was its last.
    async fn hear(
        &self,
        heard: Heard,
        live: &mut Live,
        telling: &mut Telling,
        gate: &Gate,
        answers: &mut FuturesUnordered<BoxFuture<'static, Value>>,
    ) -> Result<Option<End>, Trouble> {
        match heard {
            Heard::News(news) => telling.news(news, |_| false).await,
            Heard::Session { id, model } => {
                live.session = Some(id);
                live.model = model;
            }
            Heard::Ask(asked) => {
                let answer = permission(*asked, telling, gate, self.post.id.as_str()).await;
                answers.push(answer);
            }
            Heard::Unknown { id } => {
                let error = json!({"subtype": "error", "request_id": id, "error": "not known here"});
                live.process.say(&json!({"type": "control_response", "response": error})).await;
            }
            // It waits no longer; the answer that comes is of no account to it.
            Heard::Withdrawn(_) | Heard::Answered { .. } => {}
            Heard::Done(done) => return self.done(*done, live, telling).await.map(Some),
        }
        Ok(None)
    }

    async fn done(&self, done: Done, live: &mut Live, telling: &mut Telling) -> Result<End, Trouble> {
        if let Some(text) = done.text.filter(|_| done.error.is_none()) {
            telling.news(News::Said { content: Content::text(text), message: None }, |_| false).await;
        }
        let cost_usd = done.total_cost_usd.map(|total| {
            let grown = (total - live.cost_usd).max(0.0);
            live.cost_usd = total;
            grown
        });
        if done.usage.total() > 0 {
            if let Some(size) = done.window {
                let used = done.usage.total();
                telling.news(News::Window { used, size, cost_usd: None }, |_| false).await;
            }
            telling.usage(live.model.as_deref(), Usage { cost_usd, ..done.usage }).await;
        }
        if let Some(error) = done.error {
            let message = format!("`{}` reports: {error}", self.post.id);
            let login =
                ["log in", "/login", "API key", "authenticat"].iter().any(|word| error.contains(word));
            let hint = login.then(|| format!("covey agents login {}", self.post.id));
            telling.finish().await;
            telling.reporter.send(Update::Error(protocol::ErrorInfo { message, hint })).await;
        }
        Ok(End { stop: done.stop, cause: done.cause, clean: true })
    }
}

impl Live {
    /// Asks something of the program itself; answers the name of the question.
    async fn control(&mut self, request: Value) -> String {
        self.requests += 1;
        let id = format!("covey_{}", self.requests);
        self.process.say(&json!({"type": "control_request", "request_id": id, "request": request})).await;
        id
    }

    /// Waits for the answer to a question. What it says meanwhile is of no turn.
    async fn answer(&mut self, asked: &str) -> Option<Result<Value, String>> {
        while let Some(spoken) = self.process.next().await {
            let Spoken::Json(line) = spoken else { continue };
            for heard in self.reader.read(&line) {
                match heard {
                    Heard::Answered { id, answer } if id == asked => return Some(answer),
                    // It ends before it was asked anything.
                    Heard::Done(done) => return Some(Err(done.error.unwrap_or_default())),
                    _ => {}
                }
            }
        }
        None
    }
}

/// The work of answering a request: the guard, the person, and the words for Claude.
async fn permission(
    asked: Asked,
    telling: &mut Telling,
    gate: &Gate,
    agent: &str,
) -> BoxFuture<'static, Value> {
    let Asked { id, tool, input } = asked;
    let name = tool.name.clone().unwrap_or_else(|| agent.to_owned());
    let (updates, call) = telling.narrator.insist(tool);
    telling.send(updates).await;
    let gate = gate.clone();
    if name == "AskUserQuestion" {
        return async move { respond(&id, question(&gate, input).await) }.boxed();
    }
    if name == "ExitPlanMode" {
        if let Some(plan) = input["plan"].as_str() {
            telling
                .news(News::Said { content: Content::text(plan), message: Some(id.clone()) }, |_| false)
                .await;
        }
        let message = "The plan was shown. Stop here: the person reads it and says how to go on.";
        return async move { respond(&id, json!({"behavior": "deny", "message": message, "interrupt": false})) }.boxed();
    }
    let Some(call) = call else {
        return async move { respond(&id, json!({"behavior": "deny", "message": "not understood"})) }.boxed();
    };
    let actions = telling.described(&call).actions();
    let title = title(&call.title, &name, &actions);
    async move {
        let wish = Wish { tool: &name, call: Some(&call.ours), title: &title, actions: &actions };
        let answer = match gate.ask_first(wish, &input).await {
            Ok(_) => json!({"behavior": "allow", "updatedInput": input}),
            Err(Refusal::Denied(reason) | Refusal::Forbidden(reason)) => {
                json!({"behavior": "deny", "message": format!("denied: {reason}")})
            }
            Err(Refusal::Cancelled) => json!({"behavior": "deny", "message": "cancelled", "interrupt": true}),
        };
        respond(&id, answer)
    }
    .boxed()
}

/// Something it wants to know. Each question is put to the person; the answers go back as its tool wants them.
async fn question(gate: &Gate, mut input: Value) -> Value {
    let questions = input["questions"].as_array().cloned().unwrap_or_default();
    let mut answers = serde_json::Map::new();
    for asked in questions {
        let words = asked["question"].as_str().unwrap_or_default().to_owned();
        let choices = asked["options"].as_array().into_iter().flatten().filter_map(|option| {
            let label = option["label"].as_str()?.to_owned();
            Some(PermissionOption { id: label.clone(), name: label, kind: OptionKind::AllowOnce })
        });
        match gate.question(words.clone(), choices.collect()).await {
            Some(answer) => drop(answers.insert(words, Value::String(answer))),
            None => {
                return json!({"behavior": "deny", "message": "nobody is there to answer; decide yourself and say so"});
            }
        }
    }
    input["answers"] = Value::Object(answers);
    json!({"behavior": "allow", "updatedInput": input})
}

fn respond(id: &str, response: Value) -> Value {
    json!({"type": "control_response", "response": {"subtype": "success", "request_id": id, "response": response}})
}

/// A prompt as its API has it.
fn prompt(turn: &Turn, preamble: Option<String>) -> Vec<Value> {
    let told = preamble.map(Content::text);
    let blocks = told.iter().chain(&turn.prompt).filter_map(|content| match inlined(content, turn) {
        Content::Text { text } => Some(json!({"type": "text", "text": text})),
        Content::Image(Image { media_type, source: Source::Data(data), .. }) => Some(json!({
            "type": "image", "source": {"type": "base64", "media_type": media_type, "data": data},
        })),
        Content::Resource(resource) => {
            let text = match &resource.text {
                Some(text) => format!("<file path=\"{}\">\n{text}\n</file>", resource.uri),
                None => format!("@{}", resource.uri),
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
