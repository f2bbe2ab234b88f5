//! Anthropic Messages, and the servers that speak it.

mod decode;
mod encode;

use net::Url;
use net::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::{Ask, Decode, Format, Quirks, below};
use crate::Secret;
use crate::call::{bearer, plain};

pub(crate) struct Anthropic;

impl Format for Anthropic {
    fn address(&self, base: &Url, _model: &str, _quirks: &Quirks) -> Url {
        below(base, Some("v1"), &["messages"])
    }

    fn authorize(&self, key: Option<&Secret>, quirks: &Quirks, headers: &mut HeaderMap) -> Option<()> {
        let version = HeaderName::from_static("anthropic-version");
        headers.entry(version).or_insert(HeaderValue::from_static("2023-06-01"));
        match key {
            Some(key) if quirks.bearer => drop(headers.insert(AUTHORIZATION, bearer(key)?)),
            Some(key) => drop(headers.insert(HeaderName::from_static("x-api-key"), plain(key)?)),
            None => {}
        }
        Some(())
    }

    fn body(&self, ask: &Ask<'_>) -> Vec<u8> {
        encode::body(ask)
    }

    fn decoder(&self, provider: &str, origin: &str) -> Box<dyn Decode> {
        Box::new(decode::Decoder::new(provider, origin))
    }
}
