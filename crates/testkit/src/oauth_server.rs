//! An OAuth provider on loopback: a browser's page, tokens, codes for devices, and OpenRouter's keys.

mod answer;
mod browser;
mod http;
mod resource;
mod state;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

pub use self::browser::{BrowserPage, browse, visit};
use self::http::Connection;
use self::state::State;
pub use self::state::{Consent, DeviceStep, OAuthBehaviour, OAuthFault};

/// A running OAuth server. It stops, with all its connections, when it is dropped.
///
/// It checks what a client must get right (PKCE with S256, codes and refresh tokens that work once, a redirect to
/// this machine) and refuses in the words of the specification. [`OAuthServer::set`] makes it deny, expire, revoke and
/// misbehave; [`browse`] plays the person's browser.
pub struct OAuthServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: AbortHandle,
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct OAuthRequest {
    pub method: String,
    pub path: String,
    /// The query of a GET, the form or the JSON of a POST.
    pub fields: Vec<(String, String)>,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The address as it was asked for, with its query.
    pub target: String,
    pub body: String,
    pub at: Instant,
}

impl OAuthRequest {
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

struct Shared {
    state: Mutex<State>,
}

impl OAuthServer {
    /// Listens on a free port of 127.0.0.1. The one client that it knows is called `test-client`.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { state: Mutex::new(State::new(address)) });
        let accepting = tokio::spawn(accept(listener, shared.clone())).abort_handle();
        Ok(Self { address, shared, accepting })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn authorize_url(&self) -> String {
        self.url("/authorize")
    }

    pub fn token_url(&self) -> String {
        self.url("/token")
    }

    pub fn device_url(&self) -> String {
        self.url("/device")
    }

    /// Where OpenRouter's `https://openrouter.ai/auth` would be.
    pub fn openrouter_auth_url(&self) -> String {
        self.url("/auth")
    }

    /// Where OpenRouter's `https://openrouter.ai/api/v1/auth/keys` would be.
    pub fn openrouter_keys_url(&self) -> String {
        self.url("/api/v1/auth/keys")
    }

    /// An MCP server that takes its tokens, and says where to get them.
    pub fn mcp_url(&self) -> String {
        self.url(resource::RESOURCE)
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Changes how it behaves from now on.
    pub fn set(&self, change: impl FnOnce(&mut OAuthBehaviour)) {
        change(&mut self.shared.lock().behaviour);
    }

    /// From now on no refresh token that was issued so far is taken.
    pub fn revoke(&self) {
        self.shared.lock().revoke();
    }

    /// All requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Arc<OAuthRequest>> {
        self.shared.lock().requests.clone()
    }

    /// Those of one path, such as `/token`.
    pub fn requests_to(&self, path: &str) -> Vec<Arc<OAuthRequest>> {
        self.requests().into_iter().filter(|request| request.path == path).collect()
    }

    /// Every secret that it has given out or been told: codes, verifiers, tokens, keys. For tests that look for them
    /// where they must not be.
    pub fn secrets(&self) -> Vec<String> {
        self.shared.lock().secrets.clone()
    }

    /// Whether an access token was issued and still holds.
    pub fn accepts(&self, access: &str) -> bool {
        self.shared.lock().accepts(access)
    }
}

impl Drop for OAuthServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A test that panicked while it looked must not hide its message behind a poisoned lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    // Dropped with this task, and every connection with it.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => {
                let Ok((socket, _)) = accepted else { continue };
                connections.spawn(serve(socket, shared.clone()));
            }
        }
    }
}

async fn serve(socket: TcpStream, shared: Arc<Shared>) {
    let mut connection = Connection::new(socket);
    while let Ok(Some((head, body))) = connection.request().await {
        let request = Arc::new(answer::read(head, &body));
        let (answer, pause) = {
            let mut state = shared.lock();
            state.requests.push(request.clone());
            (state.answer(&request), state.behaviour.pause)
        };
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        if answer.status == 0 {
            // Silence until the client has had enough.
            tokio::time::sleep(Duration::from_secs(3600)).await;
        }
        if connection.answer(&answer).await.is_err() {
            return;
        }
    }
}
