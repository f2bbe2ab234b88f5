//! Messages on the wire: a header with the length, then JSON.

use serde_json::Value;

/// No message is longer than this.
const MAX_MESSAGE: usize = 64 << 20;
const MAX_HEADER: usize = 4 << 10;

/// Cuts bytes into messages.
#[derive(Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
}

/// The other side does not speak the protocol, or speaks without end.
#[derive(Debug, PartialEq)]
pub(super) struct NotAFrame;

impl Frames {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message. What is no JSON is passed over.
    pub(super) fn next(&mut self) -> Result<Option<Value>, NotAFrame> {
        loop {
            let Some(end) = find(&self.bytes, b"\r\n\r\n") else {
                return if self.bytes.len() > MAX_HEADER { Err(NotAFrame) } else { Ok(None) };
            };
            let header = String::from_utf8_lossy(&self.bytes[..end]).to_lowercase();
            let length = header
                .lines()
                .find_map(|line| line.trim().strip_prefix("content-length:")?.trim().parse::<usize>().ok());
            let length = length.filter(|length| *length <= MAX_MESSAGE).ok_or(NotAFrame)?;
            let start = end + 4;
            if self.bytes.len() < start + length {
                return Ok(None);
            }
            let message = serde_json::from_slice(&self.bytes[start..start + length]);
            self.bytes.drain(..start + length);
            if let Ok(message) = message {
                return Ok(Some(message));
            }
        }
    }
}

pub(super) fn frame(message: &Value) -> Vec<u8> {
    let text = message.to_string();
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let seen = &bytes[..bytes.len().min(MAX_HEADER + wanted.len())];
    seen.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    proptest! {
        #[test]
        fn messages_survive_any_cut(texts in prop::collection::vec(".{0,40}", 0..8), size in 1usize..40) {
            let messages: Vec<Value> = texts.iter().map(|text| json!({"text": text})).collect();
            let wire: Vec<u8> = messages.iter().flat_map(frame).collect();
            let mut frames = Frames::default();
            let mut seen = Vec::new();
            for piece in wire.chunks(size) {
                frames.push(piece);
                while let Some(message) = frames.next().unwrap() {
                    seen.push(message);
                }
            }
            prop_assert_eq!(seen, messages);
        }

        #[test]
        fn nothing_that_comes_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let mut frames = Frames::default();
            frames.push(&bytes);
            while let Ok(Some(_)) = frames.next() {}
        }
    }

    #[test]
    fn what_never_ends_is_given_up() {
        let mut frames = Frames::default();
        frames.push(&vec![b'x'; MAX_HEADER + 1]);
        assert_eq!(frames.next(), Err(NotAFrame));
        let mut frames = Frames::default();
        frames.push(b"Content-Length: 99999999999\r\n\r\n");
        assert_eq!(frames.next(), Err(NotAFrame));
        let mut frames = Frames::default();
        frames.push(b"Content-Length: 3\r\n\r\nxyzContent-Length: 2\r\nX: y\r\n\r\n{}");
        assert_eq!(frames.next(), Ok(Some(json!({}))));
    }
}
