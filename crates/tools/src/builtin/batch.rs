//! `batch`: one command for each of many files.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use project::{Exit, Program, Streams, Task};
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::paths::{self, Names, OneOrMany, base, split};
use crate::report::{counted, one_line};
use crate::run::{collect, say_exit};
use crate::walk::{Filter, Stop, Walk};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const MAX_FILES: usize = 100;
const AT_ONCE: usize = 4;
/// What is told of one command.
const MAX_OUTPUT: usize = 4 * 1024;
/// What is told altogether.
const MAX_TEXT: usize = 48 * 1024;
const DEFAULT_SECONDS: u64 = 60;
const MAX_SECONDS: u64 = 300;
const TIME_LIMIT: Duration = Duration::from_secs(900);

pub(crate) struct Batch;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    command: String,
    files: OneOrMany,
    #[serde(default)]
    timeout: Option<u64>,
}

/// The commands that the guard was told of, by call: those and no others are run, whatever files come to be meanwhile.
#[derive(Default)]
struct Told(Mutex<HashMap<String, Vec<Job>>>);

#[derive(Clone)]
struct Job {
    file: String,
    command: String,
}

#[async_trait]
impl Tool for Batch {
    fn name(&self) -> &str {
        "batch"
    }

    fn description(&self) -> &str {
        "Run one shell command for each of many files (at most 100), four at a time. `{file}` stands for the quoted path."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "minLength": 1, "description": "such as `rustfmt --check {file}`"},
                "files": paths::schema("or globs"),
                "timeout": {"type": "integer", "minimum": 1, "maximum": MAX_SECONDS, "description": "seconds per file, 60 if absent"}
            },
            "required": ["command", "files"],
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Execute
    }

    fn group(&self) -> Group {
        Group::Files
    }

    fn title(&self, input: &Value) -> String {
        let command = input.get("command").and_then(Value::as_str).unwrap_or_default();
        format!("batch {} on {}", one_line(command), paths::titled(input, "files"))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        let command = input.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
        let shell = |command: String| Action::Shell { command, cwd: context.cwd.clone() };
        let files = paths::argument(input, "files");
        let mut actions = vec![Action::Read { paths: looked_at(context, &files) }];
        // What can not be told file by file is told as it stands; the call will not run it.
        let Ok(jobs) = jobs(context, &command, &files) else {
            actions.push(shell(command));
            return actions;
        };
        actions.extend(jobs.iter().map(|job| shell(job.command.clone())));
        let told = context.state.extra::<Told>();
        told.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key(context, input), jobs);
        actions
    }

    fn time_limit(&self, _input: &Value) -> Duration {
        TIME_LIMIT
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let told = context.state.extra::<Told>();
        let told = told.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key(context, &input));
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let jobs = match told {
            Some(jobs) => jobs,
            None => jobs(context, &input.command, input.files.as_slice())?,
        };
        let limit = Duration::from_secs(input.timeout.unwrap_or(DEFAULT_SECONDS).min(MAX_SECONDS));
        let mut results: Vec<Option<Result<(String, bool), ToolError>>> = jobs.iter().map(|_| None).collect();
        let mut running = JoinSet::new();
        let mut ahead = jobs.iter().enumerate();
        loop {
            while running.len() < AT_ONCE
                && let Some((at, job)) = ahead.next()
            {
                let (context, command) = (context.clone(), job.command.clone());
                running.spawn(async move { (at, run(&context, command, limit).await) });
            }
            match running.join_next().await {
                Some(Ok((at, result))) => results[at] = Some(result),
                Some(Err(error)) => return Err(ToolError(format!("a command broke off: {error}"))),
                None => break,
            }
        }
        Ok(report(&jobs, results))
    }
}

fn key(context: &ToolContext, input: &Value) -> String {
    format!("{} {input}", context.call.as_str())
}

fn looked_at(context: &ToolContext, files: &[String]) -> Vec<PathBuf> {
    files.iter().map(|path| context.path(split(context, path).0)).collect()
}

/// One command for each file that the arguments name.
fn jobs(context: &ToolContext, command: &str, files: &[String]) -> Result<Vec<Job>, ToolError> {
    let names = Names::of(context);
    let mut all: Vec<String> = Vec::new();
    for path in files {
        let (start, pattern) = split(context, path);
        match pattern {
            None => all.push(path.clone()),
            Some(pattern) => {
                let walk = Walk::new(base(context, start)?).filtered(Filter::new(&[pattern.to_owned()])?);
                all.extend(walk.files(&Stop::default()).files.iter().map(|path| names.name(path)));
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|path| seen.insert(path.clone()));
    match all.len() {
        0 => return Err(ToolError("no file matches".to_owned())),
        count if count > MAX_FILES => {
            return Err(ToolError(format!("{count} files match, more than {MAX_FILES}; name fewer")));
        }
        _ => {}
    }
    let job = |file: String| {
        let quoted = quoted(&file);
        let command = match command.contains("{file}") {
            true => command.replace("{file}", &quoted),
            false => format!("{command} {quoted}"),
        };
        Job { file, command }
    };
    Ok(all.into_iter().map(job).collect())
}

/// For the shell, so that nothing in a name is more than a name.
fn quoted(file: &str) -> String {
    let file = if file.starts_with('-') { format!("./{file}") } else { file.to_owned() };
    format!("'{}'", file.replace('\'', "'\\''"))
}

async fn run(context: &ToolContext, command: String, limit: Duration) -> Result<(String, bool), ToolError> {
    let task = Task {
        program: Program::Shell(command),
        cwd: context.cwd.clone(),
        env: vec![],
        streams: Streams::Out,
    };
    let done = collect(context, task, MAX_OUTPUT, limit).await?;
    let mut text = String::from_utf8_lossy(&done.bytes).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if done.is_cut {
        text.push_str("… cut\n");
    }
    let well = done.exit == Exit::Code(0);
    if !well {
        text.push_str(&format!("{}\n", say_exit(done.exit)));
    }
    Ok((text, well))
}

fn report(jobs: &[Job], results: Vec<Option<Result<(String, bool), ToolError>>>) -> ToolOutput {
    let mut failed = 0;
    let mut body = String::new();
    let mut silent = 0;
    for (job, result) in jobs.iter().zip(results) {
        let (text, well) = match result {
            Some(Ok(done)) => done,
            Some(Err(error)) => (format!("{error}\n"), false),
            None => continue,
        };
        failed += usize::from(!well);
        if text.is_empty() {
            silent += 1;
        } else if body.len() < MAX_TEXT {
            body.push_str(&format!("==> {} <==\n{text}", one_line(&job.file)));
        } else {
            body.push_str(&format!(
                "==> {} <== {}\n",
                one_line(&job.file),
                if well { "ok" } else { "failed" }
            ));
        }
    }
    let count = counted(jobs.len(), "file");
    let summary =
        if failed == 0 { format!("{count}, all well") } else { format!("{failed} of {count} failed") };
    let quiet = if silent > 0 { format!("; {silent} printed nothing") } else { String::new() };
    ToolOutput::new(format!("{summary}{quiet}\n{body}"), summary)
}
