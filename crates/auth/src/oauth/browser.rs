//! A login in a browser: the authorization code, with PKCE, and the way back over a port of this machine.

use net::Url;

use super::loopback::{self, Callback, Loopback};
use super::{Answer, Grant, OAuthConfig, Person, Step, Timing, pkce, token};
use crate::{AuthError, Secret};

#[cfg(test)]
mod tests;

pub(super) async fn login(
    config: &OAuthConfig,
    person: &dyn Person,
    timing: &Timing,
) -> Result<Grant, AuthError> {
    // What is wrong with the settings is said before anybody opens a browser.
    let (authorize, _) = (config.authorize()?, config.token()?);
    let (host, path) = config.callback()?;
    let verifier = pkce::verifier()?;
    let state = pkce::random_word()?;
    let path = match config.answer {
        Answer::Standard => path.to_owned(),
        Answer::OpenrouterKey => format!("{}/{state}", path.trim_end_matches('/')),
    };
    let expected = match config.answer {
        Answer::Standard => Callback { path: path.clone(), state: Some(state.clone()) },
        Answer::OpenrouterKey => Callback { path: path.clone(), state: None },
    };
    let listener = Loopback::bind(&config.redirect).await?;
    let redirect = format!("http://{host}:{}{path}", listener.port());
    let url = address(config, authorize, &redirect, &state, &pkce::challenge(&verifier))?;
    person.show(Step::Open { url: &url });
    let code = async {
        tokio::select! {
            code = listener.code(&expected, timing) => code,
            code = pasted(person, &expected) => code,
        }
    };
    let code = tokio::time::timeout(timing.login, code).await.unwrap_or(Err(AuthError::TimedOut))?;
    token::exchange(config, &code, &verifier, &redirect, timing).await
}

/// Where the browser is sent. Of what is ours it holds only the state and the challenge.
fn address(
    config: &OAuthConfig,
    mut url: Url,
    redirect: &str,
    state: &str,
    challenge: &str,
) -> Result<Url, AuthError> {
    let mut pairs: Vec<(&str, String)> = match config.answer {
        Answer::Standard => vec![
            ("response_type", "code".to_owned()),
            ("client_id", config.client()?.to_owned()),
            ("redirect_uri", redirect.to_owned()),
            ("state", state.to_owned()),
        ],
        Answer::OpenrouterKey => vec![("callback_url", redirect.to_owned())],
    };
    pairs.push(("code_challenge", challenge.to_owned()));
    pairs.push(("code_challenge_method", "S256".to_owned()));
    pairs.extend(config.scope().map(|scope| ("scope", scope)));
    // What the settings add must not take the place of what protects the login.
    let known = |name: &str| pairs.iter().any(|(known, _)| *known == name);
    if let Some(name) = config.authorize_params.keys().find(|name| known(name)) {
        return Err(AuthError::BadConfig { what: format!("authorize_params must not have `{name}`") });
    }
    let more = config.authorize_params.iter().map(|(name, value)| (name.as_str(), value.clone()));
    pairs.extend(more);
    url.query_pairs_mut().extend_pairs(pairs);
    Ok(url)
}

/// The code, as soon as the person has pasted something that holds one.
async fn pasted(person: &dyn Person, expected: &Callback) -> Result<Secret, AuthError> {
    while let Some(text) = person.pasted().await {
        match read(text.reveal(), expected) {
            Ok(answer) => return answer,
            Err(why) => person.show(Step::BadPaste { why }),
        }
    }
    std::future::pending().await
}

/// Reads what was pasted: the code alone, or the address that the browser was sent back to.
fn read(text: &str, expected: &Callback) -> Result<Result<Secret, AuthError>, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.contains("://") {
        let url: Url = text.parse().map_err(|_| "it is no address")?;
        if !net::is_loopback(&url) {
            return Err("it is not the address that the browser was sent back to");
        }
        let query = url.query().unwrap_or_default();
        return loopback::answer(url.path(), query, expected).map_err(|refusal| refusal.text());
    }
    // The person's own word that it belongs here; the verifier proves it.
    if text.len() > 4096 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("it is not a code");
    }
    Ok(Ok(Secret::new(text)))
}
