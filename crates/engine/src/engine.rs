//! The open sessions, and the way to them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use agents::Fleet;
use futures::stream::{self, BoxStream, StreamExt};
use guard::{GuardSettings, Redactor};
use models::{Catalogue, Effort};
use project::{Home, Host, Launcher};
use protocol::{
    AgentId, Content, Event, ListChange, Mode, ModelRef, Op, Receipt, Reply, Request, SessionId,
    SessionStart, SessionStatus, Timestamp, ToolSummary,
};
use sessions::{ListOptions, Store, UsageLog};
use tokio::sync::Mutex;
use tools::Toolbox;

use crate::checkpoint::{Checkpoints, Target as UndoTarget};
use crate::native::{Shared, role_names, with_shelf};
use crate::prompt::{self, Commands};
use crate::servers::{LoginsOf, Servers, ServersOf};
use crate::session::{Handle, News, OpFailure, SessionOp, StreamFailure, events};
use crate::{ContextLimits, EngineError, NativeAgent};

mod agent;
mod hosts;
mod list;
mod opening;
mod reads;
mod servers;

/// What an engine is made of.
pub struct EngineOptions {
    pub store: Store,
    pub catalogue: Arc<Catalogue>,
    /// Agents of other makers; without it there is only the built-in one.
    pub fleet: Option<Arc<Fleet>>,
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
    /// Tokens of the project that are put beside a prompt of the built-in agent, where there is an index.
    pub auto_context: usize,
    /// The person's MCP servers.
    pub mcp: ServersOf,
    /// What logins at those servers gave; none can be logged in at without it.
    pub logins: Option<LoginsOf>,
    /// Whom the web tools ask.
    pub web: tools::WebSettings,
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
    /// Where the tools of a session act, if not on this machine alone.
    pub host: Option<HostOf>,
    /// Where other processes can attach to its sessions; named in their locks.
    pub socket: Option<PathBuf>,
    /// Written into each session it starts.
    pub version: String,
}

/// Makes the host of a session from the local one: an editor that has files open adds what it knows of them.
pub type HostOf = Arc<dyn Fn(&SessionId, Arc<dyn Host>) -> Arc<dyn Host> + Send + Sync>;

/// What sessions have that do not say: chosen by the settings, and again while the engine runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Preferred {
    pub agent: AgentId,
    pub model: Option<ModelRef>,
    pub mode: Mode,
}

/// Many sessions in one process. Clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    options: EngineOptions,
    preferred: RwLock<Preferred>,
    servers: Servers,
    /// What its sessions have in common.
    shared: Shared,
    /// Where sessions that are not kept live; made when first needed.
    ephemeral: OnceLock<Store>,
    news: News,
    /// Held while a session is opened, so that two requests for one session open it once.
    open: Mutex<HashMap<SessionId, Arc<Handle>>>,
}

impl Engine {
    pub fn new(options: EngineOptions) -> Self {
        Self {
            inner: Arc::new(Inner {
                servers: Servers::default(),
                shared: Shared::default(),
                preferred: RwLock::new(Preferred {
                    agent: options.agent.clone(),
                    model: options.model.clone(),
                    mode: options.mode,
                }),
                options,
                ephemeral: OnceLock::new(),
                news: News::new(),
                open: Mutex::default(),
            }),
        }
    }

