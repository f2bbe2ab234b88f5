//! `wait`: for a while, for a job, or for some words.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use project::ByteRange;
use protocol::ToolKind;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::run::{Job, Jobs};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const DEFAULT_SECONDS: u64 = 30;
const MAX_SECONDS: u64 = 600;
/// How much of the end of a file is searched.
const SEARCHED: usize = 64 * 1024;
const BEAT: Duration = Duration::from_millis(100);

pub(crate) struct Wait;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    seconds: Option<u64>,
    #[serde(default)]
    job: Option<u32>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    pattern: Option<String>,
}

#[async_trait]
impl Tool for Wait {
    fn name(&self) -> &str {
        "wait"
    }

    fn description(&self) -> &str {
        "Wait some seconds; or until a job ends; or until `pattern` shows up in the output of a job or in a file."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "seconds": {"type": "integer", "minimum": 1, "maximum": MAX_SECONDS, "description": "at most this long; 30 if absent"},
                "job": {"type": "integer", "minimum": 1},
                "path": {"type": "string", "description": "without `pattern`: until it exists"},
                "pattern": {"type": "string", "description": "regex"}
            },
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Other
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn title(&self, _input: &Value) -> String {
        "wait".to_owned()
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        super::tail::looks(input, context)
    }

    fn time_limit(&self, input: &Value) -> Duration {
        Duration::from_secs(
            input.get("seconds").and_then(Value::as_u64).unwrap_or(DEFAULT_SECONDS).min(MAX_SECONDS) + 10,
        )
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let pattern = input.pattern.as_deref().map(|pattern| {
            RegexBuilder::new(pattern)
                .size_limit(1 << 20)
                .multi_line(true)
                .build()
                .map_err(|error| ToolError(format!("`pattern` is not a regex: {error}")))
        });
        let pattern = pattern.transpose()?;
        let seconds = input.seconds.unwrap_or(DEFAULT_SECONDS).clamp(1, MAX_SECONDS);
        let limit = Duration::from_secs(seconds);
        let found = match (input.job, input.path, pattern) {
            (Some(_), Some(_), _) => return Err(ToolError("either `job` or `path`".to_owned())),
            (None, None, Some(_)) => return Err(ToolError("`pattern` needs a `job` or a `path`".to_owned())),
            (Some(job), None, pattern) => {
                let job = context.state.extra::<Jobs>().get(job)?;
                timeout(limit, job_says(&job, pattern.as_ref())).await.ok()
            }
            (None, Some(path), pattern) => {
                timeout(limit, file_says(context, &context.path(path), pattern.as_ref())).await.ok()
            }
            (None, None, None) => {
                tokio::time::sleep(limit).await;
                Some(format!("{seconds} s went by"))
            }
        };
        let text = found.unwrap_or_else(|| format!("{seconds} s went by and it did not happen"));
        Ok(ToolOutput::new(format!("{text}\n"), text.lines().next().unwrap_or_default()))
    }
}

async fn job_says(job: &Job, pattern: Option<&Regex>) -> String {
    loop {
        // Made before looking, so that what comes in between is not missed.
        let news = job.news();
        let ended = job.exit().is_some();
        if let Some(line) = pattern.and_then(|pattern| line_of(pattern, &job.whole_output())) {
            return format!("found: {line}");
        }
        if ended {
            return format!("job {} ended: {}", job.id, job.status());
        }
        news.await;
    }
}

async fn file_says(context: &ToolContext, path: &Path, pattern: Option<&Regex>) -> String {
    loop {
        if let Ok(stat) = context.host.stat(path).await {
            let Some(pattern) = pattern else { return "it exists".to_owned() };
            let offset = stat.len.saturating_sub(SEARCHED as u64);
            if let Ok(read) = context.host.read(path, ByteRange { offset, limit: SEARCHED }).await
                && let Some(line) = line_of(pattern, &String::from_utf8_lossy(&read.bytes))
            {
                return format!("found: {line}");
            }
        }
        // A host tells nothing of changes, and this is the rare case.
        tokio::time::sleep(BEAT).await;
    }
}

/// The line in which it was found, not too long.
fn line_of(pattern: &Regex, text: &str) -> Option<String> {
    let found = pattern.find(text)?;
    let start = text[..found.start()].rfind('\n').map_or(0, |at| at + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    Some(line.chars().take(500).collect())
}
