//! Path arguments: one, several, or patterns.

use std::path::{Path, PathBuf};

use guard::Action;
use project::HostError;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::report::one_line;
use crate::walk::{self, Filter, Walk};
use crate::{ToolContext, ToolError};

/// A string or a list of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> Self {
        Self::Many(vec![])
    }
}

impl OneOrMany {
    pub(crate) fn as_slice(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// The schema of such an argument.
pub(crate) fn schema(description: &str) -> Value {
    json!({"type": ["string", "array"], "items": {"type": "string"}, "description": description})
}

/// What a model gave for `name`, whatever the rest looks like.
pub(crate) fn argument(input: &Value, name: &str) -> Vec<String> {
    match input.get(name) {
        Some(Value::String(one)) => vec![one.clone()],
        Some(Value::Array(many)) => many.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => vec![],
    }
}

/// The same for titles: `a.rs`, `a.rs and 3 more`.
pub(crate) fn titled(input: &Value, name: &str) -> String {
    match argument(input, name).as_slice() {
        [] => ".".to_owned(),
        [one] => one_line(one),
        [first, rest @ ..] => format!("{} and {} more", one_line(first), rest.len()),
    }
}

/// Looking at what some arguments name. A pattern is everything below the folder that it starts in.
pub(crate) fn look(context: &ToolContext, paths: &[String]) -> Vec<Action> {
    let covered = |path: &String| context.path(split(context, path).0);
    let paths: Vec<PathBuf> =
        if paths.is_empty() { vec![context.cwd.clone()] } else { paths.iter().map(covered).collect() };
    vec![Action::Read { paths }]
}

/// The plain start of a path, and the pattern below it. A file that really has such a name is no pattern.
pub(crate) fn split<'a>(context: &ToolContext, path: &'a str) -> (&'a str, Option<&'a str>) {
    if !is_special(path) || std::fs::symlink_metadata(context.path(path)).is_ok() {
        return (path, None);
    }
    let (start, pattern) = split_pattern(path);
    (start, Some(pattern))
}

/// The folder that a pattern starts in, and the rest. The rest of one that named a folder starts with `/`.
pub(crate) fn split_pattern(pattern: &str) -> (&str, &str) {
    let mut end = 0;
    for part in pattern.split_inclusive('/') {
        if is_special(part) || end + part.len() == pattern.len() {
            break;
        }
        end += part.len();
    }
    if end == 0 { (".", pattern) } else { (&pattern[..end], &pattern[end - 1..]) }
}

fn is_special(part: &str) -> bool {
    part.contains(['*', '?', '[', '{'])
}

/// Files that arguments name.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    pub(crate) paths: Vec<String>,
    /// How many more there are.
    pub(crate) more: usize,
}

/// The paths as they are, with patterns replaced by the files they stand for.
pub(crate) async fn expand(
    context: &ToolContext,
    paths: &[String],
    most: usize,
) -> Result<Expanded, ToolError> {
    if paths.is_empty() {
        return Err(ToolError("the list of paths is empty".to_owned()));
    }
    let mut expanded = Expanded::default();
    for path in paths {
        let (start, pattern) = split(context, path);
        let found = match pattern {
            None => vec![path.clone()],
            Some(pattern) => {
                let found = files(context, start, pattern).await?;
                if found.is_empty() {
                    return Err(ToolError(format!("no file matches `{path}`")));
                }
                found
            }
        };
        for path in found {
            match expanded.paths.len() {
                _ if expanded.paths.contains(&path) => {}
                count if count < most => expanded.paths.push(path),
                _ => expanded.more += 1,
            }
        }
    }
    Ok(expanded)
}

async fn files(context: &ToolContext, start: &str, pattern: &str) -> Result<Vec<String>, ToolError> {
    let walk = Walk::new(base(context, start)?).filtered(Filter::new(&[pattern.to_owned()])?);
    let names = Names::of(context);
    let found = walk::blocking(move |stop| walk.files(stop)).await?;
    Ok(found.files.iter().map(|path| names.name(path)).collect())
}

/// Where a folder really is, with a better word than "not found" for what is no folder.
pub(crate) fn base(context: &ToolContext, path: &str) -> Result<PathBuf, ToolError> {
    let resolved = context.host.roots().resolve(path, &context.cwd).map_err(HostError::from)?;
    let base = resolved.absolute().to_owned();
    match base.symlink_metadata() {
        Ok(_) => Ok(base),
        Err(error) => Err(ToolError(format!("cannot use `{}`: {error}", one_line(path)))),
    }
}

/// How files are named in answers: below the working folder relative to it, elsewhere in full.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    cwd: PathBuf,
}

impl Names {
    pub(crate) fn of(context: &ToolContext) -> Self {
        let cwd = context.cwd.canonicalize().unwrap_or_else(|_| context.cwd.clone());
        Self { cwd }
    }

    pub(crate) fn name(&self, path: &Path) -> String {
        match path.strip_prefix(&self.cwd) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => below.to_string_lossy().into_owned(),
            Err(_) => path.to_string_lossy().into_owned(),
        }
    }
}

/// `10-40`, `10-`, `-40` or `10`: lines from 1 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineRange {
    pub(crate) first: u64,
    pub(crate) last: u64,
}

impl LineRange {
    pub(crate) const ALL: Self = Self { first: 1, last: u64::MAX };

    pub(crate) fn parse(text: Option<&str>) -> Result<Self, ToolError> {
        let Some(text) = text else { return Ok(Self::ALL) };
        let number = |text: &str, absent| match text.trim() {
            "" => Some(absent),
            text => text.parse().ok().filter(|line| *line > 0),
        };
        let range = match text.split_once('-') {
            Some((first, last)) => number(first, 1).zip(number(last, u64::MAX)),
            None => number(text, 0).filter(|line| *line > 0).map(|line| (line, line)),
        };
        let range = range.filter(|(first, last)| first <= last);
        let (first, last) =
            range.ok_or_else(|| ToolError(format!("`{text}` is no range of lines; write `10-40`")))?;
        Ok(Self { first, last })
    }

    pub(crate) fn contains(self, line: u64) -> bool {
        (self.first..=self.last).contains(&line)
    }
}
