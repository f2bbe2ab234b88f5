//! Errors, and how addresses and failures are shown: never with what is secret in them.

use std::error::Error;

use url::Url;

/// Why there is no client, or none for this address.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    #[error("`{scheme}` is not http or https")]
    Scheme { scheme: String },
    #[error("could not set up HTTP: {what}")]
    Client { what: String },
    #[error("the address names no host")]
    NoHost,
    /// It leads to this machine or the network behind it.
    #[error("`{host}` is not a public address")]
    Private { host: String },
    #[error("`{host}` is not known")]
    Unknown { host: String },
}

/// An address for people: without user, password, query and fragment, where keys are.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // These fail only for addresses that can not have them.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}

/// What went wrong, down to its cause. The address is left out: callers know it, and it may hold a key.
pub fn describe(error: &reqwest::Error) -> String {
    let mut causes: Vec<String> = Vec::new();
    let mut next: Option<&(dyn Error + 'static)> = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        // A wrapper often repeats the text of what it wraps.
        if !causes.iter().any(|known| known.contains(&text)) {
            causes.push(text);
        }
        next = cause.source();
    }
    if causes.is_empty() { kind(error).to_owned() } else { causes.join(": ") }
}

fn kind(error: &reqwest::Error) -> &'static str {
    if error.is_timeout() {
        "it took too long"
    } else if error.is_connect() {
        "no connection"
    } else if error.is_body() || error.is_decode() {
        "the answer could not be read"
    } else if error.is_builder() {
        "the request could not be made"
    } else {
        "the request failed"
    }
}
