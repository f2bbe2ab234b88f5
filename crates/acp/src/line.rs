//! Reading lines from somebody who may not know what a line is.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

#[cfg(test)]
mod tests;

/// No line is longer than this. A picture of some megabytes fits; what does not fit is passed over, not kept.
pub const MAX_LINE: usize = 32 << 20;

/// One line of another program's output.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Without its end.
    Whole(Vec<u8>),
    /// It was too long, and is gone.
    TooLong { bytes: u64 },
}

/// Splits a stream into lines, in bounded memory whatever comes.
pub struct Lines<R> {
    reader: BufReader<R>,
    max: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(reader: R) -> Self {
        Self::with_max(reader, MAX_LINE)
    }

    pub fn with_max(reader: R, max: usize) -> Self {
        Self { reader: BufReader::with_capacity(64 * 1024, reader), max }
    }

    /// The next line; none at the end. A last line without its end counts. Not cancel safe: it belongs into a task
    /// of its own.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let mut dropped = 0u64;
        loop {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(match (line.is_empty(), dropped) {
                    (true, 0) => None,
                    (_, 0) => Some(Line::Whole(line)),
                    (_, bytes) => Some(Line::TooLong { bytes }),
                });
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let piece = &chunk[..end.unwrap_or(chunk.len())];
            if dropped > 0 {
                dropped += piece.len() as u64;
            } else if line.len() + piece.len() > self.max {
                dropped = (line.len() + piece.len()) as u64;
                line = Vec::new();
            } else {
                line.extend_from_slice(piece);
            }
            let used = end.map_or(chunk.len(), |end| end + 1);
            self.reader.consume(used);
            if end.is_some() {
                if dropped > 0 {
                    return Ok(Some(Line::TooLong { bytes: dropped }));
                }
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(Some(Line::Whole(line)));
            }
        }
    }
}
