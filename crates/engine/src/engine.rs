//! The open sessions, and the way to them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use agents::{Agent, Unavailable};
use futures::stream::{BoxStream, StreamExt};
use guard::{Guard, GuardOptions, GuardSettings, Redactor};
use models::{Catalogue, Effort, Purpose, ResolveError};
use project::{Home, Launcher, LocalHost, Project, Roots};
use protocol::{
    AgentId, AgentSummary, ErrorInfo, Event, Mode, ModelRef, ModelSummary, Op, Receipt, Reply, Request,
    SessionId, SessionStart, Timestamp,
};
use sessions::{ListOptions, Opened, Store, UsageLog};
use tokio::sync::Mutex;
use tools::Toolbox;

use crate::native::FindModel;
use crate::session::{Handle, SessionOp, Setup, events, open};
use crate::{ContextLimits, EngineError, Extras, NativeAgent};

/// What an engine is made of.
pub struct EngineOptions {
    pub store: Store,
    pub catalogue: Arc<Catalogue>,
    /// For sessions that do not say.
    pub agent: AgentId,
    pub model: Option<ModelRef>,
    pub mode: Mode,
    /// How much models think; each as it likes without it.
    pub reasoning: Option<Effort>,
    /// The model or chain that answers short prompts; without it the session's own does.
    pub simple_prompts: Option<ModelRef>,
    /// Where calls to models are counted, if they are.
    pub usage_log: Option<UsageLog>,
    /// When conversations are cut back.
    pub context: ContextLimits,
    /// How projects are indexed; without it the tools that search by meaning say that they can not.
    pub index: Option<index::Options>,
    /// Masks secrets in what models are shown.
    pub redactor: Arc<Redactor>,
    /// What may happen without asking.
    pub permissions: GuardSettings,
    /// The person's folders, where decisions are remembered and recorded. Without it none are.
    pub home: Option<Home>,
    /// The person's home folder, where their keys are.
    pub user_home: PathBuf,
    /// Who starts programs: as they are, or locked in.
    pub launcher: Arc<dyn Launcher>,
    /// Written into each session it starts.
    pub version: String,
}

/// Many sessions in one process. Clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    options: EngineOptions,
    /// Where sessions that are not kept live; made when first needed.
    ephemeral: OnceLock<Store>,
    /// Held while a session is opened, so that two requests for one session open it once.
    open: Mutex<HashMap<SessionId, Arc<Handle>>>,
}

impl Engine {
    pub fn new(options: EngineOptions) -> Self {
        Self { inner: Arc::new(Inner { options, ephemeral: OnceLock::new(), open: Mutex::default() }) }
    }

    /// Makes a change. When this returns, the change is recorded.
    pub async fn submit(&self, op: Op) -> Result<Receipt, EngineError> {
        match op {
            Op::CreateSession { cwd, agent, model, mode, title, ephemeral } => {
                let options = &self.inner.options;
                let now = Timestamp::now();
                let start = SessionStart {
                    session: SessionId::new(now, random()),
                    cwd,
                    agent: agent.unwrap_or_else(|| options.agent.clone()),
                    model: model.or_else(|| options.model.clone()),
                    mode: mode.unwrap_or(options.mode),
                    title,
                    forked_from: None,
                    covey: options.version.clone(),
                };
                // Whether it can be answered at all is known before anything is written.
                let agent = self.agent(&start.agent, start.model.as_ref(), Path::new(&start.cwd))?;
                roots(Path::new(&start.cwd))?;
                let store = if ephemeral { self.ephemeral()? } else { options.store.clone() };
                let opened = blocking({
                    let store = store.clone();
                    move || store.create(start, now)
                })
                .await?;
                let session = self.start(store, opened, agent).await?;
                Ok(Receipt { session, turn: None })
            }
            Op::ForkSession { session, at } => {
                let store = self.store_of(&session).clone();
                let now = Timestamp::now();
                let fork = SessionId::new(now, random());
                let opened = blocking({
                    let (store, fork) = (store.clone(), fork.clone());
                    move || store.fork(&session, at, fork, now)
                })
                .await?;
                let agent = self.agent_of(&opened);
                let session = self.start(store, opened, agent).await?;
                Ok(Receipt { session, turn: None })
            }
            Op::StartTurn { session, prompt, key, limits, attended } => {
                self.ask(session, SessionOp::StartTurn { prompt, key, limits, attended }).await
            }
            Op::CancelTurn { session, turn } => self.ask(session, SessionOp::CancelTurn { turn }).await,
            Op::AnswerPermission { session, request, decision } => {
                self.ask(session, SessionOp::AnswerPermission { request, decision }).await
            }
            Op::SetMode { session, mode } => self.ask(session, SessionOp::SetMode { mode }).await,
            Op::SetModel { session, model } => self.set_model(session, model).await,
            Op::Rename { session, title } => self.ask(session, SessionOp::Rename { title }).await,
            Op::EndSession { session, reason } => self.ask(session, SessionOp::End { reason }).await,
        }
    }

