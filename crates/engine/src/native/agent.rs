//! The loop.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

use agents::{Agent, Gate, Heard, Reporter, Turn, report};
use futures::stream::BoxStream;
use guard::Redactor;
use models::{Block, CallError, Effort, Message, Model, Request, StopReason, ToolSet, ToolSpec, Waiting};
use protocol::{
    AgentId, BlobRef, CallId, Content, ErrorInfo, Limits, Mode, Notice, NoticeLevel, Stop, StopCause, Update,
    Usage, UsageReport, Verbatim,
};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tools::{ToolContext, ToolError, ToolState, Toolbox};

use super::answer::{MessageNames, listen};
use super::calls::{Pipeline, TOOL_SEARCH, tidy};
use super::compact;
use super::complexity;
use super::delegate::Delegation;
use super::desk::TurnDesk;
use super::extras::Extras;
use super::hooks::{MAX_GO_ON, go_on_prompt};
use super::ledger::ledger;
use super::limits::{ContextLimits, DEFAULT_CONTEXT, Room};
use super::own_command;
use super::roles::Role;
use super::shared::Shared;
use super::stall::StallWatch;
use super::system::{Parts, system_prompt};
use super::title::{Naming, is_named};
use super::transcript::{Transcript, without_empty};
use super::verbatim;
use crate::checkpoint::Checkpoints;

/// Calls to the model in one turn, if nobody says otherwise.
const DEFAULT_STEPS: u32 = 100;
/// Log bytes per token: text is about four, and events wrap it.
const BYTES_PER_TOKEN: u64 = 5;

/// A model with tools, for one session.
pub struct NativeAgent {
    inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) model: Arc<dyn Model>,
    tools: Toolbox,
    specs: Arc<ToolSet>,
    system: Arc<str>,
    cwd: PathBuf,
    folders: Vec<String>,
    reasoning: Option<Effort>,
    /// Answers prompts that are easy by their looks.
    simple: Option<Arc<dyn Model>>,
    /// The conversation as of the end of the last turn; none when it has to be read from the log.
    memory: Mutex<Option<Transcript>>,
    /// The log has something that `memory` does not.
    is_stale: AtomicBool,
    /// What the tools remember between calls and turns.
    state: Arc<ToolState>,
    /// What files were before calls changed them; opened by the first turn.
    checkpoints: OnceLock<Arc<Checkpoints>>,
    /// When the conversation is cut back.
    pub(super) limits: ContextLimits,
    /// Summarises instead of the session's own model.
    pub(super) summariser: Option<Arc<dyn Model>>,
    /// Answers in mode `plan`.
    planner: Option<Arc<dyn Model>>,
    /// Gives sessions a name.
    namer: Option<Arc<dyn Model>>,
    /// Finds a model by name, for roles that want their own.
    models: Option<FindModel>,
    /// What people added.
    pub(super) extras: Arc<Extras>,
    /// Masks secrets in what models are shown.
    redactor: Arc<Redactor>,
    /// What else the person should know, once.
    notes: Vec<String>,
    /// Whether the person was told what waits for their word.
    told_held: AtomicBool,
    /// A sub-agent knows nothing but its prompt.
    is_child: bool,
}

/// Finds a model by the name of a chain, or PROVIDER/MODEL.
pub(crate) type FindModel = Arc<dyn Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync>;

impl NativeAgent {
    pub const ID: &'static str = "native";

