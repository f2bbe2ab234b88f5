//! Lines of a file, block by block, so that any part of a file of any size is reached in bounded memory.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use project::{ByteRange, FileRead, HostError, Stamp};

use crate::text::Decoder;
use crate::{ToolContext, ToolError};

/// A line longer than this is cut: minified code helps nobody.
const MAX_LINE: usize = 2000;
const FIRST_BLOCK: usize = 64 * 1024;
/// Later ones are larger: who reads on may have far to go.
const BLOCK: usize = 1024 * 1024;

/// Where the bytes come from.
pub(crate) enum Source {
    /// A file of the project, through the host.
    File(PathBuf),
    /// An output that was put aside, in the session's own folder.
    Spooled(PathBuf),
    /// What was made of a file that is no text itself.
    Made { text: Arc<str>, stamp: Stamp },
}

impl Source {
    pub(crate) async fn read(&self, context: &ToolContext, range: ByteRange) -> Result<FileRead, ToolError> {
        match self {
            Self::File(path) => Ok(context.host.read(path, range).await?),
            Self::Made { text, stamp } => {
                let start = usize::try_from(range.offset).unwrap_or(usize::MAX).min(text.len());
                let end = start.saturating_add(range.limit).min(text.len());
                let bytes = text.as_bytes()[start..end].to_vec();
                Ok(FileRead { bytes, total_len: stamp.len, modified: stamp.modified })
            }
            Self::Spooled(path) => {
                let path = path.clone();
                let read = tokio::task::spawn_blocking(move || read_spooled(&path, range)).await;
                let read = read.map_err(|error| ToolError(error.to_string()))?;
                read.map_err(|error| ToolError(format!("that output is gone: {error}")))
            }
        }
    }
}

fn read_spooled(path: &std::path::Path, range: ByteRange) -> std::io::Result<FileRead> {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::open(path)?;
    let metadata = file.metadata()?;
    let mut bytes = vec![0; range.limit];
    let length = file.read_at(&mut bytes, range.offset)?;
    bytes.truncate(length);
    Ok(FileRead { bytes, total_len: metadata.len(), modified: metadata.modified().ok() })
}

/// Which lines are wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// From 1 on; below 0 counted from the end.
    pub(crate) first: i64,
    pub(crate) lines: usize,
    /// Of text.
    pub(crate) bytes: usize,
}

/// Some lines of a file, numbered, and what is known of the rest.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) text: String,
    /// The number of the first line.
    pub(crate) first: u64,
    pub(crate) lines: u64,
    /// All lines of the file, when its end was reached.
    pub(crate) total: Option<u64>,
    /// By what a later change is noticed; absent when it changed while it was read.
    pub(crate) stamp: Option<Stamp>,
    pub(crate) bytes: u64,
}

impl Page {
    /// The first block is already there: it told what kind of file it is.
    pub(crate) async fn read(
        context: &ToolContext,
        source: &Source,
        start: FileRead,
        wanted: Wanted,
    ) -> Result<Self, ToolError> {
        let stamp = start.stamp();
        let mut decoder = Decoder::new(&start.bytes)
            .map_err(|error| ToolError(format!("{error} ({} bytes)", start.total_len)))?;
        let mut lines = Collector::new(wanted);
        let mut page = Self { stamp: Some(stamp), bytes: start.total_len, ..Self::default() };
        let mut block = start.bytes;
        let mut offset = 0;
        while !block.is_empty() {
            offset += block.len() as u64;
            if lines.push(&decoder.push(block)) {
                return Ok(lines.finish(page, false));
            }
            let next = source.read(context, ByteRange { offset, limit: BLOCK }).await?;
            if next.stamp() != stamp {
                page.stamp = None;
            }
            block = next.bytes;
        }
        Ok(lines.finish(page, true))
    }
}

/// How much is read to see what a file is.
pub(crate) fn first_block() -> ByteRange {
    ByteRange::first(FIRST_BLOCK)
}

struct Collector {
    wanted: Wanted,
    /// The start of a line that goes on in the next block; never more than is shown.
    open: Vec<u8>,
    is_open: bool,
    /// Lines that ended.
    seen: u64,
    kept: VecDeque<String>,
    kept_bytes: usize,
}

impl Collector {
    fn new(wanted: Wanted) -> Self {
        Self { wanted, open: Vec::new(), is_open: false, seen: 0, kept: VecDeque::new(), kept_bytes: 0 }
    }

    /// Takes the next piece; true when the page is full.
    fn push(&mut self, piece: &[u8]) -> bool {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            if self.is_wanted() {
                let room = (MAX_LINE * 4 + 8).saturating_sub(self.open.len());
                self.open.extend_from_slice(&part[..part.len().min(room)]);
            }
            self.is_open = !part.ends_with(b"\n");
            if !self.is_open && self.end_line() {
                return true;
            }
        }
        false
    }

    fn is_wanted(&self) -> bool {
        self.wanted.first < 0 || self.seen + 1 >= self.wanted.first.unsigned_abs()
    }

    /// True when there is no room for this line.
    fn end_line(&mut self) -> bool {
        self.is_open = false;
        let wanted = self.is_wanted();
        self.seen += 1;
        if !wanted {
            return false;
        }
        let line = shown(&std::mem::take(&mut self.open));
        if self.wanted.first > 0
            && (self.kept.len() == self.wanted.lines || self.kept_bytes >= self.wanted.bytes)
        {
            return true;
        }
        self.kept_bytes += line.len();
        self.kept.push_back(line);
        if self.wanted.first < 0 {
            // Only the last ones are wanted, but which they are is known at the end.
            let most = usize::try_from(self.wanted.first.unsigned_abs()).unwrap_or(usize::MAX);
            while self.kept.len() > most || self.kept_bytes > self.wanted.bytes && self.kept.len() > 1 {
                self.kept_bytes -= self.kept.pop_front().map_or(0, |line| line.len());
            }
        }
        false
    }

    fn finish(mut self, page: Page, is_whole: bool) -> Page {
        let mut full = !is_whole;
        if is_whole && self.is_open {
            full = self.end_line();
        }
        let mut first = self.wanted.first.unsigned_abs();
        if self.wanted.first < 0 {
            first = self.seen + 1 - self.kept.len() as u64;
            full = self.kept.len() > self.wanted.lines;
            self.kept.truncate(self.wanted.lines);
        }
        let mut text = String::new();
        for (at, line) in self.kept.iter().enumerate() {
            text.push_str(&format!("{}\t{line}\n", first + at as u64));
        }
        let total = (!full).then_some(self.seen);
        Page { text, first, lines: self.kept.len() as u64, total, ..page }
    }
}

fn shown(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line);
    let mut rest = line.trim_end_matches(['\n', '\r']).chars();
    let mut text: String = rest.by_ref().take(MAX_LINE).collect();
    if rest.next().is_some() {
        text.push_str(" …[line cut]");
    }
    text
}

/// Where an output that was put aside lies. Nothing but a plain name leads there.
pub(crate) fn spooled(context: &ToolContext, name: &str) -> Result<PathBuf, HostError> {
    let is_plain =
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    if name.is_empty() || name.starts_with('.') || !is_plain {
        return Err(HostError::Unusable { reason: format!("there is no output `{name}`") });
    }
    Ok(context.desk.outputs().join(name))
}
