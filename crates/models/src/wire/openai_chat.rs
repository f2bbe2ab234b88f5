//! OpenAI Chat Completions, and the many servers that speak nearly that.

mod decode;
mod encode;
mod shape;

use serde::Deserialize;

pub(crate) use decode::Decoder;
pub(crate) use encode::body;

/// Where a server differs from OpenAI's own.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quirks {
    /// Ask for token counts at the end of the stream (`stream_options`). A few servers refuse the field.
    pub include_usage: bool,
    /// The name of the field that limits the answer: `max_completion_tokens`, or `max_tokens` for older servers.
    pub max_tokens_field: String,
    /// Send the model's thoughts back as `reasoning_content`, which some providers want during tool calls and others
    /// refuse.
    pub replay_reasoning: bool,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            include_usage: true,
            max_tokens_field: "max_completion_tokens".to_owned(),
            replay_reasoning: false,
        }
    }
}

/// Decodes a recorded stream that came in these reads: for replays and for the fuzzer, which have no socket.
#[doc(hidden)]
pub fn decode_bytes<'a>(
    reads: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<crate::ModelEvent>, crate::CallError> {
    use crate::sse::{SseDecoder, SseError};
    use crate::wire::{Decode, Events};

    let mut sse = SseDecoder::default();
    let mut decoder = Decoder::new("replay");
    let mut events = Events::default();
    let mut list = Vec::new();
    let plain = |error| match error {
        SseError::Receiver(error) => error,
        SseError::FrameTooLarge { limit } => {
            crate::CallError::TooLarge { provider: "replay".to_owned(), limit }
        }
    };
    for bytes in reads {
        sse.push(bytes, |frame| decoder.frame(&frame.event, &frame.data, &mut events)).map_err(plain)?;
        list.extend(events.take());
    }
    sse.finish(|frame| decoder.frame(&frame.event, &frame.data, &mut events)).map_err(plain)?;
    decoder.end(&mut events)?;
    list.extend(events.take());
    Ok(list)
}