    /// `cwd` is the folder the session works in, `folders` are those besides it.
    pub fn new(
        model: Arc<dyn Model>,
        tools: Toolbox,
        cwd: PathBuf,
        folders: &[String],
        extras: Arc<Extras>,
    ) -> Self {
        let tools = if model.info().capabilities.tools { tools } else { Toolbox::empty() };
        let spec = |tool: &Arc<dyn tools::Tool>| ToolSpec {
            name: tool.name().to_owned(),
            description: tool.description().to_owned(),
            schema: tool.schema(),
        };
        let specs = ToolSet::new(tools.core().map(spec).collect());
        let system = system_prompt(&Parts {
            cwd: &cwd,
            folders,
            deferred: (!specs.is_empty()).then(|| tools.deferred().map(|tool| tool.name()).collect()),
            rules: &extras.rules,
            skills: &extras.skills,
            roles: extras.roles.iter().map(|role| (role.name.as_str(), role.description.as_str())).collect(),
            memory: extras.memory.as_deref(),
        });
        Self {
            inner: Arc::new(Inner {
                model,
                tools,
                specs,
                system: system.into(),
                cwd,
                folders: folders.to_vec(),
                reasoning: None,
                simple: None,
                memory: Mutex::new(None),
                is_stale: AtomicBool::new(false),
                state: Arc::default(),
                checkpoints: OnceLock::new(),
                limits: ContextLimits::default(),
                summariser: None,
                planner: None,
                namer: None,
                models: None,
                extras,
                redactor: Arc::default(),
                notes: Vec::new(),
                told_held: AtomicBool::new(false),
                is_child: false,
            }),
        }
    }

    /// A sub-agent of `parent`, with a role.
    pub(super) fn child(parent: &Inner, model: Arc<dyn Model>, role: &Role) -> Self {
        let keep = |tool: &dyn tools::Tool| {
            // Talking to the person and sending others is for whoever was asked.
            let named = role.tools.is_empty() || role.tools.iter().any(|name| name == tool.name());
            // These reach nothing but what it has, and without them it could not use the half of it.
            let named = named || matches!(tool.name(), tools::DISPATCHER | TOOL_SEARCH);
            named && !matches!(tool.name(), "ask_user" | "suggest_actions")
        };
        let child = Self::new(
            model,
            parent.tools.filtered(keep),
            parent.cwd.clone(),
            &parent.folders,
            parent.extras.clone(),
        );
        let mut inner = Arc::into_inner(child.inner);
        if let Some(inner) = &mut inner {
            inner.system = format!(
                "{}\nYou are a sub-agent. Your role: {}. {}\nYour last message is your report to the agent that sent you: \
                 complete, exact, and short.\n",
                inner.system, role.name, role.prompt
            )
            .into();
            inner.reasoning = parent.reasoning;
            inner.limits = parent.limits;
            inner.models = parent.models.clone();
            inner.summariser = parent.summariser.clone();
            inner.redactor = parent.redactor.clone();
            inner.state = parent.state.clone();
            inner.is_child = true;
            if let Some(checkpoints) = parent.checkpoints.get() {
                inner.checkpoints = OnceLock::from(checkpoints.clone());
            }
        }
        Self { inner: Arc::new(inner.unwrap_or_else(|| unreachable!("nobody else holds it yet"))) }
    }