    /// Answers without changing anything.
    pub async fn read(&self, request: Request) -> Result<Reply, EngineError> {
        match request {
            Request::Sessions { cwd, limit } => {
                let store = self.inner.options.store.clone();
                let options = ListOptions { cwd, limit: Some(limit as usize) };
                let listing = blocking(move || store.list(&options)).await?;
                Ok(Reply::Sessions(listing.sessions))
            }
            Request::Session { session } => {
                let open = self.inner.open.lock().await.get(&session).cloned();
                if let Some(view) = match open {
                    Some(handle) => handle.view().await,
                    None => None,
                } {
                    return Ok(Reply::Session(Box::new(view)));
                }
                let store = self.store_of(&session).clone();
                let view = blocking(move || store.open_view(&session)).await?;
                Ok(Reply::Session(Box::new(view)))
            }
            Request::Models => Ok(Reply::Models(self.models())),
            Request::Agents => {
                let agent = AgentId::new(NativeAgent::ID);
                Ok(Reply::Agents(vec![AgentSummary { agent, usable: true, reason: None }]))
            }
            Request::CompletePath { session, fragment, limit } => {
                let store = self.store_of(&session).clone();
                let paths = blocking(move || {
                    let view = store.open_view(&session)?;
                    Ok(project::complete_paths(Path::new(&view.cwd), &fragment, limit as usize))
                });
                Ok(Reply::Paths(paths.await?))
            }
        }
    }

    /// Every model that is known by name, and whether it could be called now.
    fn models(&self) -> Vec<ModelSummary> {
        let catalogue = &self.inner.options.catalogue;
        let known = catalogue
            .providers()
            .into_iter()
            .filter_map(|provider| catalogue.models(&provider).ok())
            .flatten();
        let summary = |model: ModelRef| match catalogue.resolve(model.as_str()) {
            Ok(found) => ModelSummary { model, context: found.info().context, usable: true, reason: None },
            Err(error) => {
                ModelSummary { model, context: None, usable: false, reason: Some(error.to_string()) }
            }
        };
        known.map(summary).collect()
    }

