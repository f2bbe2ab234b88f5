//! The loop.

use std::path::PathBuf;
use std::sync::Arc;

use agents::{Agent, Reporter, Turn, report};
use futures::stream::BoxStream;
use models::{Block, CallError, Effort, Message, Model, Request, StopReason, ToolSet, ToolSpec, Waiting};
use protocol::{
    AgentId, BlobRef, CallId, ErrorInfo, Limits, Notice, NoticeLevel, Stop, StopCause, Update, Usage,
    UsageReport, Verbatim,
};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tools::{ToolContext, ToolState, Toolbox};

use super::answer::{MessageNames, listen};
use super::calls::{Pipeline, tidy};
use super::complexity;
use super::desk::TurnDesk;
use super::permit::Gate;
use super::system::system_prompt;
use super::transcript::{Transcript, without_empty};
use super::verbatim;

/// Calls to the model in one turn, if nobody says otherwise.
const DEFAULT_STEPS: u32 = 100;
/// How much of the past is read for a model of unknown size, and the least for any.
const DEFAULT_CONTEXT: u32 = 32_768;
/// Log bytes per token: text is about four, and events wrap it.
const BYTES_PER_TOKEN: u64 = 5;

/// A model with tools, for one session.
pub struct NativeAgent {
    inner: Arc<Inner>,
}

struct Inner {
    model: Arc<dyn Model>,
    tools: Toolbox,
    specs: Arc<ToolSet>,
    system: Arc<str>,
    cwd: PathBuf,
    reasoning: Option<Effort>,
    /// Answers prompts that are easy by their looks.
    simple: Option<Arc<dyn Model>>,
    /// The conversation as of the end of the last turn; none when it has to be read from the log.
    memory: Mutex<Option<Transcript>>,
    /// What the tools remember between calls and turns.
    state: Arc<ToolState>,
}

impl NativeAgent {
    pub const ID: &'static str = "native";

    /// `cwd` is the folder the session works in.
    pub fn new(model: Arc<dyn Model>, tools: Toolbox, cwd: PathBuf) -> Self {
        let tools = if model.info().capabilities.tools { tools } else { Toolbox::empty() };
        let spec = |tool: &Arc<dyn tools::Tool>| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
        };
        let specs = ToolSet::new(tools.core().map(spec).collect());
        let system = system_prompt(&cwd, !specs.is_empty()).into();
        let memory = Mutex::new(None);
        Self {
            inner: Arc::new(Inner {
                model,
                tools,
                specs,
                system,
                cwd,
                reasoning: None,
                simple: None,
                memory,
                state: Arc::default(),
            }),
        }
    }

    /// How much the model thinks before it answers.
    pub fn thinking(mut self, reasoning: Option<Effort>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.reasoning = reasoning;
        }
        self
    }
}

impl NativeAgent {
    /// A quick and cheap model for prompts that are easy by their looks.
    pub fn with_simple(mut self, simple: Option<Arc<dyn Model>>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.simple = simple;
        }
        self
    }
}

impl Agent for NativeAgent {
    fn id(&self) -> AgentId {
        AgentId::new(Self::ID)
    }

    fn prompt(&self, turn: Turn, cancel: CancellationToken) -> BoxStream<'static, Update> {
        let inner = self.inner.clone();
        report(move |reporter| async move {
            let end = match cancel.run_until_cancelled_owned(inner.turn(turn, reporter.clone())).await {
                Some(end) => end,
                None => (Stop::Cancelled, None),
            };
            reporter.send(Update::Done { stop: end.0, cause: end.1 }).await;
        })
    }
}

type End = (Stop, Option<StopCause>);

