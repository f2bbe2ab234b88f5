//! `ast_search`: code by its structure.

use async_trait::async_trait;
use guard::Action;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ast::{Found, Language, Match, Shape, search};
use crate::paths::{self, Names, OneOrMany, base, split};
use crate::report::{counted, cut, one_line};
use crate::walk::{Filter, Walk, blocking};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 500;
/// Lines of one match that are told.
const MAX_LINES: usize = 6;

pub(crate) struct AstSearch;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    pattern: Option<String>,
    #[serde(default)]
    query: Option<String>,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    path: OneOrMany,
    #[serde(default)]
    glob: OneOrMany,
    #[serde(default)]
    limit: Option<usize>,
    #[serde(default)]
    offset: usize,
}

#[async_trait]
impl Tool for AstSearch {
    fn name(&self) -> &str {
        "ast_search"
    }

    fn description(&self) -> &str {
        "Search code by structure: a `pattern` of code with holes, or a tree-sitter `query`."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "`foo($A, $$$)`: `$A` is one piece of code, the same wherever it stands again, `$_` any, `$$$` any number"},
                "query": {"type": "string", "description": "`(call_expression function: (identifier) @f)`"},
                "language": {"type": "string", "enum": Language::NAMES},
                "path": paths::schema("files, folders, globs; the project if absent"),
                "glob": paths::schema("only these"),
                "limit": {"type": "integer", "minimum": 1},
                "offset": {"type": "integer", "minimum": 0}
            },
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
        let text = |name: &str| input.get(name).and_then(Value::as_str);
        let shape = text("pattern").or_else(|| text("query")).unwrap_or_default();
        format!("ast_search {}", one_line(&shape.chars().take(60).collect::<String>()))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        paths::look(context, &paths::argument(input, "path"))
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let language = language(&input)?;
        let shape = match (&input.pattern, &input.query) {
            (Some(pattern), None) => Shape::pattern(pattern, language)?,
            (None, Some(query)) => Shape::query(query, language)?,
            _ => return Err(ToolError("give either `pattern` or `query`".to_owned())),
        };
        let here = [".".to_owned()];
        let paths = if input.path.as_slice().is_empty() { &here } else { input.path.as_slice() };
        let mut walks = Vec::new();
        for path in paths {
            let (start, pattern) = split(context, path);
            let patterns = input.glob.as_slice().iter().cloned().chain(pattern.map(str::to_owned));
            let filter = Filter::new(&patterns.collect::<Vec<_>>())?;
            walks.push(Walk::new(base(context, start)?).filtered(filter));
        }
        let limit = input.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        let keep = input.offset.saturating_add(limit);
        let found = blocking(move |stop| search(&walks, &shape, language, keep, stop)).await?;
        Ok(told(&found, input.offset, limit, &Names::of(context)))
    }
}

fn language(input: &Input) -> Result<Language, ToolError> {
    let named = input.language.as_deref().and_then(Language::by_name);
    let mut paths = input.path.as_slice().iter().chain(input.glob.as_slice());
    named
        .or_else(|| paths.find_map(|path| Language::of(path)))
        .ok_or_else(|| ToolError(format!("say which `language`: {}", Language::NAMES.join(", "))))
}

fn told(found: &Found, offset: usize, limit: usize, names: &Names) -> ToolOutput {
    let mut text = String::new();
    let mut last = None;
    let all = found.files.iter().flat_map(|(path, matches)| matches.iter().map(move |one| (path, one)));
    let mut shown = 0;
    for (path, one) in all.skip(offset).take(limit) {
        if last != Some(path) {
            text.push_str(&format!("{}\n", one_line(&names.name(path))));
            last = Some(path);
        }
        describe(one, &mut text);
        shown += 1;
    }
    let end = offset + shown;
    if found.count == 0 {
        text.push_str("no matches\n");
    } else if end < found.count {
        text.push_str(&format!("… {end} of {}: go on with offset {end}\n", found.count));
    }
    if found.passed_over > 0 {
        text.push_str(&format!("({} too large or too slow to read)\n", counted(found.passed_over, "file")));
    }
    let summary = format!("{} in {}", counted(found.count, "match"), counted(found.file_count, "file"));
    ToolOutput::new(text, summary)
}

fn describe(one: &Match, text: &mut String) {
    for (at, line) in one.text.lines().take(MAX_LINES).enumerate() {
        text.push_str(&format!("{}:{}\n", one.first + at, cut(line)));
    }
    if one.last >= one.first + MAX_LINES {
        text.push_str(&format!("… to line {}\n", one.last));
    }
    let short = |filled: &str| filled.lines().next().map(cut).unwrap_or_default();
    let holes: Vec<String> =
        one.holes.iter().map(|(name, filled)| format!("{name} = {}", short(filled))).collect();
    if !holes.is_empty() {
        text.push_str(&format!("   {}\n", holes.join(", ")));
    }
}
