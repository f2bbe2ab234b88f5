//! What the searcher finds, line by line.

use std::io;

use grep_matcher::Matcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::hits::{FileHits, Line, LineKind};
use super::{Search, Want};

/// A longer line is cut around its match.
const MAX_LINE: usize = 400;
/// What is shown of it before the match.
const LEAD: usize = 100;

pub(super) struct Collect<'a> {
    pub(super) search: &'a Search,
    pub(super) found: &'a mut FileHits,
}

impl Collect<'_> {
    fn has_room(&self) -> bool {
        self.search.want == Want::Lines && self.found.matches < self.search.keep
    }

    fn keep(&mut self, number: u64, bytes: &[u8], kind: LineKind) {
        let text = self.cut(bytes, kind);
        self.found.lines.push(Line { number, text, kind });
    }

    fn cut(&self, bytes: &[u8], kind: LineKind) -> String {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        if bytes.len() <= MAX_LINE {
            return String::from_utf8_lossy(bytes).into_owned();
        }
        let found =
            if kind == LineKind::Match { self.search.matcher.find(bytes).ok().flatten() } else { None };
        let from = found.map_or(0, |found| found.start().saturating_sub(LEAD));
        let to = (from + MAX_LINE).min(bytes.len());
        let text = String::from_utf8_lossy(&bytes[from..to]);
        let text = text.trim_matches('\u{fffd}');
        format!("{}{text}{}", if from > 0 { "…" } else { "" }, if to < bytes.len() { "…" } else { "" })
    }
}

impl Sink for Collect<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let range = self.search.lines;
        let first = found.line_number().unwrap_or(1);
        if first > range.last {
            return Ok(false);
        }
        if first < range.first {
            return Ok(true);
        }
        self.found.count += 1;
        if self.search.want == Want::Files {
            return Ok(false);
        }
        if self.has_room() {
            for (at, line) in found.lines().enumerate() {
                let kind = if at == 0 { LineKind::Match } else { LineKind::Rest };
                self.keep(first + at as u64, line, kind);
            }
            self.found.matches += 1;
        }
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        let number = line.line_number().unwrap_or(1);
        if self.has_room() && self.search.lines.contains(number) {
            self.keep(number, line.bytes(), LineKind::Around);
        }
        Ok(true)
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> Result<bool, io::Error> {
        self.found.is_binary = true;
        Ok(true)
    }

    fn finish(&mut self, _searcher: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        self.found.is_binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}
