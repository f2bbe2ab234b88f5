//! Bringing sessions to life, from nothing or from their logs, and letting go of them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use agents::Agent;
use guard::{Guard, GuardOptions};
use project::{Host, LocalHost, Project, Roots};
use protocol::{EventBody, FoldersChanged, ListChange, Receipt, SessionId, SessionStart, Timestamp};
use sessions::{Opened, Store, StoreError};

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
        let handle = self.reopen(session).await?;
        open_sessions.insert(session.clone(), handle.clone());
        Ok(handle)
    }

    async fn reopen(&self, session: &SessionId) -> Result<Arc<Handle>, EngineError> {
        let store = self.store_of(session).clone();
        let opened = blocking({
            let (store, session) = (store.clone(), session.clone());
            move || store.open_writer(&session, Timestamp::now())
        })
        .await?;
        let servers = self.servers(Path::new(&opened.view.cwd));
        let agent = self.agent_of(&opened);
        Ok(Arc::new(self.run(store, opened, agent, servers)?))
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
        let folders = self.real_folders(&folders, Path::new(&view.cwd), &view.folders)?;
        if folders == view.folders {
            return Ok(Receipt { session, turn: None });
        }
        let body = Box::new(EventBody::Folders(FoldersChanged { folders }));
        let receipt = self.ask(session, SessionOp::Note { body, idle: true, changes_history: false }).await?;
        // Its walls were put up when it was opened, and so were its agent's, so it is opened anew. Nobody gets at it in
        // between; whoever follows it goes on with the new one.
        let mut open = self.inner.open.lock().await;
        if let Some(handle) = open.remove(&receipt.session) {
            // A session that closed by itself needs no more.
            let _ = handle.submit(SessionOp::Park).await;
            handle.closed().await;
            let handle = self.reopen(&receipt.session).await?;
            open.insert(receipt.session.clone(), handle);
        }
        Ok(receipt)
    }

    /// What folders are really called. One that the session has already stays, even if it is gone by now.
    pub(super) fn real_folders(
        &self,
        folders: &[String],
        cwd: &Path,
        known: &[String],
    ) -> Result<Vec<String>, EngineError> {
        let home = &self.inner.options.user_home;
        let mut real = Vec::new();
        for folder in folders {
            let folder = match known.contains(folder) {
                true => folder.clone(),
                false => real_folder(folder, cwd, home)?,
            };
            if !real.contains(&folder) {
                real.push(folder);
            }
        }
        Ok(real)
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
/// is no part of it any more, and neither is one that is a link now: an agent may have put it there, and what it leads to
/// was never granted.
pub(super) fn roots(cwd: &Path, added: &[String]) -> Result<Roots, EngineError> {
    let refused = |error: &dyn std::fmt::Display| EngineError::Refused {
        message: format!("can not work in `{}`: {error}", cwd.display()),
        hint: Some("name a folder that exists: --cwd DIR".to_owned()),
    };
    let project = Project::discover(cwd).map_err(|error| refused(&error))?;
    let is_itself =
        |folder: &PathBuf| folder.canonicalize().is_ok_and(|real| real == *folder && real.is_dir());
    let added = added.iter().map(PathBuf::from).filter(is_itself);
    Roots::new(std::iter::once(project.root().to_owned()).chain(added)).map_err(|error| refused(&error))
}

/// Writes the beginning of a session, with the folders that are added to it from the start.
pub(super) fn create(
    store: &Store,
    start: SessionStart,
    folders: Vec<String>,
    now: Timestamp,
) -> Result<Opened, StoreError> {
    let session = start.session.clone();
    let opened = store.create(start, now)?;
    if folders.is_empty() {
        return Ok(opened);
    }
    drop(opened);
    store.note(&session, EventBody::Folders(FoldersChanged { folders }), now)?;
    store.open_writer(&session, now)
}

/// A folder that can be added to a session, as it is really called.
fn real_folder(folder: &str, cwd: &Path, home: &Path) -> Result<String, EngineError> {
    let refused = |why: &str| EngineError::Refused {
        message: format!("`{folder}` can not be added: {why}"),
        hint: Some("name a folder that exists".to_owned()),
    };
    let real =
        project::typed_path(folder, cwd, home).canonicalize().map_err(|error| refused(&error.to_string()))?;
    if !real.is_dir() {
        return Err(refused("it is no folder"));
    }
    if real.parent().is_none() {
        return Err(refused("everything is below it"));
    }
    real.into_os_string().into_string().map_err(|_| refused("its name is not text"))
}
