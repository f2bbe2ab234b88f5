//! `tail`: the end of a file or of a job, and what comes next.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use guard::Action;
use project::ByteRange;
use protocol::ToolKind;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use crate::run::{Bounded, Jobs};
use crate::{Group, Tool, ToolContext, ToolError, ToolOutput};

const MAX_SECONDS: u64 = 300;
/// How much of the end of a file is looked at.
const LOOKED_AT: usize = 64 * 1024;
/// What is shown of each end of what was added meanwhile.
const SHOWN: usize = 8 * 1024;
const BEAT: Duration = Duration::from_millis(100);

pub(crate) struct Tail;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    job: Option<u32>,
    #[serde(default)]
    lines: Option<usize>,
    #[serde(default)]
    seconds: Option<u64>,
}

#[async_trait]
impl Tool for Tail {
    fn name(&self) -> &str {
        "tail"
    }

    fn description(&self) -> &str {
        "The last lines of a file or job and, with `seconds`, what is added to it while you wait."
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "job": {"type": "integer", "minimum": 1},
                "lines": {"type": "integer", "minimum": 1, "maximum": 500, "description": "50 if absent"},
                "seconds": {"type": "integer", "minimum": 0, "maximum": MAX_SECONDS, "description": "how long to follow; 0 if absent"}
            },
            "additionalProperties": false
        })
    }

    fn kind(&self) -> ToolKind {
        ToolKind::Read
    }

    fn group(&self) -> Group {
        Group::Mind
    }

    fn title(&self, input: &Value) -> String {
        format!("tail {}", input.get("path").and_then(Value::as_str).unwrap_or("job"))
    }

    fn actions(&self, input: &Value, context: &ToolContext) -> Vec<Action> {
        looks(input, context)
    }

    fn time_limit(&self, input: &Value) -> Duration {
        Duration::from_secs(input.get("seconds").and_then(Value::as_u64).unwrap_or(0).min(MAX_SECONDS) + 20)
    }

    async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = serde_json::from_value(input).map_err(ToolError::bad_input)?;
        let lines = input.lines.unwrap_or(50).clamp(1, 500);
        let limit = Duration::from_secs(input.seconds.unwrap_or(0).min(MAX_SECONDS));
        let (text, summary) = match (input.path, input.job) {
            (Some(path), None) => {
                (file_tail(context, &context.path(path), lines, limit).await?, "read".to_owned())
            }
            (None, Some(job)) => {
                let job = context.state.extra::<Jobs>().get(job)?;
                if job.exit().is_none() {
                    timeout(limit, job.ended()).await.ok();
                }
                (format!("{}\n[{}]\n", last_lines(&job.whole_output(), lines), job.status()), job.status())
            }
            _ => return Err(ToolError("either `path` or `job`".to_owned())),
        };
        Ok(ToolOutput::new(text, summary))
    }
}

/// A call that at most reads the file it names.
pub(super) fn looks(input: &Value, context: &ToolContext) -> Vec<Action> {
    match input.get("path").and_then(Value::as_str) {
        Some(path) => vec![Action::Read { paths: vec![context.path(path)] }],
        None => vec![Action::Inward],
    }
}

async fn file_tail(
    context: &ToolContext,
    path: &Path,
    lines: usize,
    limit: Duration,
) -> Result<String, ToolError> {
    let until = Instant::now() + limit;
    let stat = context.host.stat(path).await?;
    let mut offset = stat.len.saturating_sub(LOOKED_AT as u64);
    let first = context.host.read(path, ByteRange { offset, limit: LOOKED_AT }).await?;
    offset += first.bytes.len() as u64;
    let mut text = last_lines(&String::from_utf8_lossy(&first.bytes), lines);
    let mut added = Bounded::new(SHOWN);
    while Instant::now() < until {
        let read = context.host.read(path, ByteRange { offset, limit: LOOKED_AT }).await?;
        // A file that became shorter was begun anew.
        if read.total_len < offset {
            added.push(b"\n[the file was cut]\n");
            offset = 0;
            continue;
        }
        offset += read.bytes.len() as u64;
        added.push(&read.bytes);
        if read.bytes.is_empty() {
            sleep(BEAT.min(until - Instant::now())).await;
        }
    }
    text.push('\n');
    if added.total() > 0 {
        text.push_str("[added meanwhile]\n");
        text.push_str(&added.text(|gone| format!("… [{gone} bytes left out] …")));
    }
    Ok(text)
}

/// The last lines, without the final line break.
fn last_lines(text: &str, lines: usize) -> String {
    let text = text.trim_end_matches('\n');
    let start = text.rmatch_indices('\n').nth(lines - 1).map_or(0, |(at, _)| at + 1);
    text[start..]
        .lines()
        .map(|line| line.chars().take(1000).collect::<String>())
        .collect::<Vec<_>>()
        .join("\n")
}