    /// The events of a session after number `after`: from its log, then as they happen.
    pub async fn events(
        &self,
        session: SessionId,
        after: u64,
    ) -> Result<BoxStream<'static, Result<Arc<Event>, EngineError>>, EngineError> {
        let handle = self.handle(&session).await?;
        let store = self.store_of(&session).clone();
        Ok(events(&handle, store, session, after).map(|item| item.map_err(EngineError::from)).boxed())
    }

    /// Stops what runs and lets go of every session. What was recorded can be taken up again.
    pub async fn shutdown(&self) {
        let handles: Vec<_> = self.inner.open.lock().await.drain().map(|(_, handle)| handle).collect();
        for handle in handles {
            // A session that closed by itself needs no more.
            let _ = handle.submit(SessionOp::Park).await;
            handle.closed().await;
        }
    }

    async fn ask(&self, session: SessionId, op: SessionOp) -> Result<Receipt, EngineError> {
        let handle = self.handle(&session).await?;
        match handle.submit(op).await {
            Ok(turn) => Ok(Receipt { session, turn }),
            Err(failure) => Err(EngineError::from_op(&session, failure)),
        }
    }

    async fn set_model(&self, session: SessionId, model: ModelRef) -> Result<Receipt, EngineError> {
        let handle = self.handle(&session).await?;
        let Some(view) = handle.view().await else { return Err(EngineError::Closed(session)) };
        let agent = self.agent(&view.agent, Some(&model), Path::new(&view.cwd))?;
        let receipt = self.ask(session, SessionOp::SetModel { model }).await?;
        handle.use_agent(agent).await;
        Ok(receipt)
    }

    /// The running session, opened from its log if it is not.
    async fn handle(&self, session: &SessionId) -> Result<Arc<Handle>, EngineError> {
        let mut open_sessions = self.inner.open.lock().await;
        if let Some(handle) = open_sessions.get(session).filter(|handle| handle.is_open()) {
            return Ok(handle.clone());
        }
        let store = self.store_of(session).clone();
        let opened = blocking({
            let (store, session) = (store.clone(), session.clone());
            move || store.open_writer(&session, Timestamp::now())
        })
        .await?;
        let agent = self.agent_of(&opened);
        let handle = Arc::new(self.run(store, opened, agent)?);
        open_sessions.insert(session.clone(), handle.clone());
        Ok(handle)
    }

    async fn start(
        &self,
        store: Store,
        opened: Opened,
        agent: Arc<dyn Agent>,
    ) -> Result<SessionId, EngineError> {
        let session = opened.view.session.clone();
        let handle = self.run(store, opened, agent)?;
        self.inner.open.lock().await.insert(session.clone(), Arc::new(handle));
        Ok(session)
    }

    fn run(&self, store: Store, opened: Opened, agent: Arc<dyn Agent>) -> Result<Handle, EngineError> {
        let options = &self.inner.options;
        let roots = roots(Path::new(&opened.view.cwd))?;
        let guard = Arc::new(Guard::new(GuardOptions {
            settings: options.permissions.clone(),
            roots: roots.clone(),
            home: options.home.clone(),
            user_home: options.user_home.clone(),
            session: Some(opened.view.session.as_str().to_owned()),
        }));
        let host = Arc::new(LocalHost::new(roots).launched_by(options.launcher.clone()));
        let usage_log = options.usage_log.clone();
        let setup = Setup { opened, store, agent, host, guard, usage_log };
        open(setup, Timestamp::now()).map_err(|error| EngineError::Store(error.into()))
    }

    /// The agent that a session had. Without it the session still opens, and prompts say what is missing.
    fn agent_of(&self, opened: &Opened) -> Arc<dyn Agent> {
        let view = &opened.view;
        let model = view.model.as_ref().or(self.inner.options.model.as_ref());
        self.agent(&view.agent, model, Path::new(&view.cwd)).unwrap_or_else(|error| {
            let error = ErrorInfo { message: error.to_string(), hint: error.hint() };
            Arc::new(Unavailable { id: view.agent.clone(), error })
        })
    }

    fn agent(
        &self,
        id: &AgentId,
        model: Option<&ModelRef>,
        cwd: &Path,
    ) -> Result<Arc<dyn Agent>, EngineError> {
        if id.as_str() != NativeAgent::ID {
            return Err(EngineError::NoAgent(id.clone()));
        }
        let Some(model) = model else {
            let message = "no model is chosen".to_owned();
            let hint = Some("name one: covey run --model PROVIDER/MODEL".to_owned());
            return Err(EngineError::NoModel { message, hint });
        };
        let name = model.as_str();
        let model = self.inner.options.catalogue.resolve(name).map_err(|error| {
            let (message, hint) = (error.to_string(), Some(error.hint()));
            match error {
                ResolveError::MissingKey { .. } => EngineError::NoModel { message, hint },
                // The name or the settings are wrong, and stay wrong with every key there is.
                _ => EngineError::Refused { message, hint },
            }
        })?;
        let root =
            Project::discover(cwd).map_or_else(|_| cwd.to_owned(), |project| project.root().to_owned());
        let extras = Extras::read(self.inner.options.home.as_ref(), &root, cwd);
        let permissions = &self.inner.options.permissions;
        let tools =
            Toolbox::builtin().filtered(|tool| permissions.offers(tool.name(), tool.group().as_str()));
        let mut agent = NativeAgent::new(model, tools, cwd.to_owned(), Arc::new(extras));
        if let Some(options) = &self.inner.options.index {
            agent = agent.searching(&index::Index::new(&root, options.clone()));
        }
        // The chain `summary`, where there is one that can be had.
        let summariser = self.inner.options.catalogue.resolve_for(Purpose::Summary, name).ok();
        let summariser = summariser.filter(|chosen| chosen.name != name).map(|chosen| chosen.model);
        // A model for easy things that can not be had is no reason not to answer.
        let simple = self.inner.options.simple_prompts.as_ref();
        let simple = simple.and_then(|name| self.inner.options.catalogue.resolve(name.as_str()).ok());
        Ok(Arc::new(
            agent
                .thinking(self.inner.options.reasoning)
                .with_simple(simple)
                .within(self.inner.options.context)
                .masking(self.inner.options.redactor.clone())
                .finding(self.find_model())
                .summarised_by(summariser),
        ))
    }

    fn find_model(&self) -> FindModel {
        let catalogue = self.inner.options.catalogue.clone();
        Arc::new(move |name: &str| catalogue.resolve(name).map_err(|error| error.to_string()))
    }

    fn store_of(&self, session: &SessionId) -> &Store {
        let kept_nowhere = self.inner.ephemeral.get().filter(|store| store.exists(session));
        kept_nowhere.unwrap_or(&self.inner.options.store)
    }

    fn ephemeral(&self) -> Result<Store, EngineError> {
        if let Some(store) = self.inner.ephemeral.get() {
            return Ok(store.clone());
        }
        let store = Store::ephemeral().map_err(|error| EngineError::Storage {
            message: format!("could not make a temporary folder: {error}"),
            hint: None,
        })?;
        Ok(self.inner.ephemeral.get_or_init(|| store).clone())
    }
}

/// The folders that belong to the project that `cwd` lies in.
fn roots(cwd: &Path) -> Result<Roots, EngineError> {
    let refused = |error: &dyn std::fmt::Display| EngineError::Refused {
        message: format!("can not work in `{}`: {error}", cwd.display()),
        hint: Some("name a folder that exists: --cwd DIR".to_owned()),
    };
    let project = Project::discover(cwd).map_err(|error| refused(&error))?;
    let roots: Vec<PathBuf> = vec![project.root().to_owned()];
    Roots::new(roots).map_err(|error| refused(&error))
}

async fn blocking<T, F>(work: F) -> Result<T, EngineError>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, sessions::StoreError> + Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => Ok(result?),
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        // The runtime is shutting down.
        Err(_) => Err(EngineError::Storage { message: "Covey is shutting down".to_owned(), hint: None }),
    }
}

/// Tells sessions that start in the same second apart.
pub fn random() -> u32 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish() as u32
}
