//! Copilot without ACP: `copilot --output-format json` prints its events, one a line. It is told to allow every tool, so
//! it acts only where nobody wants to be asked.

use std::collections::HashSet;

use acp::{News, ToolNews};
use futures::FutureExt;
use futures::future::BoxFuture;
use protocol::{CallId, Content, NoticeLevel, ToolContent, ToolKind, ToolStatus, Usage};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::per_turn::{Asked, By, Ended, Heard, Reads, catalogued, through_program};
use super::text;
use crate::fleet::{Post, Trouble};

pub(super) fn run<'a>(
    post: &'a Post,
    asked: Asked<'a>,
    cancel: &'a CancellationToken,
) -> BoxFuture<'a, Result<Ended, Trouble>> {
    async move {
        let mut args = catalogued(post, &asked).await;
        args.push("-p".to_owned());
        through_program::<Reader>(post, asked, args, By::Argument, cancel).await
    }
    .boxed()
}

#[derive(Debug, Default)]
struct Reader {
    /// Messages that came in pieces, and come again whole.
    streamed: HashSet<String>,
    error: Option<String>,
}

impl Reads for Reader {
    fn read(&mut self, line: &Value) -> Vec<Heard> {
        let data = &line["data"];
        let id = |name: &str| text(data, name).to_owned();
        let news = match text(line, "type") {
            "assistant.message_delta" => {
                self.streamed.insert(id("messageId"));
                let content = Content::text(text(data, "deltaContent"));
                News::Said { content, message: Some(id("messageId")) }
            }
            "assistant.reasoning_delta" => {
                self.streamed.insert(id("reasoningId"));
                let content = Content::text(text(data, "deltaContent"));
                News::Thought { content, message: Some(id("reasoningId")) }
            }
            "assistant.message" if !self.streamed.contains(text(data, "messageId")) => {
                let content = Content::text(text(data, "content"));
                News::Said { content, message: Some(id("messageId")) }
            }
            "assistant.reasoning" if !self.streamed.contains(text(data, "reasoningId")) => {
                let content = Content::text(text(data, "content"));
                News::Thought { content, message: Some(id("reasoningId")) }
            }
            "tool.execution_start" => News::Tool(begun(data)),
            "tool.execution_complete" => News::Tool(ended(data)),
            "assistant.usage" => return vec![Heard::Usage(usage(data))],
            "session.compaction_complete" => {
                News::Compacted { summary: id("summaryContent"), tokens_before: 0 }
            }
            "session.error" => {
                self.error = Some(id("message"));
                return vec![];
            }
            "session.warning" => News::Notice { level: NoticeLevel::Warning, text: id("message") },
            "abort" => return vec![Heard::Done { error: Some(id("reason")) }],
            "result" => {
                let failed = line["exitCode"].as_i64().is_some_and(|code| code != 0);
                let error = failed.then(|| {
                    self.error.take().unwrap_or_else(|| format!("it ended with {}", line["exitCode"]))
                });
                let session = text(line, "sessionId").to_owned();
                return vec![Heard::Session(session), Heard::Done { error }];
            }
            known if is_housekeeping(known) => return vec![],
            other => News::Unknown { name: other.to_owned() },
        };
        vec![Heard::news(news)]
    }
}

/// What it tells about itself.
fn is_housekeeping(kind: &str) -> bool {
    const FAMILIES: &[&str] = &["session.", "user.", "model.", "hook.", "system."];
    const KNOWN: &[&str] = &[
        "",
        "assistant.turn_start",
        "assistant.turn_end",
        "assistant.message_start",
        "assistant.message",
        "assistant.reasoning",
        "assistant.intent",
        "assistant.idle",
        "assistant.tool_call_delta",
        "tool.shell_output",
        "tool.execution_partial_result",
        "tool.execution_progress",
    ];
    KNOWN.contains(&kind) || FAMILIES.iter().any(|family| kind.starts_with(family))
}

fn begun(data: &Value) -> ToolNews {
    let (name, input) = (text(data, "toolName"), &data["arguments"]);
    let of = |field: &str| input[field].as_str().unwrap_or_default();
    let (kind, title) = match name {
        "bash" | "shell" => (ToolKind::Execute, of("command").to_owned()),
        "view" => (ToolKind::Read, format!("read {}", of("path"))),
        "create" | "edit" | "str_replace_editor" | "apply_patch" => {
            (ToolKind::Edit, format!("{name} {}", of("path")))
        }
        "grep" | "glob" => (ToolKind::Search, format!("{name} {}", of("pattern"))),
        "web_fetch" => (ToolKind::Fetch, format!("fetch {}", of("url"))),
        _ => (ToolKind::Other, name.to_owned()),
    };
    ToolNews {
        call: CallId::new(text(data, "toolCallId")),
        begins: true,
        name: Some(name.to_owned()),
        title: Some(title),
        kind: Some(kind),
        status: Some(ToolStatus::InProgress),
        input: Some(input.clone()),
        output: None,
        content: None,
        locations: None,
    }
}

fn ended(data: &Value) -> ToolNews {
    let worked = data["success"].as_bool().unwrap_or(true);
    let said = data["result"]["content"].as_str().or_else(|| data["error"]["message"].as_str());
    ToolNews {
        call: CallId::new(text(data, "toolCallId")),
        begins: false,
        name: None,
        title: None,
        kind: None,
        status: Some(if worked { ToolStatus::Completed } else { ToolStatus::Failed }),
        input: None,
        output: None,
        content: said.map(|said| vec![ToolContent::text(said)]),
        locations: None,
    }
}

fn usage(data: &Value) -> Usage {
    let count = |name: &str| data[name].as_u64().unwrap_or_default();
    let (cache_read, cache_write) = (count("cacheReadTokens"), count("cacheWriteTokens"));
    Usage {
        input: count("inputTokens"),
        output: count("outputTokens"),
        cache_read,
        cache_write,
        reasoning: 0,
        cost_usd: None,
    }
}

#[cfg(test)]
mod tests;
