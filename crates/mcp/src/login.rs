//! Logging in to a server behind an address: OAuth in the person's browser.

use std::any::Any;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rmcp::transport::AuthorizationManager;
use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationRequest, CredentialRefreshGuard, CredentialStore, OAuthState,
    StoredCredentials,
};

use crate::McpError;

/// Where what a login gave is kept.
pub trait Tokens: Send + Sync {
    fn load(&self) -> Option<Vec<u8>>;
    fn save(&self, bytes: &[u8]) -> io::Result<()>;
    fn clear(&self) -> io::Result<()>;

    /// Tries to be the only one, among all processes, that renews this login. None while another one does.
    fn try_lock(&self) -> io::Result<Option<Box<dyn Any + Send>>>;
}

/// Between two tries to be the one that renews, and how many there are: half a minute.
const PAUSE: Duration = Duration::from_millis(50);
const TRIES: usize = 600;

#[derive(Clone)]
struct Kept(Arc<dyn Tokens>);

#[async_trait]
impl CredentialStore for Kept {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        // What is not understood is as good as nothing: the person logs in again.
        Ok(self.0.load().and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let failed =
            |error: io::Error| AuthError::InternalError(format!("the login can not be kept: {error}"));
        let bytes = serde_json::to_vec(&credentials).map_err(|error| failed(error.into()))?;
        self.0.save(&bytes).map_err(failed)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.0.clear().map_err(|error| AuthError::InternalError(error.to_string()))
    }

    /// A refresh token works once: two that use the same one end the login for both.
    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        for _ in 0..TRIES {
            let lock = self.0.try_lock();
            let lock = lock.map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
            if let Some(lock) = lock {
                return Ok(Some(CredentialRefreshGuard::new(lock)));
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(AuthError::CredentialStoreError(
            "another process renews the login, and does not finish".to_owned(),
        ))
    }
}

/// A login that has begun.
pub struct Login {
    server: String,
    state: OAuthState,
}

impl Login {
    /// Finds out where to log in. Answers the address that the person opens; their browser comes back to `redirect`.
    pub async fn begin(
        server: &str,
        url: &str,
        redirect: &str,
        tokens: Arc<dyn Tokens>,
    ) -> Result<(Self, String), McpError> {
        let failed = |error: AuthError| refused(server, &error);
        let manager = manager(url, tokens).await.map_err(failed)?;
        let mut state = OAuthState::Unauthorized(manager);
        let request = AuthorizationRequest::new(redirect).with_client_name("Covey");
        state.start_authorization(request).await.map_err(failed)?;
        let address = state.get_authorization_url().await.map_err(failed)?;
        Ok((Self { server: server.to_owned(), state }, address))
    }

    /// With the address that the browser came back to.
    pub async fn finish(mut self, callback: &str) -> Result<(), McpError> {
        self.state.handle_callback_url(callback).await.map_err(|error| refused(&self.server, &error))
    }
}

fn refused(server: &str, error: &AuthError) -> McpError {
    McpError::Refused(format!("could not log in to `{server}`: {error}"))
}

async fn manager(url: &str, tokens: Arc<dyn Tokens>) -> Result<AuthorizationManager, AuthError> {
    // The library makes a client of its own, which panics before somebody set up TLS; a client for `http` sets up none.
    if let Ok(any) = "https://localhost".parse::<net::Url>() {
        let _ = net::client(&any);
    }
    let mut manager = AuthorizationManager::new(url).await?;
    manager.set_credential_store(Kept(tokens));
    Ok(manager)
}

/// A client that logs itself in with what is kept, and renews it. None when nothing is.
pub(crate) async fn logged_in(
    url: &str,
    client: net::Client,
    tokens: &Arc<dyn Tokens>,
) -> Option<AuthClient<net::Client>> {
    tokens.load()?;
    let mut manager = manager(url, tokens.clone()).await.ok()?;
    manager.initialize_from_store().await.ok()?.then(|| AuthClient::new(client, manager))
}
