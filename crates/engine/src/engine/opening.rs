//! Bringing sessions to life, from nothing or from their logs, and letting go of them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use agents::Agent;
use guard::{Guard, GuardOptions};
use project::{Host, LocalHost, Project, Roots};
use protocol::{EventBody, FoldersChanged, ListChange, Receipt, SessionId, Timestamp};
use sessions::{Opened, Store};

use super::{Engine, blocking};
use crate::EngineError;
use crate::editor::SessionHost;
use crate::servers::ServerSet;
use crate::session::{Handle, News, SessionOp, Setup, open};

impl Engine {
    /// The running session, opened from its log if it is not.
    pub(crate) async fn handle(&self, session: &SessionId) -> Result<Arc<Handle>, EngineError> {
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
        let servers = self.servers(Path::new(&opened.view.cwd));
        let agent = self.agent_of(&opened);
        let handle = Arc::new(self.run(store, opened, agent, servers)?);
        open_sessions.insert(session.clone(), handle.clone());
        Ok(handle)
    }

    pub(super) async fn start(
        &self,
        store: Store,
        opened: Opened,
        agent: Arc<dyn Agent>,
        servers: Arc<ServerSet>,
    ) -> Result<SessionId, EngineError> {
        let session = opened.view.session.clone();
        let summary = sessions::summary(&opened.view);
        let listed = self.is_listed(&store);
        let handle = self.run(store, opened, agent, servers)?;
        if listed {
            self.inner.news.tell(ListChange::Put(Box::new(summary)));
        }
        self.inner.open.lock().await.insert(session.clone(), Arc::new(handle));
        Ok(session)
    }

    /// `servers` are those of the time before the agent was made: what is added from then on, its next prompt takes in.
    fn run(
        &self,
        store: Store,
        opened: Opened,
        agent: Arc<dyn Agent>,
        servers: Arc<ServerSet>,
    ) -> Result<Handle, EngineError> {
        let options = &self.inner.options;
        let roots = roots(Path::new(&opened.view.cwd), &opened.view.folders)?;
        let guard = Arc::new(Guard::new(GuardOptions {
            settings: options.permissions.clone(),
            roots: roots.clone(),
            home: options.home.clone(),
            user_home: options.user_home.clone(),
            session: Some(opened.view.session.as_str().to_owned()),
        }));
        let local: Arc<dyn Host> =
            Arc::new(LocalHost::new(roots.clone()).launched_by(options.launcher.clone()));
        let host = match &options.host {
            Some(host_of) => host_of(&opened.view.session, local),
            None => local,
        };
        let host = Arc::new(SessionHost::new(host, options.launcher.confines()));
        let usage_log = options.usage_log.clone();
        let news = if self.is_listed(&store) { self.inner.news.clone() } else { News::to_nobody() };
        let socket = options.socket.clone();
        let view = &opened.view;
        let hooks = self.hooks(&roots, Path::new(&view.cwd), view.session.clone());
        let redactor = self.redactor();
        let setup = Setup { opened, store, agent, host, guard, hooks, redactor, usage_log, news, socket };
        let handle = open(setup, Timestamp::now()).map_err(|error| EngineError::Store(error.into()))?;
        *handle.servers.lock().unwrap_or_else(PoisonError::into_inner) = servers;
        Ok(handle)
    }

    /// Adds folders to a session, or takes them away again.
    pub(super) async fn set_folders(
        &self,
        session: SessionId,
        folders: Vec<String>,
    ) -> Result<Receipt, EngineError> {
        let handle = self.handle(&session).await?;
        let Some(view) = handle.view().await else { return Err(EngineError::Closed(session)) };
        let folders = folders.iter().map(|folder| real_folder(folder)).collect::<Result<Vec<_>, _>>()?;
        if folders == view.folders {
            return Ok(Receipt { session, turn: None });
        }
        let body = Box::new(EventBody::Folders(FoldersChanged { folders }));
        let receipt = self.ask(session, SessionOp::Note { body, idle: true, changes_history: false }).await?;
        // Its walls were put up when it was opened, and so were its agent's. The next one who asks opens it anew.
        let mut open = self.inner.open.lock().await;
        if let Some(handle) = open.remove(&receipt.session) {
            // A session that closed by itself needs no more.
            let _ = handle.submit(SessionOp::Park).await;
            handle.closed().await;
        }
        Ok(receipt)
    }

    pub(super) async fn delete(&self, session: SessionId) -> Result<Receipt, EngineError> {
        // Held until it is gone, so that nobody opens it in between.
        let mut open = self.inner.open.lock().await;
        if let Some(handle) = open.remove(&session) {
            // A session that closed by itself needs no more.
            let _ = handle.submit(SessionOp::Park).await;
            handle.closed().await;
        }
        let store = self.store_of(&session).clone();
        blocking({
            let session = session.clone();
            move || store.delete(&session, Timestamp::now())
        })
        .await?;
        self.inner.news.tell(ListChange::Gone(session.clone()));
        Ok(Receipt { session, turn: None })
    }

    /// Whether lists show what is in this store.
    pub(super) fn is_listed(&self, store: &Store) -> bool {
        store.root() == self.inner.options.store.root()
    }

    pub(super) fn store_of(&self, session: &SessionId) -> &Store {
        let kept_nowhere = self.inner.ephemeral.get().filter(|store| store.exists(session));
        kept_nowhere.unwrap_or(&self.inner.options.store)
    }

    pub(super) fn ephemeral(&self) -> Result<Store, EngineError> {
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

/// The folders that a session works in: the project that `cwd` lies in, and what was added. One that was added and is gone
/// is no part of it any more.
pub(super) fn roots(cwd: &Path, added: &[String]) -> Result<Roots, EngineError> {
    let refused = |error: &dyn std::fmt::Display| EngineError::Refused {
        message: format!("can not work in `{}`: {error}", cwd.display()),
        hint: Some("name a folder that exists: --cwd DIR".to_owned()),
    };
    let project = Project::discover(cwd).map_err(|error| refused(&error))?;
    let added = added.iter().map(PathBuf::from).filter(|folder| folder.is_dir());
    Roots::new(std::iter::once(project.root().to_owned()).chain(added)).map_err(|error| refused(&error))
}

/// A folder that can be added to a session, as it is really called.
fn real_folder(folder: &str) -> Result<String, EngineError> {
    let refused = |why: &str| EngineError::Refused {
        message: format!("`{folder}` can not be added: {why}"),
        hint: Some("name a folder that exists, by its absolute path".to_owned()),
    };
    let path = Path::new(folder);
    if !path.is_absolute() {
        return Err(refused("it is not an absolute path"));
    }
    let real = path.canonicalize().map_err(|error| refused(&error.to_string()))?;
    if !real.is_dir() {
        return Err(refused("it is no folder"));
    }
    if real.parent().is_none() {
        return Err(refused("everything is below it"));
    }
    real.into_os_string().into_string().map_err(|_| refused("its name is not text"))
}
