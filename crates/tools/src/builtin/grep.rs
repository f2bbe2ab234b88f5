//! `grep`: what files say.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::grep::{FileHits, Hits, LineKind, Meaning, Search, Want, matcher};
use crate::paths::{self, LineRange, Names, OneOrMany, base, split};
use crate::report::{counted, one_line};
use crate::walk::{Filter, Walk, blocking, types};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1000;
const MAX_CONTEXT: usize = 20;
/// What one answer may hold.
const MAX_BYTES: usize = 48 * 1024;

pub(crate) struct Grep;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    #[serde(default)]
    path: OneOrMany,
    #[serde(default)]
    glob: OneOrMany,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    output: Output,
    #[serde(default)]
    context: usize,
    #[serde(default)]
    lines: Option<String>,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    multiline: bool,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    ignored: bool,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
}

#[derive(Deserialize, Default, Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Output {
    #[default]
    Lines,
    Files,
    Count,
}

#[async_trait]
impl Tool for Grep {
    fn name(&self) -> &str {
        "grep"
    }

    fn description(&self) -> &str {
        "Search files with a regular expression (ripgrep's). Leaves out what is hidden, ignored or binary."
    }

    fn schema(&self) -> Value {
        let flag = json!({"type": "boolean"});
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string"},
                "path": paths::schema("files, folders, globs; the project if absent"),
                "glob": paths::schema("only these: `*.rs`, `!tests/**`"),
                "type": {"type": "string", "description": "rust, py, ts…"},
                "output": {"type": "string", "enum": ["lines", "files", "count"]},
                "context": {"type": "integer", "minimum": 0},
                "lines": {"type": "string", "description": "only within `10-40`"},
                "literal": flag,
                "ignore_case": flag,
                "multiline": flag,
                "hidden": flag,
                "ignored": flag,
                "limit": {"type": "integer", "minimum": 1},
                "offset": {"type": "integer", "minimum": 0}
            },
            "required": ["pattern"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn group(&self) -> Group {
        Group::Search
    }

    fn is_core(&self) -> bool {
        true
    }

    fn title(&self, input: &Value) -> String {
        let pattern = input.get("pattern").and_then(Value::as_str).unwrap_or_default();
        let pattern = one_line(&pattern.chars().take(60).collect::<String>());
        match paths::titled(input, "path").as_str() {
            "." => format!("grep {pattern}"),
            path => format!("grep {pattern} in {path}"),
        }
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        paths::look(context, &paths::argument(input, "path"))
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        if input.pattern.is_empty() {
            return Err(ToolError("the pattern is empty".to_owned()));
        }
        // Who writes a line break means more than one line.
        let multiline = input.multiline || input.pattern.contains("\\n") || input.pattern.contains('\n');
        let meaning = Meaning {
            literal: input.literal,
            ignore_case: input.ignore_case,
            multiline,
            dot_all: input.multiline,
        };
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        let search = Search {
            matcher: matcher(&input.pattern, meaning)?,
            multiline,
            want: match input.output {
                Output::Lines => Want::Lines,
                Output::Files => Want::Files,
                Output::Count => Want::Counts,
            },
            context: input.context.min(MAX_CONTEXT),
            lines: LineRange::parse(input.lines.as_deref())?,
            keep: input.offset.saturating_add(limit),
        };
        let walks = walks(context, &input)?;
        let hits = blocking(move |stop| search.run(&walks, stop)).await?;
        Ok(told(&hits, &input, limit, &Names::of(context)))
    }
}

fn walks(context: &ToolContext, input: &Input) -> Result<Vec<Walk>, ToolError> {
    let here = [".".to_owned()];
    let paths = if input.path.as_slice().is_empty() { &here } else { input.path.as_slice() };
    let types = input.kind.as_deref().map(types).transpose()?;
    let mut walks = Vec::new();
    for path in paths {
        let (start, pattern) = split(context, path);
        let patterns: Vec<String> =
            input.glob.as_slice().iter().cloned().chain(pattern.map(str::to_owned)).collect();
        let filter = Filter::new(&patterns)?;
        let walk = Walk::new(base(context, start)?).filtered(filter).of_types(types.clone());
        walks.push(walk.with(input.hidden, input.ignored));
    }
    Ok(walks)
}

fn told(hits: &Hits, input: &Input, limit: usize, names: &Names) -> ToolOutput {
    let mut page = Page { skip: input.offset, room: limit, text: String::new(), shown: 0 };
    for (path, found) in &hits.files {
        let name = one_line(&names.name(path));
        match input.output {
            Output::Lines => page.lines(&name, found, input.context > 0),
            Output::Files => page.line(&name),
            Output::Count => page.line(&format!("{name}: {}", found.count)),
        }
        if page.is_full() {
            break;
        }
    }
    let total = if input.output == Output::Lines { hits.count } else { hits.file_count };
    let end = input.offset + page.shown;
    let mut text = page.text;
    if total == 0 {
        text.push_str("no matches\n");
        if !(input.hidden && input.ignored) {
            text.push_str("(hidden and ignored files only with `hidden` and `ignored`)\n");
        }
    } else if end < total {
        text.push_str(&format!("… {end} of {total}: go on with offset {end}\n"));
    } else if page.shown == 0 {
        text.push_str(&format!("there are only {total}\n"));
    }
    if hits.unreadable > 0 {
        text.push_str(&format!("({} could not be searched)\n", counted(hits.unreadable, "place")));
    }
    if hits.binary > 0 && total == 0 {
        text.push_str(&format!("({} left out)\n", counted(hits.binary, "binary file")));
    }
    let files = counted(hits.file_count, "file");
    let summary = match input.output {
        Output::Lines | Output::Count => format!("{} in {files}", counted(hits.count, "match")),
        Output::Files => files,
    };
    ToolOutput::new(text, summary)
}

/// The part of the answer that is shown.
struct Page {
    skip: usize,
    room: usize,
    text: String,
    /// Matches, or where only files are wanted, files.
    shown: usize,
}

impl Page {
    fn is_full(&self) -> bool {
        self.shown >= self.room || self.text.len() >= MAX_BYTES
    }

    fn line(&mut self, line: &str) {
        if self.skip > 0 {
            self.skip -= 1;
        } else if !self.is_full() {
            self.text.push_str(line);
            self.text.push('\n');
            self.shown += 1;
        }
    }

    fn lines(&mut self, name: &str, found: &FileHits, with_context: bool) {
        if self.skip >= found.matches {
            self.skip -= found.matches;
            return;
        }
        self.text.push_str(&format!("{name}\n"));
        let mut last = None;
        for line in &found.lines {
            if line.kind == LineKind::Match && self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            // A match that goes on is shown whole, one that was passed over not at all.
            if self.is_full() && line.kind != LineKind::Rest || self.skip > 0 {
                continue;
            }
            if with_context && last.is_some_and(|last| last + 1 < line.number) {
                self.text.push_str("--\n");
            }
            let mark = if line.kind == LineKind::Around { '-' } else { ':' };
            self.text.push_str(&format!("{}{mark}{}\n", line.number, line.text));
            self.shown += usize::from(line.kind == LineKind::Match);
            last = Some(line.number);
        }
    }
}
