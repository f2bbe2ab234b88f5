//! What tests share: stand-ins for the outside world that behave like the real thing on real sockets.
//!
//! [`ModelServer`] is a model provider on loopback. It speaks the four wire formats, follows a [`Script`] that a
//! person can read, misbehaves on request ([`Fault`]) and keeps every request it got. Start reading there.
//!
//! [`OAuthServer`] is a provider that people log in at, and [`browse`] the browser that they do it with.
//!
//! [`WrongHostServer`] has a certificate for another name than its own.
//!
//! Nothing here knows `models` or `engine`: those use this crate in their tests, and a test double that shared code
//! with what it tests would agree with its mistakes.

mod acp_agent;
mod model_server;
mod oauth_server;
mod tls_server;

pub use acp_agent::FakeAcpAgent;
pub use model_server::{
    Delivery, Fault, ModelServer, Part, Recorded, Reply, Script, ScriptError, ServerOptions, Split, Then,
    Tokens, WireFormat,
};
pub use oauth_server::{
    BrowserPage, Consent, DeviceStep, OAuthBehaviour, OAuthFault, OAuthRequest, OAuthServer, browse, visit,
};
pub use tls_server::WrongHostServer;