    /// The model that summarises; the session's own without it.
    pub fn summarised_by(mut self, summariser: Option<Arc<dyn Model>>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.summariser = summariser;
        }
        self
    }

    /// The model that answers in mode `plan`, and the one that gives sessions a name; the session's own and nobody without
    /// them.
    pub fn planned_and_named_by(
        mut self,
        planner: Option<Arc<dyn Model>>,
        namer: Option<Arc<dyn Model>>,
    ) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            (inner.planner, inner.namer) = (planner, namer);
        }
        self
    }

    /// Lets the tools ask the project's index.
    pub fn searching(self, index: &index::Index) -> Self {
        tools::set_index(&self.inner.state, index);
        self
    }

    /// Whom the web tools ask.
    pub(crate) fn on_the_web(self, settings: tools::WebSettings) -> Self {
        tools::set_web(&self.inner.state, settings);
        self
    }

    /// Has in common with other sessions what is the same for them.
    pub(crate) fn sharing(mut self, shared: &Shared) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.specs = shared.tools(inner.specs.clone());
            inner.system = shared.text(inner.system.clone());
        }
        self
    }

    /// Masks what is known to be secret.
    pub fn masking(mut self, redactor: Arc<Redactor>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.redactor = redactor;
        }
        self
    }

    /// What the person is told with the first turn.
    pub(crate) fn noting(mut self, notes: Vec<String>) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.notes = notes;
        }
        self
    }

    /// Where roles find models of their own.
    pub(crate) fn finding(mut self, models: FindModel) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.models = Some(models);
        }
        self
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
    /// When the conversation is cut back.
    pub fn within(mut self, limits: ContextLimits) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.limits = limits;
        }
        self
    }

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
            let services = turn.services.clone();
            let work = inner.turn(turn, reporter.clone());
            let end = cancel.run_until_cancelled_owned(work).await.unwrap_or((Stop::Cancelled, None));
            // Lines that were only there to see what happens go with the turn, however it ends; a sub-agent shares them
            // with its parent.
            if !inner.is_child {
                tools::remove_instrumentation(&inner.state, services.host().as_ref()).await;
            }
            reporter.send(Update::Done { stop: end.0, cause: end.1 }).await;
        })
    }

    fn history_changed(&self) {
        self.inner.is_stale.store(true, Ordering::Relaxed);
    }
}

/// What the person says goes before the settings.
fn thinking(request: Request, turn: &Turn) -> Request {
    Request { reasoning: turn.effort.or(request.reasoning), ..request }
}

type End = (Stop, Option<StopCause>);

impl Inner {
    pub(super) fn roles(&self) -> &[Role] {
        &self.extras.roles
    }

    /// Says once what does not work, and what a project ships and nobody accepted.
    async fn tell_held(&self, reporter: &Reporter) {
        if self.is_child || self.told_held.swap(true, Ordering::Relaxed) {
            return;
        }
        for text in self.notes.clone() {
            reporter.send(Update::Notice(Notice { level: NoticeLevel::Warning, text })).await;
        }
        if self.extras.held.is_empty() {
            return;
        }
        let names: Vec<String> = self
            .extras
            .held
            .iter()
            .map(|path| path.strip_prefix(&self.cwd).unwrap_or(path).display().to_string())
            .collect();
        let text = format!("not used until you accept it with `covey guard trust`: {}", names.join(", "));
        reporter.send(Update::Notice(Notice { level: NoticeLevel::Warning, text })).await;
    }

    pub(super) fn model_for(&self, name: &str) -> Result<Arc<dyn Model>, ToolError> {
        let find = self.models.as_ref().ok_or_else(|| ToolError("no other model can be had".to_owned()))?;
        find(name).map_err(ToolError)
    }

