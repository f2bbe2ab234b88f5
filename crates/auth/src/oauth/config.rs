//! What a vendor wants to be asked, as data.

use std::collections::BTreeMap;

use net::Url;
use serde::Deserialize;

use crate::AuthError;

/// `[providers.NAME.oauth]` of `config.toml`: how to log in at a provider. The client is a public one, so there is no
/// client secret: PKCE or the device code take its place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct OAuthConfig {
    /// Where the browser is sent.
    pub authorize_url: Option<String>,
    /// Where codes become tokens.
    pub token_url: Option<String>,
    /// Where a code for another device is asked for, if the vendor has that.
    pub device_url: Option<String>,
    /// The name under which this program is registered there.
    pub client_id: Option<String>,
    pub scopes: Vec<String>,
    pub redirect: Redirect,
    /// Further parameters of the address that the browser is sent to.
    pub authorize_params: BTreeMap<String, String>,
    /// Further parameters of every request to `token_url` and `device_url`.
    pub token_params: BTreeMap<String, String>,
    pub answer: Answer,
}

/// Where the browser comes back to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Redirect {
    /// How the address calls this machine: `127.0.0.1`, or `localhost` where the vendor insists.
    pub host: String,
    /// 0 for any that is free.
    pub port: u16,
    /// No other port will do. Otherwise one that is free is taken when this one is not.
    pub exact_port: bool,
    pub path: String,
}

impl Default for Redirect {
    fn default() -> Self {
        Self { host: "127.0.0.1".to_owned(), port: 0, exact_port: false, path: "/callback".to_owned() }
    }
}

/// What questions and answers look like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// RFC 6749: `redirect_uri` and `state` go out, tokens come back.
    #[default]
    Standard,
    /// OpenRouter's: `callback_url` goes out, JSON is sent for the code, and a key comes back. It does not hand back a
    /// `state`, so that is put into the path of the callback.
    OpenrouterKey,
}

/// OpenRouter's login in a browser, which needs no registration. It makes an API key.
pub fn openrouter() -> OAuthConfig {
    OAuthConfig {
        authorize_url: Some("https://openrouter.ai/auth".to_owned()),
        token_url: Some("https://openrouter.ai/api/v1/auth/keys".to_owned()),
        // The address that its documentation recommends for programs on this machine.
        redirect: Redirect { host: "localhost".to_owned(), port: 3000, ..Redirect::default() },
        answer: Answer::OpenrouterKey,
        ..OAuthConfig::default()
    }
}

/// GitHub's device flow, for an OAuth app that the person registered.
pub fn github(client_id: impl Into<String>, scopes: &[&str]) -> OAuthConfig {
    OAuthConfig {
        token_url: Some("https://github.com/login/oauth/access_token".to_owned()),
        device_url: Some("https://github.com/login/device/code".to_owned()),
        client_id: Some(client_id.into()),
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        ..OAuthConfig::default()
    }
}

impl OAuthConfig {
    /// Where the browser is sent.
    pub(super) fn authorize(&self) -> Result<Url, AuthError> {
        endpoint(self.authorize_url.as_deref(), "authorize_url")
    }

    pub(super) fn token(&self) -> Result<Url, AuthError> {
        endpoint(self.token_url.as_deref(), "token_url")
    }

    pub(super) fn device(&self) -> Result<Url, AuthError> {
        endpoint(self.device_url.as_deref(), "device_url")
    }

    pub(super) fn client(&self) -> Result<&str, AuthError> {
        let given = self.client_id.as_deref().filter(|id| !id.trim().is_empty());
        given.ok_or_else(|| AuthError::BadConfig { what: "client_id is missing".to_owned() })
    }

    pub(super) fn scope(&self) -> Option<String> {
        (!self.scopes.is_empty()).then(|| self.scopes.join(" "))
    }

    /// The host and the path that the browser is told, both checked.
    pub(super) fn callback(&self) -> Result<(&str, &str), AuthError> {
        let bad = |what: &str| AuthError::BadConfig { what: what.to_owned() };
        let host = self.redirect.host.as_str();
        if !matches!(host, "127.0.0.1" | "localhost") {
            return Err(bad("redirect.host is neither `127.0.0.1` nor `localhost`"));
        }
        let path = self.redirect.path.as_str();
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
        if !path.starts_with('/') || !path.bytes().all(plain) {
            return Err(bad("redirect.path is no plain path that begins with `/`"));
        }
        Ok((host, path))
    }
}

/// An address that may be told secrets: over TLS, or on this machine.
fn endpoint(text: Option<&str>, name: &str) -> Result<Url, AuthError> {
    let bad = |what: &str| AuthError::BadConfig { what: format!("{name} {what}") };
    let url: Url = text.ok_or_else(|| bad("is missing"))?.parse().map_err(|_| bad("is no address"))?;
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err(bad("has a user, a password or a fragment"));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if net::is_loopback(&url) => Ok(url),
        _ => Err(bad("is not https")),
    }
}
