//! Requests into fields, and answers out of them.

use std::time::Instant;

use serde_json::Value;

use super::OAuthRequest;
use super::http::Head;

/// What is sent back. Status 0 is nothing at all.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) location: Option<String>,
    /// How to log in, for who is not.
    pub(super) challenge: Option<String>,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn json(status: u16, body: Value) -> Self {
        Self { content_type: "application/json", ..Self::page(status, body.to_string()) }
    }

    pub(super) fn page(status: u16, body: impl Into<String>) -> Self {
        Self { status, content_type: "text/html", location: None, challenge: None, body: body.into() }
    }

    pub(super) fn redirect(to: String) -> Self {
        Self { location: Some(to), ..Self::page(302, "") }
    }
}

pub(super) fn read(head: Head, body: &[u8]) -> OAuthRequest {
    let Head { method, target, headers } = head;
    let body = String::from_utf8_lossy(body).into_owned();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let is_json = headers.iter().any(|(name, value)| name == "content-type" && value.contains("json"));
    let fields = if method == "GET" {
        form(query)
    } else if is_json {
        match serde_json::from_str(&body) {
            Ok(Value::Object(fields)) => {
                let text =
                    |value: Value| value.as_str().map(str::to_owned).unwrap_or_else(|| value.to_string());
                fields.into_iter().map(|(name, value)| (name, text(value))).collect()
            }
            _ => Vec::new(),
        }
    } else {
        form(&body)
    };
    OAuthRequest { method, path: path.to_owned(), fields, headers, target, body, at: Instant::now() }
}

fn form(text: &str) -> Vec<(String, String)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect()
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let digits = std::str::from_utf8(&digits).unwrap_or("3f");
                bytes.push(u8::from_str_radix(digits, 16).unwrap_or(b'?'));
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// For a query: everything but letters, digits and `-._~` is escaped.
pub(super) fn encode(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
