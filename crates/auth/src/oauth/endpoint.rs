//! Asking a vendor: over TLS, once, without being sent elsewhere, and with a limit on the answer.

use std::time::Duration;

use net::header::{ACCEPT, CONTENT_TYPE};
use net::{StatusCode, Url};
use serde_json::{Map, Value};

use crate::{AuthError, Secret};

/// More than any token answer has.
const LARGEST: usize = 64 << 10;

const FORM: &str = "application/x-www-form-urlencoded";

/// A question to a vendor. All of its fields are taken for secrets.
pub(super) struct Question {
    fields: Vec<(String, Secret)>,
}

/// An answer that was JSON.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    fields: Map<String, Value>,
    who: String,
}

impl Question {
    pub(super) fn new() -> Self {
        Self { fields: Vec::new() }
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.to_owned(), Secret::new(value)));
        self
    }

    /// Adds what the configuration adds; what is there already stays.
    pub(super) fn and(mut self, more: &std::collections::BTreeMap<String, String>) -> Self {
        for (name, value) in more {
            if !self.fields.iter().any(|(known, _)| known == name) {
                self = self.with(name, value);
            }
        }
        self
    }

    pub(super) async fn send_form(self, url: &Url, timeout: Duration) -> Result<Reply, AuthError> {
        // An address knows how to write a form. This one goes nowhere.
        let mut form = url.clone();
        form.set_query(None);
        form.query_pairs_mut().extend_pairs(self.fields.iter().map(|(name, value)| (name, value.reveal())));
        let body = form.query().unwrap_or_default().to_owned();
        self.send(url, FORM, body, timeout).await
    }

    pub(super) async fn send_json(self, url: &Url, timeout: Duration) -> Result<Reply, AuthError> {
        let fields = self.fields.iter().map(|(name, value)| (name.clone(), Value::from(value.reveal())));
        let body = Value::Object(fields.collect()).to_string();
        self.send(url, "application/json", body, timeout).await
    }

    async fn send(
        &self,
        url: &Url,
        content_type: &str,
        body: String,
        timeout: Duration,
    ) -> Result<Reply, AuthError> {
        let who = name(url);
        let unreachable = |what: String| AuthError::Unreachable { who: who.clone(), what };
        let wrong = |what: String| AuthError::WrongAnswer { who: who.clone(), what };
        let exchange = async {
            let client = net::client(url).map_err(|error| unreachable(error.to_string()))?;
            let request = client
                .post(url.clone())
                .header(CONTENT_TYPE, content_type)
                .header(ACCEPT, "application/json");
            let sent = request.body(body).send().await;
            let mut answer = sent.map_err(|error| unreachable(self.redact(net::describe(&error))))?;
            let status = answer.status();
            // Temporary troubles of theirs, whatever the body says.
            if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
                return Err(unreachable(format!("it answered {}", status.as_u16())));
            }
            let mut bytes = Vec::new();
            loop {
                let piece = answer.chunk().await;
                let Some(piece) = piece.map_err(|error| unreachable(self.redact(net::describe(&error))))?
                else {
                    break;
                };
                if bytes.len() + piece.len() > LARGEST {
                    return Err(wrong("the answer is too large".to_owned()));
                }
                bytes.extend_from_slice(&piece);
            }
            match serde_json::from_slice(&bytes) {
                Ok(Value::Object(fields)) => Ok(Reply { status, fields, who: who.clone() }),
                _ => Err(wrong(format!("status {} and no JSON object", status.as_u16()))),
            }
        };
        let late = || unreachable("it took too long".to_owned());
        let reply = tokio::time::timeout(timeout, exchange).await.map_err(|_| late())??;
        Ok(reply.without_our_secrets(self))
    }

    fn redact(&self, text: String) -> String {
        self.fields.iter().fold(text, |text, (_, secret)| secret.redact(text))
    }
}

impl Reply {
    /// The error, if the answer is one, in OAuth's word for it. Some vendors send it with status 200.
    pub(super) fn error(&self) -> Option<String> {
        match self.fields.get("error") {
            Some(Value::String(code)) => Some(plain(code)),
            None if self.status.is_success() => None,
            // Not in the words of OAuth; the status is all that says something.
            _ => Some(format!("status {}", self.status.as_u16())),
        }
    }

    /// The refusal as an error.
    pub(super) fn refused(&self, code: String) -> AuthError {
        if code == "access_denied" {
            return AuthError::Denied;
        }
        AuthError::Refused { who: self.who.clone(), code }
    }

    pub(super) fn wrong(&self, what: &str) -> AuthError {
        AuthError::WrongAnswer { who: self.who.clone(), what: what.to_owned() }
    }

    /// A field that has to be there and to be something.
    pub(super) fn text(&self, name: &str) -> Result<&str, AuthError> {
        self.optional(name).ok_or_else(|| self.wrong(&format!("it has no `{name}`")))
    }

    pub(super) fn optional(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// A number of seconds. Some vendors write numbers as text.
    pub(super) fn seconds(&self, name: &str) -> Option<u64> {
        match self.fields.get(name)? {
            Value::Number(number) => {
                number.as_u64().or_else(|| number.as_f64().map(|seconds| seconds as u64))
            }
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// A code of an error may reach the screen, so it must not quote what we sent.
    fn without_our_secrets(mut self, question: &Question) -> Self {
        if let Some(Value::String(code)) = self.fields.get_mut("error") {
            *code = question.redact(std::mem::take(code));
        }
        self
    }
}

/// A code of OAuth as it may be shown. What looks otherwise is not one, and may be anything.
pub(super) fn plain(code: &str) -> String {
    let sound = !code.is_empty()
        && code.len() <= 40
        && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if sound { code.to_owned() } else { "an error it has no plain word for".to_owned() }
}

/// How messages call a vendor.
fn name(url: &Url) -> String {
    url.host_str().unwrap_or("the provider").to_owned()
}
