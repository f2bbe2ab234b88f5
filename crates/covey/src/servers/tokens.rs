//! What logins at MCP servers gave: kept where all other secrets are.

use std::any::Any;
use std::io;
use std::sync::Arc;

use ::auth::{AuthError, OnDamage, SecretStore};
use mcp::Tokens;

/// The login at one server. It belongs to the address: another server under the same name gets nothing of it.
pub(crate) struct KeptLogin {
    store: Arc<dyn SecretStore>,
    server: String,
    url: String,
}

impl KeptLogin {
    pub(crate) fn new(store: Arc<dyn SecretStore>, server: &str, url: &str) -> Self {
        Self { store, server: server.to_owned(), url: url.to_owned() }
    }

    fn change(&self, login: Option<serde_json::Value>) -> io::Result<()> {
        let mut change = |book: &mut ::auth::Book| book.set_login(&self.server, &self.url, login.clone());
        self.store.change(OnDamage::Refuse, &mut change).map(drop).map_err(io::Error::other)
    }
}

impl Tokens for KeptLogin {
    fn load(&self) -> Option<Vec<u8>> {
        // A store that can not be read has no login in it; what is wrong with it is told by `covey auth`.
        let (book, _) = self.store.read().ok()?;
        serde_json::to_vec(book.login(&self.server, &self.url)?).ok()
    }

    fn save(&self, bytes: &[u8]) -> io::Result<()> {
        self.change(Some(serde_json::from_slice(bytes)?))
    }

    fn clear(&self) -> io::Result<()> {
        self.change(None)
    }

    fn try_lock(&self) -> io::Result<Option<Box<dyn Any + Send>>> {
        let lock = self.store.try_lock(&format!("mcp-{}", self.server)).map_err(io::Error::other)?;
        Ok(lock.map(|lock| Box::new(lock) as Box<dyn Any + Send>))
    }
}

/// Forgets every login at servers of this name; false when there was none.
pub(super) fn forget(store: &dyn SecretStore, server: &str) -> Result<bool, AuthError> {
    let mut found = false;
    store.change(OnDamage::Refuse, &mut |book| {
        found = book.forget_logins(server);
        found
    })?;
    Ok(found)
}
