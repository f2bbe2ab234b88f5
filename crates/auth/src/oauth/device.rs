//! A code that is typed on another device (RFC 8628).

use std::time::Duration;

use jiff::Timestamp;
use net::Url;

use super::endpoint::{Question, Reply};
use super::{Grant, OAuthConfig, Person, Step, Timing, token};
use crate::{AuthError, Secret};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// What the specification says when the vendor does not.
const INTERVAL: u64 = 5;

/// What `slow_down` adds to it.
const SLOWER: u64 = 5;

const LONGEST_INTERVAL: u64 = 300;

/// Codes are valid for a quarter of an hour or so.
const LONGEST_WAIT: u64 = 3600;

pub(super) async fn login(
    config: &OAuthConfig,
    person: &dyn Person,
    timing: &Timing,
) -> Result<Grant, AuthError> {
    let (url, token_url, client) = (config.device()?, config.token()?, config.client()?);
    let mut question = Question::new().with("client_id", client);
    if let Some(scope) = config.scope() {
        question = question.with("scope", &scope);
    }
    let reply = question.and(&config.token_params).send_form(&url, timing.request).await?;
    if let Some(code) = reply.error() {
        return Err(reply.refused(code));
    }
    let device = Secret::new(reply.text("device_code")?);
    let code = reply.text("user_code")?;
    // It goes to a terminal, where control characters do things.
    if code.chars().count() > 64 || code.chars().any(|letter| letter.is_control()) {
        return Err(reply.wrong("its code is none that one can type"));
    }
    let where_to =
        page(&reply, "verification_uri")?.ok_or_else(|| reply.wrong("it has no `verification_uri`"))?;
    let with_code = page(&reply, "verification_uri_complete")?;
    let valid = reply.seconds("expires_in").unwrap_or(900).min(LONGEST_WAIT);
    let interval = reply.seconds("interval").unwrap_or(INTERVAL).clamp(1, LONGEST_INTERVAL);
    person.show(Step::EnterCode {
        url: &where_to,
        with_code: with_code.as_ref(),
        code,
        valid_for: Duration::from_secs(valid),
    });
    let ask = || {
        Question::new()
            .with("grant_type", GRANT)
            .with("device_code", device.reveal())
            .with("client_id", client)
            .and(&config.token_params)
            .send_form(&token_url, timing.request)
    };
    let patience = timing.second.saturating_mul(valid as u32);
    tokio::time::timeout(patience, poll(ask, interval, timing)).await.unwrap_or(Err(AuthError::TimedOut))
}

/// Asks until there is an answer, never more often than the vendor wants.
async fn poll<F>(ask: impl Fn() -> F, mut interval: u64, timing: &Timing) -> Result<Grant, AuthError>
where
    F: Future<Output = Result<Reply, AuthError>>,
{
    loop {
        tokio::time::sleep(timing.second.saturating_mul(interval as u32)).await;
        let reply = match ask().await {
            Ok(reply) => reply,
            // The person may be typing the code right now; a hiccup must not cost them that.
            Err(AuthError::Unreachable { .. }) => {
                interval = (interval * 2).min(LONGEST_INTERVAL);
                continue;
            }
            Err(error) => return Err(error),
        };
        match reply.error().as_deref() {
            Some("authorization_pending") => {}
            Some("slow_down") => {
                // Some say how slow; never take it for permission to be faster.
                let told = reply.seconds("interval").unwrap_or(0);
                interval = (interval + SLOWER).max(told).min(LONGEST_INTERVAL);
            }
            Some("expired_token" | "token_expired") => return Err(AuthError::TimedOut),
            _ => return token::grant(&reply, Timestamp::now()),
        }
    }
}

/// An address that a person may be sent to.
fn page(reply: &Reply, name: &str) -> Result<Option<Url>, AuthError> {
    let Some(text) = reply.optional(name) else { return Ok(None) };
    let url: Option<Url> = text.parse().ok();
    let safe = url.filter(|url| url.scheme() == "https" || url.scheme() == "http" && net::is_loopback(url));
    safe.map(Some).ok_or_else(|| reply.wrong(&format!("its `{name}` is no https address")))
}