    async fn turn(self: &Arc<Self>, turn: Turn, reporter: Reporter) -> End {
        // Taken out, not borrowed: a turn that is cancelled or fails half-way leaves nothing behind, and the next one
        // reads the log, which knows exactly what was said and done.
        let memory = self.memory.lock().await.take();
        let memory = memory.filter(|_| !self.is_stale.swap(false, Ordering::Relaxed));
        let (mut transcript, is_named) = match memory {
            Some(transcript) => (transcript, true),
            None => match self.remember(&turn).await {
                Ok(remembered) => remembered,
                Err(error) => return fail(&reporter, error.to_string(), None, None).await,
            },
        };
        let namer = self.namer.clone().filter(|_| !is_named && transcript.messages().is_empty());
        let naming = namer.and_then(|namer| Naming::start(namer, &turn.prompt));
        self.tell_held(&reporter).await;
        transcript.push_prompt(&turn.prompt, &blobs(&turn), turn.id.as_str());
        let simple =
            self.simple.as_ref().filter(|_| turn.mode != Mode::Plan && complexity::is_simple(&turn.prompt));
        if let Some(simple) = simple {
            let text = format!("a short prompt, so `{}` answers (router.simple_prompts)", simple.id());
            reporter.send(Update::Notice(Notice { level: NoticeLevel::Info, text })).await;
        }
        let planner = self.planner.as_ref().filter(|_| turn.mode == Mode::Plan);
        if let Some(planner) = planner {
            let text = format!("`{}` plans (the chain `plan`)", planner.id());
            reporter.send(Update::Notice(Notice { level: NoticeLevel::Info, text })).await;
        }
        let model = planner.or(simple).unwrap_or(&self.model);
        let end = match (compact::asked(&turn.prompt), own_command::typed(&turn.prompt)) {
            (Some(focus), _) => {
                self.compact_now(model.as_ref(), &turn, &mut transcript, &reporter, focus).await;
                (Stop::Done, None)
            }
            (None, Some(own)) => {
                let spent = Arc::default();
                let turn = Turn { mode: own.mode(turn.mode), ..turn.clone() };
                let call = own.into_call(&turn.id);
                let results = self.pipeline(&turn, &reporter, &spent).run(std::slice::from_ref(&call)).await;
                transcript.push_step(vec![own_command::block(&call)], results);
                (Stop::Done, None)
            }
            (None, None) => self.steps(model.as_ref(), &turn, &mut transcript, &reporter).await,
        };
        let room = Room::of(model.info(), &self.limits);
        let ledger = ledger(model.as_ref(), &self.request(model.as_ref(), &transcript), &room);
        reporter.send(Update::Context(ledger)).await;
        if let Some(naming) = naming
            && let Some((title, usage)) = naming.finish().await
        {
            reporter.send(Update::Usage(usage)).await;
            reporter.send(Update::Title(title)).await;
        }
        if end == (Stop::Done, None) {
            *self.memory.lock().await = Some(transcript);
        }
        end
    }

    /// What the calls of a turn go through.
    fn pipeline(
        self: &Arc<Self>,
        turn: &Turn,
        reporter: &Reporter,
        spent: &Arc<std::sync::Mutex<Usage>>,
    ) -> Pipeline {
        let heard = Heard::new(turn, reporter.clone());
        Pipeline {
            tools: self.tools.clone(),
            context: ToolContext {
                host: turn.services.host(),
                cwd: self.cwd.clone(),
                call: CallId::new(""),
                state: self.state.clone(),
                desk: Arc::new(TurnDesk::new(
                    turn.services.clone(),
                    reporter.clone(),
                    Delegation::new(self.clone(), turn.clone(), spent.clone(), heard.clone()),
                )),
            },
            gate: Gate::new(turn, reporter.clone()),
            mode: turn.mode,
            heard: heard.clone(),
            reporter: reporter.clone(),
            watch: StallWatch::default(),
            turn: turn.id.clone(),
            redactor: self.redactor.clone(),
            extras: self.extras.clone(),
            checkpoints: self.checkpoints(turn),
        }
    }

