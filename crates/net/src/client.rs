//! Making clients, each kind at most once.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use rustls::crypto::ring;
use url::{Host, Url};

use crate::NetError;

/// How one client differs from the shared ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub connect_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { connect_timeout: Duration::from_secs(5) }
    }
}

/// The shared client for an address, made when it is first asked for.
///
/// It has a connect time-out and no total one, because streams last as long as they last; it follows no redirects,
/// because a request that carries a key must not be sent on; it uses the system's proxy except for this machine.
/// For `http://` it never loads the system's root certificates, which costs more than all else at start.
pub fn client(base: &Url) -> Result<Client, NetError> {
    static CLIENTS: [OnceLock<Client>; 4] = [const { OnceLock::new() }; 4];
    let kind = Kind::of(base)?;
    let slot = &CLIENTS[usize::from(kind.tls) * 2 + usize::from(kind.direct)];
    if let Some(client) = slot.get() {
        return Ok(client.clone());
    }
    let made = kind.build(&Options::default())?;
    Ok(slot.get_or_init(|| made).clone())
}

/// A client of its own for an address, for callers whose [`Options`] differ. It shares no connections.
pub fn build(base: &Url, options: &Options) -> Result<Client, NetError> {
    Kind::of(base)?.build(options)
}

/// Whether an address names this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// What a client needs to be able to do.
pub(crate) struct Kind {
    pub(crate) tls: bool,
    direct: bool,
}

impl Kind {
    pub(crate) fn of(base: &Url) -> Result<Self, NetError> {
        let tls = match base.scheme() {
            "https" => true,
            "http" => false,
            scheme => return Err(NetError::Scheme { scheme: scheme.to_owned() }),
        };
        Ok(Self { tls, direct: is_loopback(base) })
    }

    fn build(&self, options: &Options) -> Result<Client, NetError> {
        self.build_with(options, |builder| builder)
    }

    pub(crate) fn build_with(
        &self,
        options: &Options,
        more: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<Client, NetError> {
        let mut builder = Client::builder()
            .user_agent(concat!("covey/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(options.connect_timeout)
            .redirect(Policy::none())
            .tcp_nodelay(true);
        if self.direct {
            builder = builder.no_proxy();
        }
        if self.tls {
            // reqwest takes the platform's verifier only together with the process's default provider, and panics
            // without one. So the default is set here, where it is needed; an error says that there is one already.
            let _ = ring::default_provider().install_default();
        } else {
            builder = builder.tls_backend_preconfigured(no_tls()?);
        }
        more(builder).build().map_err(|error| NetError::Client { what: crate::describe(&error) })
    }
}

/// A TLS configuration that trusts nobody, for clients that never speak TLS: reqwest would make a real one otherwise.
fn no_tls() -> Result<rustls::ClientConfig, NetError> {
    let builder = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(|error| NetError::Client { what: error.to_string() })?;
    Ok(builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth())
}

#[cfg(test)]
mod tests;
