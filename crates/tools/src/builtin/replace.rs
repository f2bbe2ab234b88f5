//! `replace`: a pattern in many files, counted and shown before anything changes.

use async_trait::async_trait;
use guard::{Action, Change};
use protocol::{ToolContent, ToolKind};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use similar::TextDiff;

use crate::changes::{FileChange, commit, foreseen, load};
use crate::paths::{self, LineRange, Names, OneOrMany, base, split};
use crate::replace::{candidates, replaced, unknown_group};
use crate::report::{counted, cut, one_line};
use crate::walk::{Filter, Walk, blocking};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const MAX_FILES: usize = 500;
/// What a compiled pattern may take up.
const MAX_PATTERN: usize = 10 * 1024 * 1024;
/// Lines of a preview.
const MAX_LINES: usize = 80;

pub(crate) struct Replace;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    pattern: String,
    replacement: String,
    path: OneOrMany,
    #[serde(default)]
    glob: OneOrMany,
    #[serde(default)]
    lines: Option<String>,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    hidden: bool,
    #[serde(default)]
    apply: bool,
}

#[async_trait]
impl Tool for Replace {
    fn name(&self) -> &str {
        "replace"
    }

    fn description(&self) -> &str {
        "Replace a regular expression in many files. Without `apply` it only counts and shows what would change."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "minLength": 1, "description": "`^` and `$` are ends of lines"},
                "replacement": {"type": "string", "description": "`$1`, `${name}` are groups, `$$` is a dollar"},
                "path": paths::schema("files, folders, globs"),
                "glob": paths::schema("only these: `*.rs`, `!tests/**`"),
                "lines": {"type": "string", "description": "only matches that start within `10-40`"},
                "literal": {"type": "boolean", "description": "plain text, no groups"},
                "ignore_case": {"type": "boolean"},
                "hidden": {"type": "boolean", "description": "also in hidden files"},
                "apply": {"type": "boolean", "description": "make the change; look at it first"}
            },
            "required": ["pattern", "replacement", "path"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Edit
    }

    fn group(&self) -> Group {
        Group::Files
    }

    fn title(&self, input: &Value) -> String {
        let pattern = input.get("pattern").and_then(Value::as_str).unwrap_or_default();
        let pattern = one_line(&pattern.chars().take(60).collect::<String>());
        format!("replace {pattern} in {}", paths::titled(input, "path"))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let looks = paths::look(context, &paths::argument(input, "path"));
        if !input.get("apply").and_then(Value::as_bool).unwrap_or_default() {
            return looks;
        }
        let change = Change::Edit;
        let writes = looks.iter().filter_map(|action| match action {
            Action::Read { paths } => Some(Action::Write { change, paths: paths.clone() }),
            _ => None,
        });
        writes.collect()
    }

    async fn foresee(&self, input: Value, context: &ToolContext) -> Vec<ToolContent> {
        let Ok(input) = serde_json::from_value::<Input>(input) else { return vec![] };
        foreseen(plan(&input, context).await.map(|(changes, _)| changes))
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let (changes, places) = plan(&input, context).await?;
        let count = format!("{} in {}", counted(places, "match"), counted(changes.len(), "file"));
        if changes.is_empty() {
            return Ok(ToolOutput::new("no matches that would change anything\n", "no matches"));
        }
        if !input.apply {
            return Ok(ToolOutput::new(preview(&changes, &count), count));
        }
        let mut output = commit(changes, context).await?;
        output.text = format!("replaced {count}\n{}", output.text);
        Ok(output)
    }
}

/// What becomes of the files, and at how many places.
async fn plan(input: &Input, context: &ToolContext) -> Result<(Vec<FileChange>, usize), ToolError> {
    let regex = regex(input)?;
    if let Some(name) = unknown_group(&regex, &input.replacement).filter(|_| !input.literal) {
        return Err(ToolError(format!(
            "the pattern has no group `{name}`; write `${{1}}` where a letter follows a group, and `$$` for a dollar"
        )));
    }
    let range = LineRange::parse(input.lines.as_deref())?;
    let walks = walks(context, input)?;
    let wanted = regex.clone();
    let found = blocking(move |stop| candidates(&walks, &wanted, stop)).await?;
    if found.len() > MAX_FILES {
        let reason = format!("{} files match, more than {MAX_FILES}; narrow `path` or `glob`", found.len());
        return Err(ToolError(reason));
    }
    let names = Names::of(context);
    let replacement =
        if input.literal { input.replacement.replace('$', "$$") } else { input.replacement.clone() };
    let mut changes = Vec::new();
    let mut places = 0;
    for path in found {
        let path = names.name(&path);
        let old = load(context, &path).await?;
        let (new, count) = replaced(&old.text, &regex, &replacement, range);
        if new.original() == old.text.original() {
            continue;
        }
        places += count;
        let note = Some(counted(count, "match"));
        changes.push(FileChange {
            path,
            old: Some(old),
            new: Some(new),
            moved_to: None,
            executable: None,
            note,
        });
    }
    Ok((changes, places))
}

fn regex(input: &Input) -> Result<Regex, ToolError> {
    let pattern = if input.literal { regex::escape(&input.pattern) } else { input.pattern.clone() };
    RegexBuilder::new(&pattern)
        .multi_line(true)
        .case_insensitive(input.ignore_case)
        .size_limit(MAX_PATTERN)
        .dfa_size_limit(MAX_PATTERN)
        .build()
        .map_err(|error| ToolError(format!("the pattern does not work: {error}")))
}

fn walks(context: &ToolContext, input: &Input) -> Result<Vec<Walk>, ToolError> {
    let mut walks = Vec::new();
    for path in input.path.as_slice() {
        let (start, pattern) = split(context, path);
        let patterns = input.glob.as_slice().iter().cloned().chain(pattern.map(str::to_owned));
        let filter = Filter::new(&patterns.collect::<Vec<_>>())?;
        walks.push(Walk::new(base(context, start)?).filtered(filter).with(input.hidden, false));
    }
    Ok(walks)
}

fn preview(changes: &[FileChange], count: &str) -> String {
    let mut text = format!("{count} would change; set `apply` to do it:\n");
    let mut lines = 0;
    for change in changes {
        let (Some(old), Some(new)) = (&change.old, &change.new) else { continue };
        text.push_str(&format!(
            "{}: {}\n",
            one_line(&change.path),
            change.note.as_deref().unwrap_or_default()
        ));
        if lines >= MAX_LINES {
            continue;
        }
        let diff = TextDiff::from_lines(old.text.plain(), new.plain());
        for line in diff.unified_diff().context_radius(0).to_string().lines() {
            if lines == MAX_LINES {
                text.push_str("… more is not shown\n");
            }
            lines += 1;
            if lines > MAX_LINES {
                break;
            }
            text.push_str(&format!("{}\n", cut(line)));
        }
    }
    text
}