    /// What sessions have that do not say.
    pub fn preferred(&self) -> Preferred {
        self.inner.preferred.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Chooses what sessions have from now on that do not say.
    pub fn prefer(&self, preferred: Preferred) {
        *self.inner.preferred.write().unwrap_or_else(PoisonError::into_inner) = preferred;
    }

    /// Makes a change. When this returns, the change is recorded.
    pub async fn submit(&self, op: Op) -> Result<Receipt, EngineError> {
        match op {
            Op::CreateSession { cwd, agent, model, mode, title, folders, ephemeral } => {
                let options = &self.inner.options;
                let now = Timestamp::now();
                let agent = agent.unwrap_or_else(|| self.preferred().agent);
                let start = SessionStart {
                    session: SessionId::new(now, random()),
                    cwd,
                    model: model.or_else(|| self.model_of(&agent)),
                    agent,
                    mode: mode.unwrap_or_else(|| self.preferred().mode),
                    title,
                    forked_from: None,
                    covey: options.version.clone(),
                };
                let servers = self.servers(Path::new(&start.cwd));
                servers.introduce(options.home.as_ref()).await;
                // Whether it can be answered at all is known before anything is written.
                let cwd = Path::new(&start.cwd);
                let folders = self.real_folders(&folders, cwd, &[])?;
                let agent = self.agent(&start.agent, start.model.as_ref(), cwd, &folders)?;
                opening::roots(cwd, &folders)?;
                let store = if ephemeral { self.ephemeral()? } else { options.store.clone() };
                let opened = blocking({
                    let store = store.clone();
                    move || opening::create(&store, start, folders, now)
                })
                .await?;
                let session = self.start(store, opened, agent, servers).await?;
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
                let servers = self.servers(Path::new(&opened.view.cwd));
                let agent = self.agent_of(&opened);
                let session = self.start(store, opened, agent, servers).await?;
                Ok(Receipt { session, turn: None })
            }
            Op::StartTurn { session, prompt, key, limits, attended } => {
                let prompt = self.prepare(&session, prompt).await?;
                self.ask(session, SessionOp::StartTurn { prompt, key, limits, attended }).await
            }
            Op::CancelTurn { session, turn } => self.ask(session, SessionOp::CancelTurn { turn }).await,
            Op::AnswerPermission { session, request, decision } => {
                self.ask(session, SessionOp::AnswerPermission { request, decision }).await
            }
            Op::SetMode { session, mode } => {
                let receipt = self.ask(session, SessionOp::SetMode { mode }).await?;
                self.config_changed(&receipt.session, "mode", mode.as_str()).await;
                Ok(receipt)
            }
            Op::SetModel { session, model } => {
                let receipt = self.set_model(session, model.clone()).await?;
                self.config_changed(&receipt.session, "model", model.as_str()).await;
                Ok(receipt)
            }
            Op::SetEffort { session, effort } => {
                let receipt = self.ask(session, SessionOp::SetEffort { effort }).await?;
                let name = effort.map_or("default", Effort::as_str);
                self.config_changed(&receipt.session, "effort", name).await;
                Ok(receipt)
            }
            Op::SetFolders { session, folders } => self.set_folders(session, folders).await,
            Op::SetAgent { session, agent, model } => {
                let receipt = self.set_agent(session, agent.clone(), model).await?;
                self.config_changed(&receipt.session, "agent", agent.as_str()).await;
                Ok(receipt)
            }
            Op::Rename { session, title } => self.ask(session, SessionOp::Rename { title }).await,
            Op::MarkSession { session, pinned, archived } => {
                self.ask(session, SessionOp::Mark { pinned, archived }).await
            }
            Op::DeleteSession { session } => self.delete(session).await,
            Op::Undo { session, what, path, force } => {
                let plan = move |checkpoints: &Checkpoints| {
                    checkpoints.plan_undo(&UndoTarget::parse(what.as_deref()), path.as_deref().map(Path::new))
                };
                self.change_files(session, force, plan).await
            }
            Op::Redo { session, force } => self.change_files(session, force, Checkpoints::plan_redo).await,
            Op::Uncompact { session } => self.uncompact(session).await,
            Op::Pin { session, item } => self.pin(session, item).await,
            Op::Unpin { session, item } => self.unpin(session, item).await,
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
                let id = session.clone();
                let (view, held) = blocking(move || {
                    let held = store.holder_of(&id).is_some();
                    Ok((store.open_view(&id)?, held))
                })
                .await?;
                let busy = matches!(view.status, SessionStatus::Running | SessionStatus::Waiting);
                // It was running when its process died: opened, it comes to its end.
                let ended = match busy && !held {
                    true => self.handle(&session).await?.view().await,
                    false => None,
                };
                Ok(Reply::Session(Box::new(ended.unwrap_or(view))))
            }
            Request::Tools => Ok(Reply::Tools(self.tools())),
            Request::SearchSessions { query, limit } => {
                let Some(home) = self.inner.options.home.clone() else { return Ok(Reply::Hits(vec![])) };
                let store = self.inner.options.store.clone();
                let hits = blocking(move || {
                    Ok(reads::search(&store, &home.data_dir().join("search.sqlite"), &query, limit))
                });
                Ok(Reply::Hits(hits.await??))
            }
            Request::EventsAfter { session, after, limit } => {
                let store = self.store_of(&session).clone();
                let limit = (limit as usize).min(reads::MAX_PAGE);
                let records = blocking(move || store.reader(&session)?.events_from(after, limit)).await?;
                Ok(Reply::Events(records.into_iter().filter_map(sessions::Record::event).collect()))
            }
            Request::EventsBefore { session, before, limit } => {
                let store = self.store_of(&session).clone();
                let limit = (limit as usize).min(reads::MAX_PAGE);
                let records = blocking(move || store.reader(&session)?.before(before, limit)).await?;
                Ok(Reply::Events(records.into_iter().filter_map(sessions::Record::event).collect()))
            }
            Request::Export { session, format } => {
                let store = self.store_of(&session).clone();
                let text = blocking(move || Ok(reads::export(&mut store.reader(&session)?, format)));
                Ok(Reply::Export(text.await??))
            }
            Request::Blob { session, blob } => {
                let store = self.store_of(&session).clone();
                let bytes = blocking(move || Ok(reads::blob(&store.reader(&session)?.blobs(), &blob)));
                Ok(Reply::Blob(bytes.await??))
            }
            Request::Usage { days } => {
                let log = self.inner.options.usage_log.clone();
                let rows = blocking(move || Ok(reads::usage(log.as_ref(), days, Timestamp::now())));
                Ok(Reply::Usage(rows.await??))
            }
            Request::Changes { session, what, path, redo } => {
                Ok(Reply::Changes(self.changes(session, what, path, redo).await?))
            }
            Request::Commands { session } => {
                let handle = self.handle(&session).await?;
                let Some(view) = handle.view().await else { return Err(EngineError::Closed(session)) };
                let added = self.commands(handle.host.roots().main(), &handle.cwd);
                let mut commands = added.summaries(&view.commands);
                commands.extend(self.known_servers(handle.host.roots().main()).commands());
                Ok(Reply::Commands(commands))
            }
            Request::Models => Ok(Reply::Models(self.models())),
            Request::Agents => Ok(Reply::Agents(self.agents())),
            Request::CompletePath { session, fragment, limit } => {
                let store = self.store_of(&session).clone();
                let paths = blocking(move || {
                    let view = store.open_view(&session)?;
                    Ok(project::complete_paths(Path::new(&view.cwd), &fragment, limit as usize))
                });
                Ok(Reply::Paths(paths.await?))
            }
            Request::CompleteFolder { session, fragment, limit } => {
                let store = self.store_of(&session).clone();
                let home = self.inner.options.user_home.clone();
                let paths = blocking(move || {
                    let view = store.open_view(&session)?;
                    Ok(project::complete_folders(Path::new(&view.cwd), &home, &fragment, limit as usize))
                });
                Ok(Reply::Paths(paths.await?))
            }
            Request::Mentions { session, fragment, limit } => {
                let place = self.place(&*self.handle(&session).await?);
                Ok(Reply::Mentions(prompt::offer(&fragment, limit as usize, &place).await))
            }
        }
    }

