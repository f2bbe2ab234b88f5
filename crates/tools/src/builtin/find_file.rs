//! `find_file`: files by what one remembers of their name.

use async_trait::async_trait;
use guard::Action;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::paths::{self, Names, base};
use crate::report::{counted, one_line};
use crate::walk::{Stop, Walk, blocking};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 200;

pub(crate) struct FindFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    query: String,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    ignored: bool,
    #[serde(default)]
    limit: Option<usize>,
}

#[async_trait]
impl Tool for FindFile {
    fn name(&self) -> &str {
        "find_file"
    }

    fn description(&self) -> &str {
        "Find files by a part of their path, letters in order but with gaps (fuzzy): `cartsvc` finds src/cart/service.rs."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1},
                "path": {"type": "string", "description": "folder to start in"},
                "hidden": {"type": "boolean", "description": "also hidden files"},
                "ignored": {"type": "boolean", "description": "also files that git ignores"},
                "limit": {"type": "integer", "minimum": 1, "description": "20 if absent"}
            },
            "required": ["query"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Search
    }

    fn group(&self) -> Group {
        Group::Search
    }

    fn title(&self, input: &Value) -> String {
        format!("find_file {}", paths::titled(input, "query"))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        paths::look(context, &paths::argument(input, "path"))
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let base = base(context, input.path.as_deref().unwrap_or("."))?;
        let walk = Walk::new(base).with(input.hidden, input.ignored);
        let names = Names::of(context);
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        let (found, total) = blocking(move |stop| rank(&walk, &names, &input.query, limit, stop)).await?;
        let mut text: String = found.iter().map(|path| one_line(path) + "\n").collect();
        if found.is_empty() {
            text.push_str("no file's path has these letters in this order\n");
        } else if found.len() < total {
            text.push_str(&format!("… the best {} of {total}\n", found.len()));
        }
        Ok(ToolOutput::new(text, counted(total, "file")))
    }
}

/// The best first, and how many there are.
fn rank(walk: &Walk, names: &Names, query: &str, limit: usize, stop: &Stop) -> (Vec<String>, usize) {
    let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    let mut letters = Vec::new();
    let mut scored: Vec<(u32, String)> = Vec::new();
    for path in walk.files(stop).files {
        let name = names.name(&path);
        if let Some(score) = pattern.score(Utf32Str::new(&name, &mut letters), &mut matcher) {
            scored.push((score, name));
        }
    }
    // Of those that fit alike the shorter path is likelier meant.
    scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.len().cmp(&b.1.len())).then_with(|| a.1.cmp(&b.1)));
    let total = scored.len();
    (scored.into_iter().take(limit).map(|(_, name)| name).collect(), total)
}
