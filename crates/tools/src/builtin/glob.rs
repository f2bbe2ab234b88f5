//! `glob`: files by name.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::paths::{self, Names, OneOrMany, base, split_pattern};
use crate::report::{counted, one_line};
use crate::walk::{Filter, Walk, Walked, blocking};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const DEFAULT_LIMIT: usize = 200;
const MAX_LIMIT: usize = 2000;

pub(crate) struct Glob;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: OneOrMany,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    ignored: bool,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
}

#[async_trait]
impl Tool for Glob {
    fn name(&self) -> &str {
        "glob"
    }

    fn description(&self) -> &str {
        "Find files by name: `src/**/*.rs`, `*.{ts,tsx}` at any depth. Leaves out what is hidden or ignored."
    }

    fn schema(&self) -> Value {
        let flag = json!({"type": "boolean"});
        json!({
            "type": "object",
            "properties": {
                "pattern": paths::schema("`!…` takes away"),
                "path": {"type": "string", "description": "folder to start in"},
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
        format!("glob {}", paths::titled(input, "pattern"))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let path = input.get("path").and_then(Value::as_str).unwrap_or(".");
        let patterns = paths::argument(input, "pattern");
        let wanted = patterns.iter().filter(|pattern| !pattern.starts_with('!'));
        let mut paths: Vec<_> =
            wanted.map(|pattern| context.path(path).join(split_pattern(pattern).0)).collect();
        if paths.is_empty() {
            paths.push(context.path(path));
        }
        vec![Action::Read { paths }]
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let folder = input.path.as_deref().unwrap_or(".");
        let patterns = input.pattern.as_slice();
        let unwanted = patterns.iter().filter(|pattern| pattern.starts_with('!'));
        let wanted = patterns.iter().filter(|pattern| !pattern.starts_with('!'));
        let mut walks = Vec::new();
        for pattern in wanted {
            let (start, rest) = split_pattern(pattern);
            let start = if folder == "." { start.to_owned() } else { format!("{folder}/{start}") };
            let filter: Vec<String> = unwanted.clone().cloned().chain([rest.to_owned()]).collect();
            let walk = Walk::new(base(context, &start)?).filtered(Filter::new(&filter)?);
            walks.push(walk.with(input.hidden, input.ignored));
        }
        if walks.is_empty() {
            let filter: Vec<String> = unwanted.cloned().collect();
            walks.push(
                Walk::new(base(context, folder)?)
                    .filtered(Filter::new(&filter)?)
                    .with(input.hidden, input.ignored),
            );
        }
        let found = blocking(move |stop| {
            let mut all = Walked::default();
            for walk in &walks {
                let found = walk.files(stop);
                all.files.extend(found.files);
                all.unreadable += found.unreadable;
            }
            if walks.len() > 1 {
                all.files.sort_unstable();
                all.files.dedup();
            }
            all
        })
        .await?;
        Ok(told(&found, &input, &Names::of(context)))
    }
}

fn told(found: &Walked, input: &Input, names: &Names) -> ToolOutput {
    let total = found.files.len();
    let limit = input.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
    let mut text = String::new();
    let page = found.files.iter().skip(input.offset).take(limit);
    let shown = page.clone().count();
    for path in page {
        text.push_str(&one_line(&names.name(path)));
        text.push('\n');
    }
    let end = input.offset + shown;
    if total == 0 {
        text.push_str("no files\n");
        if !(input.hidden && input.ignored) {
            text.push_str("(hidden and ignored files only with `hidden` and `ignored`)\n");
        }
    } else if end < total {
        text.push_str(&format!("… {} of {total}: go on with offset {end}\n", end));
    } else if shown == 0 {
        text.push_str(&format!("there are only {total}\n"));
    }
    if found.unreadable > 0 {
        text.push_str(&format!("({} could not be read)\n", counted(found.unreadable, "place")));
    }
    ToolOutput::new(text, counted(total, "file"))
}