    /// The events of a session after number `after`: from its log, then as they happen.
    pub async fn events(
        &self,
        session: SessionId,
        after: u64,
    ) -> Result<BoxStream<'static, Result<Arc<Event>, EngineError>>, EngineError> {
        loop {
            let handle = self.handle(&session).await?;
            let store = self.store_of(&session).clone();
            let stream = events(&handle, store, session.clone(), after);
            // It may have been let go between finding it and listening to it.
            if handle.is_open() {
                return Ok(self.clone().follow(session, after, stream));
            }
        }
    }

    /// Goes on with a session that was opened anew, as when its folders change.
    fn follow(
        self,
        session: SessionId,
        seen: u64,
        stream: BoxStream<'static, Result<Arc<Event>, StreamFailure>>,
    ) -> BoxStream<'static, Result<Arc<Event>, EngineError>> {
        stream::unfold((stream, seen), move |(mut stream, seen)| {
            let (engine, session) = (self.clone(), session.clone());
            async move {
                loop {
                    match stream.next().await {
                        Some(Ok(event)) => {
                            let seen = event.seq;
                            return Some((Ok(event), (stream, seen)));
                        }
                        Some(Err(failure)) => return Some((Err(failure.into()), (stream, seen))),
                        None => {
                            let open = engine.inner.open.lock().await;
                            let handle = open.get(&session).filter(|handle| handle.is_open())?;
                            let store = engine.store_of(&session).clone();
                            stream = events(handle, store, session.clone(), seen);
                        }
                    }
                }
            }
        })
        .boxed()
    }

    /// The list of sessions, and then what changes in it. Sessions of other processes are looked at now and then.
    pub fn sessions(&self) -> BoxStream<'static, Result<ListChange, EngineError>> {
        list::follow(self.inner.options.store.clone(), &self.inner.news)
    }

    /// Lets go of sessions in which nothing happened for this long and which nobody watches. They are opened again
    /// when somebody asks for them.
    pub async fn park_idle(&self, idle: std::time::Duration) {
        let mut open = self.inner.open.lock().await;
        open.retain(|_, handle| handle.is_open());
        open.values().for_each(|handle| handle.park_if_idle(idle));
    }

    /// Where the process that has this session can be reached, if it says so.
    pub fn reached_at(&self, session: &SessionId) -> Option<PathBuf> {
        let holder = self.store_of(session).holder_of(session)?;
        holder.socket.map(PathBuf::from)
    }

    /// Waits until no turn runs, but no longer than this.
    pub async fn settle(&self, limit: std::time::Duration) {
        let settled = async {
            loop {
                let handles: Vec<_> = self.inner.open.lock().await.values().cloned().collect();
                let mut idle = true;
                for handle in handles {
                    idle &= handle.is_idle().await;
                }
                if idle {
                    return;
                }
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        };
        // Who is not done by then is parked.
        let _ = tokio::time::timeout(limit, settled).await;
    }

    /// What still computes under agents of other makers, though no turn runs. Leaving would end it.
    pub async fn builds(&self) -> Vec<agents::Building> {
        match &self.inner.options.fleet {
            Some(fleet) => fleet.builds().await,
            None => vec![],
        }
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

    /// Spells out what the person typed.
    async fn prepare(&self, session: &SessionId, prompt: Vec<Content>) -> Result<Vec<Content>, EngineError> {
        let handle = self.handle(session).await?;
        self.take_in_servers(&handle).await;
        let prompt = self.heard(session, &handle, prompt).await?;
        let place = self.place(&handle);
        let budget = self.inner.options.auto_context;
        let looks_up = budget > 0 && place.index.as_ref().is_some_and(index::Index::exists);
        let view = if looks_up { handle.view().await } else { None };
        // Other agents look things up in their own way.
        let view = view.filter(|view| view.agent.as_str() == NativeAgent::ID);
        let commands = || self.commands(&place.root, &place.cwd);
        Ok(prompt::prepare(prompt, &place, commands, budget, view.as_ref()).await)
    }

    /// What people added that is run by its name.
    fn commands(&self, root: &Path, cwd: &Path) -> Commands {
        let home = self.inner.options.home.as_ref();
        with_shelf(home, root, cwd, |shelf| Commands {
            commands: shelf.commands().items,
            skills: shelf.skills().items,
            person: shelf.person.clone(),
        })
    }

    pub(crate) fn roles(
        &self,
        root: &Path,
        cwd: &Path,
    ) -> Box<dyn Fn() -> Vec<prompt::RoleName> + Send + Sync> {
        let (home, root, cwd) = (self.inner.options.home.clone(), root.to_owned(), cwd.to_owned());
        Box::new(move || role_names(home.as_ref(), &root, &cwd))
    }

    pub(crate) fn index(&self, root: &Path) -> Option<index::Index> {
        Some(index::Index::new(root, self.inner.options.index.clone()?))
    }

    pub(crate) fn home(&self) -> Option<&Home> {
        self.inner.options.home.as_ref()
    }

    pub(crate) fn launcher(&self) -> Arc<dyn Launcher> {
        self.inner.options.launcher.clone()
    }

    pub(crate) fn redactor(&self) -> Arc<Redactor> {
        self.inner.options.redactor.clone()
    }

    /// A session's own folder.
    pub(crate) fn folder(&self, session: &SessionId) -> PathBuf {
        self.store_of(session).dir(session)
    }

    pub(crate) async fn ask(&self, session: SessionId, op: SessionOp) -> Result<Receipt, EngineError> {
        let mut result = self.handle(&session).await?.submit(op.clone()).await;
        if matches!(result, Err(OpFailure::Closed)) {
            // It was let go while it was idle, just now.
            result = self.handle(&session).await?.submit(op).await;
        }
        match result {
            Ok(turn) => Ok(Receipt { session, turn }),
            Err(failure) => Err(EngineError::from_op(&session, failure)),
        }
    }

    fn tools(&self) -> Vec<ToolSummary> {
        let permissions = &self.inner.options.permissions;
        let summary = |tool: &Arc<dyn tools::Tool>| ToolSummary {
            name: tool.name().to_owned(),
            group: tool.group().as_str().to_owned(),
            description: tool.description().to_owned(),
            offered: permissions.offers(tool.name(), tool.group().as_str()),
            rule: None,
        };
        Toolbox::builtin().iter().map(summary).collect()
    }
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
