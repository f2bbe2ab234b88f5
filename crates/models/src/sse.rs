//! Server-sent events: bytes in, frames out.
//!
//! Ours, because providers do what the specification forbids (no blank line at the end, any line ending), because a
//! frame must not grow without bound, and because most frames lie whole inside one read and need no copy.

use std::borrow::Cow;

/// The most that one frame may hold, unless told otherwise.
pub const FRAME_LIMIT: usize = 16 << 20;

/// One event: its name, empty if it has none, and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame<'a> {
    pub event: Cow<'a, str>,
    pub data: Cow<'a, str>,
}

/// Why decoding ended: a frame over the limit, or what the receiver of frames said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SseError<E> {
    FrameTooLarge { limit: usize },
    Receiver(E),
}

/// Decodes a stream in whatever pieces it comes.
///
/// Works on bytes and decodes UTF-8 a frame at a time, so a character may be split anywhere; bytes that are not UTF-8
/// are replaced. Buffers are kept from frame to frame.
#[derive(Debug)]
pub struct SseDecoder {
    /// A line whose end has not come yet.
    line: Vec<u8>,
    /// The data of a frame that did not come whole in one read, its lines joined.
    data: Vec<u8>,
    /// Whether the frame has a data line at all: an empty one counts.
    has_data: bool,
    event: Vec<u8>,
    /// The last line ended in CR, so an LF that follows belongs to it.
    after_cr: bool,
    /// Only the first line may begin with a byte order mark.
    first_line: bool,
    limit: usize,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::new(FRAME_LIMIT)
    }
}

impl SseDecoder {
    pub fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            event: Vec::new(),
            after_cr: false,
            first_line: true,
            limit,
        }
    }

    /// Takes what one read brought and hands on each frame that it completes.
    pub fn push<E>(
        &mut self,
        bytes: &[u8],
        mut receive: impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), SseError<E>> {
        // The data of the current frame while it is one line inside `bytes`: the usual case, which copies nothing.
        let mut borrowed: Option<&[u8]> = None;
        let mut rest = bytes;
        if self.after_cr && rest.first() == Some(&b'\n') {
            rest = &rest[1..];
        }
        if !bytes.is_empty() {
            self.after_cr = false;
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, ending) = rest.split_at(end);
            rest = match ending {
                [b'\r', b'\n', rest @ ..] => rest,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, rest @ ..] => rest,
                [] => &[],
            };
            if !self.line.is_empty() {
                self.extend_line(line)?;
                let mut whole = std::mem::take(&mut self.line);
                let done = self.line(&whole, None, &mut borrowed, &mut receive);
                whole.clear();
                self.line = whole;
                done?;
                continue;
            }
            self.line(line, Some(line), &mut borrowed, &mut receive)?;
        }
        if let Some(data) = borrowed {
            self.data.extend_from_slice(data);
        }
        self.extend_line(rest)
    }

    /// The stream is at its end: hands on the last frame, even if the blank line after it never came.
    pub fn finish<E>(
        &mut self,
        mut receive: impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), SseError<E>> {
        let mut borrowed = None;
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.line(&line, None, &mut borrowed, &mut receive)?;
        }
        self.line(b"", None, &mut borrowed, &mut receive)
    }

    fn extend_line<E>(&mut self, bytes: &[u8]) -> Result<(), SseError<E>> {
        self.check(self.line.len() + bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn check<E>(&self, size: usize) -> Result<(), SseError<E>> {
        if size > self.limit { Err(SseError::FrameTooLarge { limit: self.limit }) } else { Ok(()) }
    }

    /// One line without its end. `stays` is the same line where it outlives this call.
    fn line<'b, E>(
        &mut self,
        line: &[u8],
        stays: Option<&'b [u8]>,
        borrowed: &mut Option<&'b [u8]>,
        receive: &mut impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), SseError<E>> {
        self.check(line.len())?;
        let line = if self.first_line { line.strip_prefix(BOM).unwrap_or(line) } else { line };
        self.first_line = false;
        if line.is_empty() {
            return self.dispatch(borrowed, receive);
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if !self.has_data
                    && let Some(stays) = stays
                {
                    self.has_data = true;
                    *borrowed = Some(&stays[stays.len() - value.len()..]);
                    return Ok(());
                }
                if let Some(first) = borrowed.take() {
                    self.data.extend_from_slice(first);
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.check(self.data.len() + value.len())?;
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.event.clear();
                self.event.extend_from_slice(value);
            }
            // Comments have an empty name; ids and retry times are for browsers.
            _ => {}
        }
        Ok(())
    }

    fn dispatch<E>(
        &mut self,
        borrowed: &mut Option<&[u8]>,
        receive: &mut impl FnMut(Frame<'_>) -> Result<(), E>,
    ) -> Result<(), SseError<E>> {
        let mut done = Ok(());
        if self.has_data {
            let data = borrowed.take().unwrap_or(&self.data);
            let frame =
                Frame { event: String::from_utf8_lossy(&self.event), data: String::from_utf8_lossy(data) };
            done = receive(frame).map_err(SseError::Receiver);
        }
        self.has_data = false;
        self.event.clear();
        if self.data.capacity() > KEPT {
            self.data = Vec::new();
        }
        self.data.clear();
        done
    }
}

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// A buffer that one huge frame made large is given back.
const KEPT: usize = 1 << 20;

#[cfg(test)]
mod tests;
