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
use futures::stream::FuturesUnordered;
use protocol::{Content, Effort, Image, OptionKind, PermissionOption, Source, Stop, Update, Usage};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::conversing::Converses;
use super::lines::{LineProcess, Spoken};
use crate::fleet::{Post, Trouble};
use crate::gate::{Gate, Refusal, Wish};
use crate::idle::Rests;
use crate::memory::Memory;
use crate::past;
use crate::roll::{OnRoll, Working};
use crate::stopping::Stopping;
use crate::telling::{End, Telling, inlined};
use crate::title::title;
use crate::{Reporter, Turn};
use reader::{Asked, Done, Heard, Reader};

const STARTING: Duration = Duration::from_secs(60);

/// A process, and what is known of its session.
pub(crate) struct Live {
    process: LineProcess,
    working: Option<Working>,
    reader: Reader,
    session: Option<String>,
    model: Option<String>,
    only_looks: bool,
    effort: Option<Effort>,
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

impl Converses for Live {
    async fn start(
        post: &Post,
        turn: &Turn,
        memory: Option<&Memory>,
        reporter: &Reporter,
    ) -> Result<(Self, bool), Trouble> {
        if memory.is_some() {
            match Self::begin(post, turn, memory, reporter).await {
                Ok(live) => return Ok((live, true)),
                Err(_) => reporter.send(past::begins_anew(&post.id)).await,
            }
        }
        Ok((Self::begin(post, turn, None, reporter).await?, false))
    }

    fn serves(&self, post: &Post, turn: &Turn) -> bool {
        let same = self.only_looks == post.known.only_looks(turn.mode) && self.effort == turn.effort;
        same && !self.process.has_ended()
    }

    fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    async fn follow(
        &mut self,
        post: &Post,
        turn: &Turn,
        preamble: Option<String>,
        telling: &mut Telling,
        cancel: &CancellationToken,
    ) -> Result<End, Trouble> {
        let gate = Gate::new(turn, telling.reporter.clone());
        let message = json!({
            "type": "user",
            "message": {"role": "user", "content": prompt(turn, preamble)},
            "parent_tool_use_id": null,
            "session_id": "",
        });
        self.process.say(&message).await;
        let mut answers: FuturesUnordered<BoxFuture<'static, Value>> = FuturesUnordered::new();
        let mut stopping = Stopping::default();
        loop {
            tokio::select! {
                spoken = self.process.next() => match spoken {
                    Some(Spoken::Json(line)) => {
                        for heard in self.reader.read(&line) {
                            if let Some(end) = self.hear(post, heard, telling, &gate, &mut answers).await? {
                                return Ok(stopping.ended(end.stop, end.cause));
                            }
                        }
                    }
                    Some(Spoken::TooLong { bytes }) => telling.passed_over(bytes).await,
                    None => return Err(Trouble::died(&post.id, &self.process.last_words().await)),
                },
                Some(answer) = answers.next() => {
                    self.process.say(&answer).await;
                }
                () = cancel.cancelled(), if !stopping.has_begun() => {
                    stopping.begin(Stop::Cancelled, None);
                    self.control(json!({"subtype": "interrupt"})).await;
                }
                () = stopping.over() => return Ok(stopping.forced()),
            }
            if !stopping.has_begun()
                && let Some(cause) = telling.over_limit()
            {
                stopping.begin(Stop::Limit, Some(cause));
                self.control(json!({"subtype": "interrupt"})).await;
            }
        }
    }
}

impl Live {
    /// Starts a process with a new session, or the one that it had.
    async fn begin(
        post: &Post,
        turn: &Turn,
        memory: Option<&Memory>,
        reporter: &Reporter,
    ) -> Result<Self, Trouble> {
        let id = &post.id;
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
        if let Some(mode) = post.known.mode(turn.mode) {
            args.extend(words(&["--permission-mode", mode]));
        }
        if let Some(model) = &post.model {
            args.extend(words(&["--model", model]));
        }
        if let Some(memory) = memory {
            args.extend(words(&["--resume", &memory.session]));
            args.extend(memory.forks.then(|| "--fork-session".to_owned()));
        }
        let mut start = post.start(turn.mode, &args);
        start.env.extend(turn.effort.into_iter().flat_map(|effort| thinking(post, effort)));
        let process = LineProcess::start(&start, &post.fleet.options, id)?;
        let mut live = Self {
            working: Some(process.on_roll().work()),
            process,
            reader: Reader::default(),
            // A copy says itself what it is called.
            session: memory.filter(|memory| !memory.forks).map(|memory| memory.session.clone()),
            model: None,
            only_looks: post.known.only_looks(turn.mode),
            effort: turn.effort,
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

    /// Takes one thing that it said; some when that was its last.
    async fn hear(
        &mut self,
        post: &Post,
        heard: Heard,
        telling: &mut Telling,
        gate: &Gate,
        answers: &mut FuturesUnordered<BoxFuture<'static, Value>>,
    ) -> Result<Option<End>, Trouble> {
        match heard {
            Heard::News(news) => telling.news(news, |_| false).await,
            Heard::Session { id, model } => {
                self.session = Some(id);
                self.model = model;
            }
            Heard::Ask(asked) => {
                let answer = permission(*asked, telling, gate, post.id.as_str()).await;
                answers.push(answer);
            }
            Heard::Unknown { id } => {
                let error = json!({"subtype": "error", "request_id": id, "error": "not known here"});
                self.process.say(&json!({"type": "control_response", "response": error})).await;
            }
            // It waits no longer; the answer that comes is of no account to it.
            Heard::Withdrawn(_) | Heard::Answered { .. } => {}
            Heard::Done(done) => return self.done(post, *done, telling).await.map(Some),
        }
        Ok(None)
    }

    async fn done(&mut self, post: &Post, done: Done, telling: &mut Telling) -> Result<End, Trouble> {
        if let Some(text) = done.text.filter(|_| done.error.is_none()) {
            telling.news(News::Said { content: Content::text(text), message: None }, |_| false).await;
        }
        let cost_usd = done.total_cost_usd.map(|total| {
            let grown = (total - self.cost_usd).max(0.0);
            self.cost_usd = total;
            grown
        });
        if done.usage.total() > 0 {
            if let Some(size) = done.window {
                let used = done.usage.total();
                telling.news(News::Window { used, size, cost_usd: None }, |_| false).await;
            }
            telling.usage(self.model.as_deref(), Usage { cost_usd, ..done.usage }).await;
        }
        if let Some(error) = done.error {
            telling.failed(&post.id, &error, &["log in", "/login", "API key", "authenticat"]).await;
        }
        Ok(End { stop: done.stop, cause: done.cause, clean: true })
    }

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

/// Variables, because versions that do not know them pass over them. Newer models take a level, older ones tokens.
fn thinking(post: &Post, effort: Effort) -> Vec<(String, String)> {
    let tokens = match effort {
        Effort::None => "0",
        Effort::Low => "4000",
        Effort::Medium => "10000",
        Effort::High | Effort::Max => "31999",
    };
    let level = post.known.thinking(effort).map(|level| ("CLAUDE_CODE_EFFORT_LEVEL", level));
    let all = level.into_iter().chain([("MAX_THINKING_TOKENS", tokens)]);
    all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
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