impl Inner {
    async fn turn(&self, turn: Turn, reporter: Reporter) -> End {
        // Taken out, not borrowed: a turn that is cancelled or fails half-way leaves nothing behind, and the next one
        // reads the log, which knows exactly what was said and done.
        let memory = self.memory.lock().await.take();
        let mut transcript = match memory {
            Some(transcript) => transcript,
            None => match self.remember(&turn).await {
                Ok(transcript) => transcript,
                Err(error) => return fail(&reporter, error.to_string(), None, None).await,
            },
        };
        transcript.push_prompt(&turn.prompt, &blobs(&turn));
        let simple = self.simple.as_ref().filter(|_| complexity::is_simple(&turn.prompt));
        if let Some(simple) = simple {
            let text = format!("a short prompt, so `{}` answers (router.simple_prompts)", simple.id());
            reporter.send(Update::Notice(Notice { level: NoticeLevel::Info, text })).await;
        }
        let model = simple.unwrap_or(&self.model);
        let end = self.steps(model.as_ref(), &turn, &mut transcript, &reporter).await;
        if end == (Stop::Done, None) {
            *self.memory.lock().await = Some(transcript);
        }
        end
    }

    async fn steps(
        &self,
        model: &dyn Model,
        turn: &Turn,
        transcript: &mut Transcript,
        reporter: &Reporter,
    ) -> End {
        let pipeline = Pipeline {
            tools: self.tools.clone(),
            context: ToolContext {
                host: turn.services.host(),
                cwd: self.cwd.clone(),
                call: CallId::new(""),
                state: self.state.clone(),
                desk: Arc::new(TurnDesk::new(turn.services.clone(), reporter.clone())),
            },
            gate: Gate {
                guard: turn.services.guard(),
                services: turn.services.clone(),
                mode: turn.mode,
                attended: turn.attended,
            },
            reporter: reporter.clone(),
        };
        let mut names = MessageNames::new(turn.id.clone());
        let mut calls_so_far = 0;
        let max_steps = turn.limits.max_steps.unwrap_or(DEFAULT_STEPS);
        let mut spent = Usage::default();
        for _ in 0..max_steps {
            let request = Request {
                max_output: model.info().max_output,
                reasoning: self.reasoning,
                ..Request::new(self.system.clone(), transcript.messages().to_vec())
                    .with_tools(self.specs.clone())
            };
            if let Some(message) = over_budget(model, &turn.limits, &spent, &request) {
                let hint = "raise the limit, or send `go on`".to_owned();
                reporter.send(Update::Error(ErrorInfo { message, hint: Some(hint) })).await;
                return (Stop::Limit, Some(StopCause::Budget));
            }
            let (answer, answered_by) =
                match listen(model.stream(request.clone()), &mut names, reporter).await {
                    Ok(answered) => answered,
                    Err(error) => return call_failed(&error, reporter).await,
                };
            let answered_by = answered_by.unwrap_or_else(|| model.id().clone());
            let (told, stop) = (answer.usage, answer.stop.clone());
            let mut blocks = without_empty(answer.into_blocks());
            let (usage, estimated) = believable(model, told, &request, &blocks);
            let report = UsageReport { model: Some(answered_by.clone()), usage, estimated };
            reporter.send(Update::Usage(report)).await;
            spent += usage;
            let mut calls = Vec::new();
            for block in &mut blocks {
                if let Block::ToolCall(call) = block {
                    // Our own id: unique in the session, the same in the log and in every later request.
                    calls_so_far += 1;
                    call.id = format!("{}_c{calls_so_far}", turn.id);
                    tidy(call);
                    calls.push(call.clone());
                }
            }
            let items = verbatim::extract(&blocks);
            if !items.is_empty() {
                reporter.send(Update::Verbatim(Verbatim { model: answered_by, items })).await;
            }
            if calls.is_empty() {
                transcript.push_step(blocks, vec![]);
                return finished(model, stop, reporter).await;
            }
            let results = pipeline.run(&calls).await;
            transcript.push_step(blocks, results);
        }
        let message = format!("stopped after {max_steps} steps");
        let hint = "raise --max-steps, or send `go on`".to_owned();
        reporter.send(Update::Error(ErrorInfo { message, hint: Some(hint) })).await;
        (Stop::Limit, Some(StopCause::MaxSteps))
    }

