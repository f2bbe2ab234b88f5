//! `read`: lines of a text file, numbered.

use std::path::Path;

use async_trait::async_trait;
use project::{ByteRange, Host};
use protocol::{FileRead, Location, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{need_to_see, path_argument};
use crate::{Need, Tool, ToolContext, ToolError, ToolOutput};

const DEFAULT_LINES: u64 = 2000;
/// What one call may answer, so that a long file does not fill the window; the rest is a call away.
const MAX_BYTES: usize = 48 * 1024;
/// A line longer than this is cut: minified code helps nobody.
const MAX_LINE: usize = 2000;
const BLOCK: usize = 64 * 1024;

pub(crate) struct Read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: String,
    #[serde(default)]
    offset: Option<u64>,
    #[serde(default)]
    limit: Option<u64>,
}

#[async_trait]
impl Tool for Read {
    fn name(&self) -> &'static str {
        "read"
    }

    fn description(&self) -> &'static str {
        "Read a text file. Answers numbered lines. Long files come in parts: go on with `offset`."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "relative to the project, or absolute"},
                "offset": {"type": "integer", "minimum": 1, "description": "first line, from 1"},
                "limit": {"type": "integer", "minimum": 1, "description": "how many lines, 2000 if absent"}
            },
            "required": ["path"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn title(&self, input: &Value) -> String {
        format!("read {}", path_argument(input))
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        let line = input.get("offset").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
        vec![Location { path: path_argument(input).to_owned(), line }]
    }

    fn need(&self, input: &Value, context: &ToolContext) -> Need {
        need_to_see(path_argument(input), context)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let path = context.cwd.join(&input.path);
        let first = input.offset.unwrap_or(1).max(1);
        let wanted = input.limit.unwrap_or(DEFAULT_LINES).clamp(1, DEFAULT_LINES);
        let page = Page::read(context.host.as_ref(), &path, first, wanted).await?;
        page.into_output(input.path, first)
    }
}

/// Some lines of a file, and what is known of the rest.
struct Page {
    text: String,
    lines: u64,
    /// Lines before the page, when the file ended there.
    skipped: u64,
    more: bool,
    total_bytes: u64,
}

impl Page {
    /// Reads block by block, so that the end of a file of any size is reached in bounded memory.
    async fn read(host: &dyn Host, path: &Path, first: u64, wanted: u64) -> Result<Self, ToolError> {
        let mut page = Page { text: String::new(), lines: 0, skipped: 0, more: false, total_bytes: 0 };
        let mut line = Vec::new();
        let mut offset = 0;
        loop {
            let range = ByteRange { offset, limit: BLOCK };
            let block = host.read(path, range).await.map_err(|error| ToolError(error.to_string()))?;
            page.total_bytes = block.total_len;
            if offset == 0 && block.bytes.iter().take(8192).any(|byte| *byte == 0) {
                return Err(ToolError(format!(
                    "`{}` is a binary file ({} bytes)",
                    path.display(),
                    block.total_len
                )));
            }
            if block.bytes.is_empty() {
                break;
            }
            offset += block.bytes.len() as u64;
            for piece in block.bytes.split_inclusive(|byte| *byte == b'\n') {
                // Only as much of a line is kept as will be shown.
                let room = (MAX_LINE * 4 + 8).saturating_sub(line.len());
                line.extend_from_slice(&piece[..piece.len().min(room)]);
                if !piece.ends_with(b"\n") {
                    continue;
                }
                if page.add(&line, first, wanted) {
                    return Ok(page);
                }
                line.clear();
            }
        }
        if !line.is_empty() {
            page.add(&line, first, wanted);
        }
        Ok(page)
    }

    /// Takes one line; true when the page is full and there is more.
    fn add(&mut self, line: &[u8], first: u64, wanted: u64) -> bool {
        if self.skipped + 1 < first {
            self.skipped += 1;
            return false;
        }
        if self.lines == wanted || self.text.len() >= MAX_BYTES {
            self.more = true;
            return true;
        }
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        let number = first + self.lines;
        let mut shown = line.chars();
        self.text.push_str(&format!("{number}\t"));
        self.text.extend(shown.by_ref().take(MAX_LINE));
        if shown.next().is_some() {
            self.text.push_str(" …[line cut]");
        }
        self.text.push('\n');
        self.lines += 1;
        false
    }

    fn into_output(mut self, path: String, first: u64) -> Result<ToolOutput, ToolError> {
        if self.lines == 0 && first > 1 {
            return Err(ToolError(format!("`{path}` has only {} lines", self.skipped)));
        }
        let last = first + self.lines.saturating_sub(1);
        let summary = match self.lines {
            0 => "empty".to_owned(),
            1 if first == 1 => "1 line".to_owned(),
            _ => format!("lines {first}-{last}"),
        };
        if self.lines == 0 {
            self.text.push_str("(the file is empty)\n");
        }
        if self.more {
            self.text.push_str(&format!("… more: go on with offset {}\n", last + 1));
        }
        let read = vec![FileRead { path, bytes: self.total_bytes, call: None }];
        Ok(ToolOutput { text: self.text, summary, read })
    }
}
