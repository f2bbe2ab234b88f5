//! OpenAI Responses, without anything kept at the provider.

mod decode;
mod encode;

use net::Url;
use net::header::{AUTHORIZATION, HeaderMap};

use super::{Ask, Decode, Format, Quirks, below};
use crate::Secret;
use crate::call::bearer;

pub(crate) struct OpenaiResponses;

impl Format for OpenaiResponses {
    fn address(&self, base: &Url, _model: &str) -> Url {
        below(base, None, &["responses"])
    }

    fn authorize(&self, key: Option<&Secret>, _quirks: &Quirks, headers: &mut HeaderMap) -> Option<()> {
        if let Some(key) = key {
            headers.insert(AUTHORIZATION, bearer(key)?);
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
