//! Which MCP servers a session has.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use super::{Engine, opening};
use crate::servers::ServerSet;
use crate::session::Handle;

impl Engine {
    /// The MCP servers of the project that `cwd` lies in, brought up to date.
    pub(super) fn servers(&self, cwd: &Path) -> Arc<ServerSet> {
        let options = &self.inner.options;
        let own = (options.mcp)();
        let Ok(roots) = opening::roots(cwd, &[]) else { return Arc::default() };
        let (home, launcher) = (options.home.as_ref(), &options.launcher);
        self.inner.servers.refresh(&roots, home, &own, launcher, options.logins.as_ref())
    }

    pub(crate) fn known_servers(&self, root: &Path) -> Arc<ServerSet> {
        self.inner.servers.get(root).unwrap_or_default()
    }

    /// Gives an open session the MCP servers that the person added or changed since its last prompt, and takes away those
    /// that are gone. What did not change goes on running.
    pub(super) async fn take_in_servers(&self, handle: &Handle) {
        let now = self.servers(&handle.cwd);
        let before = {
            let mut seen = handle.servers.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *seen, now.clone())
        };
        if Arc::ptr_eq(&before, &now) || before.is_empty() && now.is_empty() {
            return;
        }
        now.introduce(self.inner.options.home.as_ref()).await;
        let Some(view) = handle.view().await else { return };
        // One that can not be made any more stays as it was.
        if let Ok(agent) = self.agent(&view.agent, view.model.as_ref(), &handle.cwd, &view.folders) {
            handle.use_agent(agent).await;
        }
    }
}
