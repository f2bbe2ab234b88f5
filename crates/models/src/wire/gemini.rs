//! Gemini's `streamGenerateContent`.

mod decode;
mod encode;

use net::Url;
use net::header::{HeaderMap, HeaderName};

use super::{Ask, Decode, Format, Quirks, below};
use crate::Secret;
use crate::call::plain;

pub(crate) struct Gemini;

impl Format for Gemini {
    fn address(&self, base: &Url, model: &str, _quirks: &Quirks) -> Url {
        // A name with a slash says itself what it is: `tunedModels/mine`.
        let name = if model.contains('/') { model.to_owned() } else { format!("models/{model}") };
        let path = format!("{name}:streamGenerateContent");
        let mut url = below(base, Some("v1beta"), &path.split('/').collect::<Vec<_>>());
        url.query_pairs_mut().append_pair("alt", "sse");
        url
    }

    fn authorize(&self, key: Option<&Secret>, _quirks: &Quirks, headers: &mut HeaderMap) -> Option<()> {
        if let Some(key) = key {
            headers.insert(HeaderName::from_static("x-goog-api-key"), plain(key)?);
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