    async fn steps(
        self: &Arc<Self>,
        model: &dyn Model,
        turn: &Turn,
        transcript: &mut Transcript,
        reporter: &Reporter,
    ) -> End {
        let spent = Arc::new(std::sync::Mutex::new(Usage::default()));
        let pipeline = self.pipeline(turn, reporter, &spent);
        let heard = pipeline.heard.clone();
        let mut names = MessageNames::new(turn.id.clone());
        let mut calls_so_far = 0;
        let mut kept_going = 0;
        let max_steps = turn.limits.max_steps.unwrap_or(DEFAULT_STEPS);
        for _ in 0..max_steps {
            let request = self.make_room(model, turn, transcript, reporter, &spent, false).await;
            if let Some(message) = over_budget(model, &turn.limits, &so_far(&spent), &request) {
                let hint = "raise the limit, or send `go on`".to_owned();
                reporter.send(Update::Error(ErrorInfo { message, hint: Some(hint) })).await;
                return (Stop::Limit, Some(StopCause::Budget));
            }
            let mut request = thinking(request, turn);
            let mut answered = listen(model.stream(request.clone()), &mut names, reporter).await;
            if let Err(CallError::TooLong { .. }) = &answered {
                // The estimate was wrong, or nobody knew the window: cut back, and ask once more.
                request = self.make_room(model, turn, transcript, reporter, &spent, true).await;
                request = thinking(request, turn);
                answered = listen(model.stream(request.clone()), &mut names, reporter).await;
            }
            let (answer, answered_by) = match answered {
                Ok(answered) => answered,
                Err(error) => return call_failed(&error, reporter).await,
            };
            let answered_by = answered_by.unwrap_or_else(|| model.id().clone());
            let (told, stop) = (answer.usage, answer.stop.clone());
            let mut blocks = without_empty(answer.into_blocks());
            let (usage, estimated) = believable(model, told, &request, &blocks);
            let report = UsageReport { model: Some(answered_by.clone()), usage, estimated };
            reporter.send(Update::Usage(report)).await;
            *spent.lock().unwrap_or_else(PoisonError::into_inner) += usage;
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
                let said = Message::assistant(blocks.clone()).text();
                transcript.push_step(blocks, vec![]);
                if kept_going < MAX_GO_ON
                    && let Some(because) = heard.go_on(&said).await
                {
                    kept_going += 1;
                    transcript.push_prompt(&[Content::text(go_on_prompt(&because))], &|_| None, "");
                    continue;
                }
                return finished(model, stop, reporter).await;
            }
            let results = pipeline.run(&calls).await;
            transcript.push_step(blocks, results);
            if let Some(why) = pipeline.watch.stalled() {
                let hint = "say what to do differently".to_owned();
                let message = format!("stopped, because it went round in circles: {why}");
                reporter.send(Update::Error(ErrorInfo { message, hint: Some(hint) })).await;
                return (Stop::Limit, Some(StopCause::Stalled));
            }
        }
        let message = format!("stopped after {max_steps} steps");
        let hint = "raise --max-steps, or send `go on`".to_owned();
        reporter.send(Update::Error(ErrorInfo { message, hint: Some(hint) })).await;
        (Stop::Limit, Some(StopCause::MaxSteps))
    }

    pub(super) fn request(&self, model: &dyn Model, transcript: &Transcript) -> Request {
        Request {
            max_output: model.info().max_output,
            reasoning: self.reasoning,
            ..Request::new(self.system.clone(), transcript.messages().to_vec()).with_tools(self.specs.clone())
        }
    }

    fn checkpoints(&self, turn: &Turn) -> Arc<Checkpoints> {
        let open = || {
            let host = turn.services.host();
            let added = host.roots().iter().skip(1);
            Arc::new(Checkpoints::at(&turn.services.folder(), host.roots().main(), added))
        };
        self.checkpoints.get_or_init(open).clone()
    }

    /// The conversation so far, and whether the session has a name that somebody gave it.
    async fn remember(&self, turn: &Turn) -> Result<(Transcript, bool), agents::HistoryError> {
        if self.is_child {
            return Ok((Transcript::default(), true));
        }
        let context = self.model.info().context.unwrap_or(DEFAULT_CONTEXT);
        // Twice the window: what is too much is cut back with care, not dropped.
        let events = turn.services.history(u64::from(context) * BYTES_PER_TOKEN * 2).await?;
        Ok((Transcript::from_events(&events, &blobs(turn)), is_named(&events)))
    }
}

pub(super) fn so_far(spent: &std::sync::Mutex<Usage>) -> Usage {
    *spent.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a call cost: as the provider says, or a guess where it says nothing. A budget must hold either way.
pub(super) fn believable(
    model: &dyn Model,
    told: Usage,
    request: &Request,
    blocks: &[Block],
) -> (Usage, bool) {
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
pub(super) fn over_budget(
    model: &dyn Model,
    limits: &Limits,
    spent: &Usage,
    request: &Request,
) -> Option<String> {
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