    async fn remember(&self, turn: &Turn) -> Result<Transcript, agents::HistoryError> {
        let context = self.model.info().context.unwrap_or(DEFAULT_CONTEXT);
        // Three quarters of the window; the rest is for the prompt and the answer.
        let events = turn.services.history(u64::from(context) * BYTES_PER_TOKEN * 3 / 4).await?;
        Ok(Transcript::from_events(&events, &blobs(turn)))
    }
}

/// What a call cost: as the provider says, or a guess where it says nothing. A budget must hold either way.
fn believable(model: &dyn Model, told: Usage, request: &Request, blocks: &[Block]) -> (Usage, bool) {
    if told.input > 0 || told.output > 0 {
        return (told, false);
    }
    let answer = Request::new("", vec![Message::assistant(blocks.to_vec())]);
    let mut usage =
        Usage { input: model.estimate(request), output: model.estimate(&answer), ..Usage::default() };
    usage.cost_usd = model.info().prices.map(|prices| prices.cost(&usage));
    (usage, true)
}

async fn fail(reporter: &Reporter, message: String, hint: Option<String>, cause: Option<StopCause>) -> End {
    reporter.send(Update::Error(ErrorInfo { message, hint })).await;
    (Stop::Error, cause)
}

fn blobs(turn: &Turn) -> impl Fn(&BlobRef) -> Option<Vec<u8>> + Send + Sync + use<> {
    let services = turn.services.clone();
    move |blob| services.blob(blob)
}

/// Whether the failure means that no model could be had, rather than that one did badly.
fn never_answered(error: &CallError) -> bool {
    match error {
        CallError::RateLimited { .. }
        | CallError::Overloaded { .. }
        | CallError::OutOfCredit { .. }
        | CallError::BadCredential { .. }
        | CallError::Unreachable { .. }
        | CallError::NotThisApi { .. }
        | CallError::CallerMistake { status: 404, .. } => true,
        CallError::TimedOut { waiting, .. } => *waiting != Waiting::NextChunk,
        CallError::TooLong { .. }
        | CallError::Refused { .. }
        | CallError::BrokenStream { .. }
        | CallError::CallerMistake { .. }
        | CallError::TooLarge { .. } => false,
    }
}

/// Whether the prompt of the next call still fits into what the turn may use up. Only the answer, whose length nobody
/// knows before, can go over.
fn over_budget(model: &dyn Model, limits: &Limits, spent: &Usage, request: &Request) -> Option<String> {
    if limits.max_tokens.is_none() && limits.max_cost_usd.is_none() {
        return None;
    }
    let next = Usage { input: model.estimate(request), ..Usage::default() };
    let tokens = spent.total();
    if let Some(limit) = limits.max_tokens.filter(|limit| tokens + next.input > *limit) {
        return Some(format!(
            "stopped: {tokens} of {limit} tokens are spent, and the next call takes about {}",
            next.input
        ));
    }
    let limit = limits.max_cost_usd?;
    let cost = spent.cost_usd.unwrap_or_default();
    let next = model.info().prices.map_or(0.0, |prices| prices.cost(&next));
    (cost + next > limit).then(|| {
        format!("stopped: ${cost:.4} of ${limit:.4} is spent, and the next call takes at least ${next:.4}")
    })
}

async fn finished(model: &dyn Model, stop: Option<StopReason>, reporter: &Reporter) -> End {
    match stop {
        Some(StopReason::MaxTokens) => {
            let text = "the answer reached the model's output limit".to_owned();
            reporter.send(Update::Notice(Notice { level: NoticeLevel::Warning, text })).await;
            (Stop::Limit, Some(StopCause::OutputLimit))
        }
        Some(StopReason::Refused) => {
            let message = format!("`{}` declined to answer", model.id());
            fail(reporter, message, None, Some(StopCause::Refused)).await
        }
        _ => (Stop::Done, None),
    }
}

async fn call_failed(error: &CallError, reporter: &Reporter) -> End {
    let cause = never_answered(error).then_some(StopCause::Unreachable);
    fail(reporter, error.to_string(), Some(error.hint().to_owned()), cause).await
}
