//! From codes to tokens, and from old tokens to new ones.

use jiff::{SignedDuration, Timestamp};

use super::endpoint::{Question, Reply};
use super::{Answer, OAuthConfig, Timing};
use crate::{AuthError, CredentialKind, Secret};

/// No token is valid for longer than this. A vendor that says so means "until further notice".
const LONGEST_LIFE: u64 = 10 * 365 * 24 * 3600;

/// What a login got. Showing it does not show the secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub kind: CredentialKind,
    /// The token, or the key.
    pub access: Secret,
    pub refresh: Option<Secret>,
    pub expires_at: Option<Timestamp>,
}

/// Exchanges the code that came back from the browser.
pub(super) async fn exchange(
    config: &OAuthConfig,
    code: &Secret,
    verifier: &Secret,
    redirect: &str,
    timing: &Timing,
) -> Result<Grant, AuthError> {
    let url = config.token()?;
    let (code, verifier) = (code.reveal(), verifier.reveal());
    match config.answer {
        Answer::Standard => {
            let question = Question::new()
                .with("grant_type", "authorization_code")
                .with("code", code)
                .with("code_verifier", verifier)
                .with("redirect_uri", redirect)
                .with("client_id", config.client()?)
                .and(&config.token_params);
            grant(&question.send_form(&url, timing.request).await?, Timestamp::now())
        }
        Answer::OpenrouterKey => {
            let question = Question::new()
                .with("code", code)
                .with("code_verifier", verifier)
                .with("code_challenge_method", "S256")
                .and(&config.token_params);
            key(&question.send_json(&url, timing.request).await?)
        }
    }
}

/// Asks for a new token. `None` when the vendor no longer takes the old one, and only a new login helps.
pub(crate) async fn refresh(
    config: &OAuthConfig,
    refresh: &Secret,
    timing: &Timing,
    now: Timestamp,
) -> Result<Option<Grant>, AuthError> {
    let question = Question::new()
        .with("grant_type", "refresh_token")
        .with("refresh_token", refresh.reveal())
        .with("client_id", config.client()?)
        .and(&config.token_params);
    let reply = question.send_form(&config.token()?, timing.request).await?;
    match reply.error().as_deref() {
        // The second is GitHub's word for it.
        Some("invalid_grant" | "bad_refresh_token") => Ok(None),
        _ => grant(&reply, now).map(Some),
    }
}

/// The tokens of an answer.
pub(super) fn grant(reply: &Reply, now: Timestamp) -> Result<Grant, AuthError> {
    if let Some(code) = reply.error() {
        return Err(reply.refused(code));
    }
    // Other kinds need a proof with every request, and sending them as bearer tokens would give them away.
    if reply.optional("token_type").is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
        return Err(reply.wrong("its token is not a bearer token"));
    }
    let life = reply.seconds("expires_in").filter(|seconds| *seconds <= LONGEST_LIFE);
    let end = |seconds: u64| now.saturating_add(SignedDuration::from_secs(seconds as i64)).ok();
    Ok(Grant {
        kind: CredentialKind::OAuthToken,
        access: sendable(reply, "access_token")?,
        refresh: reply.optional("refresh_token").map(Secret::new),
        expires_at: life.and_then(end),
    })
}

/// The key of an answer of OpenRouter's kind.
fn key(reply: &Reply) -> Result<Grant, AuthError> {
    if let Some(code) = reply.error() {
        return Err(reply.refused(code));
    }
    let access = sendable(reply, "key")?;
    Ok(Grant { kind: CredentialKind::ApiKey, access, refresh: None, expires_at: None })
}

/// A secret that can be sent in a header later.
fn sendable(reply: &Reply, name: &str) -> Result<Secret, AuthError> {
    let text = reply.text(name)?;
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(reply.wrong(&format!("its `{name}` can not be sent in a header")));
    }
    Ok(Secret::new(text))
}
