//! Lines of a log, forwards and backwards, in bounded memory whatever a line's length.

use std::fs::File;
use std::io::{self, BufRead};
use std::ops::Range;
use std::sync::Arc;

use crate::files::read_at_most;
use crate::record::MAX_RECORD;

const BLOCK: usize = 256 << 10;

/// A whole line, with its line break in the file.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) offset: u64,
    /// With its line break.
    pub(crate) bytes: u64,
    /// Without its line break; none when it is longer than a record may be.
    pub(crate) text: Option<&'a [u8]>,
}

/// Reads lines forwards. At the end of the file it says so, and goes on when asked again after the file has grown: a
/// last line that is not finished yet is not given out.
pub(crate) struct Lines {
    file: Arc<File>,
    /// Where in the file `buffer[start]` lies.
    offset: u64,
    buffer: Vec<u8>,
    start: usize,
    /// The part of the buffer that was searched for a line break.
    searched: usize,
    /// Nothing at or after this place is read.
    end: u64,
}

impl Lines {
    pub(crate) fn new(file: Arc<File>, offset: u64) -> Self {
        Self { file, offset, buffer: Vec::new(), start: 0, searched: 0, end: u64::MAX }
    }

    /// Only the lines that end at or before `end`.
    pub(crate) fn until(mut self, end: u64) -> Self {
        self.end = end;
        self
    }

    /// Where the next line begins.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            if let Some(at) = newline(&self.buffer[self.searched..]) {
                let (from, to) = (self.start, self.searched + at);
                let offset = self.offset;
                self.start = to + 1;
                self.searched = to + 1;
                self.offset += (to + 1 - from) as u64;
                let text = (to + 1 - from <= MAX_RECORD).then_some(&self.buffer[from..to]);
                return Ok(Some(Line { offset, bytes: (to + 1 - from) as u64, text }));
            }
            self.searched = self.buffer.len();
            if self.buffer.len() - self.start > MAX_RECORD {
                return self.skip_long();
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Reads one block more; false at the end of the file.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        let held = self.buffer.len();
        let from = self.offset + held as u64;
        // A short log is not worth a whole block of memory.
        let end = self.end.min(self.file.metadata()?.len());
        let want = usize::try_from(end.saturating_sub(from)).unwrap_or(BLOCK).min(BLOCK);
        self.buffer.resize(held + want, 0);
        let got = read_at_most(&self.file, &mut self.buffer[held..], from)?;
        self.buffer.truncate(held + got);
        if got == 0 {
            // An unfinished line may be cut off and written anew, so it is read again next time.
            self.buffer.clear();
            self.searched = 0;
        }
        Ok(got > 0)
    }

    /// Finds the end of a line that is too long without keeping it.
    fn skip_long(&mut self) -> io::Result<Option<Line<'_>>> {
        let offset = self.offset;
        let mut at = offset + (self.buffer.len() - self.start) as u64;
        self.buffer.clear();
        self.buffer.shrink_to(BLOCK);
        (self.start, self.searched) = (0, 0);
        let mut block = vec![0; BLOCK];
        loop {
            let want = usize::try_from(self.end.saturating_sub(at)).unwrap_or(BLOCK).min(BLOCK);
            let got = read_at_most(&self.file, &mut block[..want], at)?;
            if got == 0 {
                return Ok(None);
            }
            if let Some(found) = newline(&block[..got]) {
                self.offset = at + found as u64 + 1;
                return Ok(Some(Line { offset, bytes: self.offset - offset, text: None }));
            }
            at += got as u64;
        }
    }
}

/// The standard library's search for a byte in a slice is far faster than a loop, and is reached this way.
fn newline(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    let passed = rest.skip_until(b'\n').ok()?;
    (passed > 0 && bytes[passed - 1] == b'\n').then(|| passed - 1)
}

/// Where lines are, from the end of a file backwards.
pub(crate) struct BackLines<'a> {
    file: &'a File,
    end: u64,
    block: Vec<u8>,
    block_at: u64,
}

impl<'a> BackLines<'a> {
    /// Begins with the line that ends at `end`, which need not have a line break.
    pub(crate) fn new(file: &'a File, end: u64) -> Self {
        Self { file, end, block: Vec::new(), block_at: end }
    }

    /// The line before, and whether it ends in a line break (which is inside the range).
    pub(crate) fn next(&mut self) -> io::Result<Option<(Range<u64>, bool)>> {
        let Some(last) = self.end.checked_sub(1) else { return Ok(None) };
        let whole = self.byte(last)? == b'\n';
        let mut before = last;
        let start = loop {
            if before == 0 {
                break 0;
            }
            self.byte(before - 1)?;
            let held = (before - self.block_at) as usize;
            match self.block[..held].iter().rposition(|b| *b == b'\n') {
                Some(at) => break self.block_at + at as u64 + 1,
                None => before = self.block_at,
            }
        };
        let range = start..self.end;
        self.end = start;
        Ok(Some((range, whole)))
    }

    /// One byte, with the block before it.
    fn byte(&mut self, at: u64) -> io::Result<u8> {
        if at < self.block_at || at >= self.block_at + self.block.len() as u64 {
            let start = (at + 1).saturating_sub(64 << 10);
            self.block.resize((at + 1 - start) as usize, 0);
            let got = read_at_most(self.file, &mut self.block, start)?;
            if got < self.block.len() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.block_at = start;
        }
        Ok(self.block[(at - self.block_at) as usize])
    }
}

/// Reads a range that is known to be no longer than a record.
pub(crate) fn read_range<'b>(
    file: &File,
    range: Range<u64>,
    buffer: &'b mut Vec<u8>,
) -> io::Result<&'b [u8]> {
    buffer.resize((range.end - range.start) as usize, 0);
    let got = read_at_most(file, buffer, range.start)?;
    buffer.truncate(got);
    Ok(buffer)
}

#[cfg(test)]
mod tests;
