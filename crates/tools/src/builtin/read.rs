//! `read`: lines of text files, numbered; pictures as pictures; what a PDF says.

use async_trait::async_trait;
use guard::Action;
use project::{ByteRange, MAX_READ};
use protocol::{FileRead, Image, Location, ToolKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::changes::canonical;
use crate::page::{Page, Source, Wanted, first_block, spooled};
use crate::paths::{self, OneOrMany, expand};
use crate::pdf;
use crate::picture;
use crate::report::one_line;
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const DEFAULT_LINES: usize = 2000;
/// What one call may answer, so that a long file does not fill the window; the rest is a call away.
const MAX_BYTES: usize = 48 * 1024;
const MAX_FILES: usize = 50;
/// In front of the name of an output that was put aside.
const OUTPUT: &str = "output:";

pub(crate) struct Read;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: OneOrMany,
    #[serde(default)]
    offset: Option<i64>,
    #[serde(default)]
    limit: Option<usize>,
}

#[async_trait]
impl Tool for Read {
    fn name(&self) -> &str {
        "read"
    }

    fn description(&self) -> &str {
        "Read files as numbered lines, or pictures. Long files come in parts: go on with `offset`."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": paths::schema("file, or list of files and globs; `output:…` for output that was cut"),
                "offset": {"type": "integer", "description": "first line; -20: the last 20"},
                "limit": {"type": "integer", "minimum": 1, "description": "lines, 2000 if absent"}
            },
            "required": ["path"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn group(&self) -> Group {
        Group::Files
    }

    fn is_core(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        format!("read {}", paths::titled(input, "path"))
    }

    fn locations(&self, input: &Value) -> Vec<Location> {
        let line = input.get("offset").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
        let paths = paths::argument(input, "path").into_iter().filter(|path| !path.starts_with(OUTPUT));
        paths.map(|path| Location { path, line }).collect()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let mut paths = paths::argument(input, "path");
        paths.retain(|path| !path.starts_with(OUTPUT));
        if paths.is_empty() { vec![Action::Inward] } else { paths::look(context, &paths) }
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let files = expand(context, input.path.as_slice(), MAX_FILES).await?;
        let first = input.offset.filter(|offset| *offset != 0).unwrap_or(1);
        let lines = input.limit.unwrap_or(DEFAULT_LINES).clamp(1, DEFAULT_LINES);
        if let ([path], 0) = (files.paths.as_slice(), files.more) {
            return read(context, path, Wanted { first, lines, bytes: MAX_BYTES }).await;
        }
        let mut all = ToolOutput::default();
        let (mut done, mut failed) = (0, 0);
        for path in &files.paths {
            let Some(bytes) = MAX_BYTES.checked_sub(all.text.len()).filter(|room| *room > 0) else { break };
            done += 1;
            all.text.push_str(&format!("==> {} <==\n", one_line(path)));
            match read(context, path, Wanted { first, lines, bytes }).await {
                Ok(one) => {
                    all.text.push_str(&one.text);
                    all.images.extend(one.images);
                    all.read.extend(one.read);
                }
                // One that can not be read does not take the others with it.
                Err(error) => {
                    failed += 1;
                    all.text.push_str(&format!("error: {error}\n"));
                }
            }
        }
        if done == failed {
            return Err(ToolError(all.text));
        }
        let left = files.paths.len() - done + files.more;
        if left > 0 {
            let names: Vec<String> = files.paths[done..].iter().take(20).map(|path| one_line(path)).collect();
            all.text.push_str(&format!("… {left} more files were not read: {}\n", names.join(", ")));
        }
        all.summary = format!("{} files", done - failed);
        Ok(all)
    }
}

async fn read(context: &ToolContext, path: &str, wanted: Wanted) -> Result<ToolOutput, ToolError> {
    let source = match path.strip_prefix(OUTPUT) {
        Some(name) => Source::Spooled(spooled(context, name)?),
        None => Source::File(context.path(path)),
    };
    let start = source.read(context, first_block()).await?;
    let total = start.total_len;
    if let Some(media_type) = Image::media_type_of(&start.bytes) {
        let picture = picture::load(context, &source, media_type, total).await;
        let picture = picture.map_err(|error| ToolError(format!("`{path}`: {error}")))?;
        let text = format!("{media_type}, {total} bytes: see the picture\n");
        let read = vec![FileRead { path: path.to_owned(), bytes: total, call: None }];
        return Ok(ToolOutput { images: vec![picture], read, ..ToolOutput::new(text, media_type) });
    }
    if start.bytes.starts_with(b"%PDF-") {
        let text = pdf_text(context, &source, total).await;
        let text = text.map_err(|why| ToolError(format!("`{path}` is a PDF ({total} bytes), and {why}")))?;
        let made = Source::Made { text: text.into(), stamp: start.stamp() };
        let start = made.read(context, first_block()).await?;
        // Not seen as a file is that is read: what would be written back is not what it holds.
        return told(path, Page::read(context, &made, start, wanted).await?);
    }
    let page = Page::read(context, &source, start, wanted).await;
    let page = page.map_err(|error| ToolError(format!("`{path}`: {error}")))?;
    if let (Source::File(_), Some(stamp), Ok(place)) = (&source, page.stamp, canonical(context, path)) {
        context.state.saw(&place, stamp);
    }
    told(path, page)
}

async fn pdf_text(context: &ToolContext, source: &Source, total: u64) -> Result<String, ToolError> {
    if total > MAX_READ as u64 {
        return Err(ToolError(format!("too large to look into (at most {MAX_READ}); try `pdftotext`")));
    }
    let bytes = source.read(context, ByteRange::first(MAX_READ)).await?.bytes;
    let text = tokio::task::spawn_blocking(move || pdf::text(&bytes)).await;
    let text = text.map_err(|error| ToolError(error.to_string()))?;
    text.map_err(|error| ToolError(error.to_string()))
}

fn told(path: &str, mut page: Page) -> Result<ToolOutput, ToolError> {
    let last = page.first + page.lines.saturating_sub(1);
    let summary = match (page.lines, page.total) {
        (0, Some(total)) if total > 0 => {
            return Err(ToolError(format!("`{path}` has only {total} lines")));
        }
        (0, _) if page.first > 1 => return Err(ToolError(format!("`{path}` has only 0 lines"))),
        (0, _) => {
            page.text.push_str("(the file is empty)\n");
            "empty".to_owned()
        }
        (1, _) if page.first == 1 => "1 line".to_owned(),
        _ => format!("lines {}-{last}", page.first),
    };
    if page.total.is_none() {
        page.text.push_str(&format!("… more: go on with offset {}\n", last + 1));
    }
    if page.stamp.is_none() {
        page.text.push_str("(the file changed while it was read)\n");
    }
    let read = if path.starts_with(OUTPUT) {
        vec![]
    } else {
        vec![FileRead { path: path.to_owned(), bytes: page.bytes, call: None }]
    };
    Ok(ToolOutput { read, ..ToolOutput::new(page.text, summary) })
}
