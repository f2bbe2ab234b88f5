//! OpenAI Chat Completions, and the many servers that speak nearly that.

mod decode;
mod encode;
mod shape;

use net::Url;
use net::header::HeaderMap;

use super::{Ask, Decode, Format, Quirks, below};
use crate::Secret;

pub(crate) struct OpenaiChat;

impl Format for OpenaiChat {
    fn address(&self, base: &Url, model: &str, quirks: &Quirks) -> Url {
        below(&quirks.openai_base(base, model), None, &["chat", "completions"])
    }

    fn authorize(&self, key: Option<&Secret>, quirks: &Quirks, headers: &mut HeaderMap) -> Option<()> {
        if let Some(key) = key {
            let (name, value) = quirks.openai_key(key)?;
            headers.insert(name, value);
        }
        Some(())
    }

    fn body(&self, ask: &Ask<'_>) -> Vec<u8> {
        encode::body(ask)
    }

    fn decoder(&self, provider: &str, _origin: &str) -> Box<dyn Decode> {
        Box::new(decode::Decoder::new(provider))
    }
}
