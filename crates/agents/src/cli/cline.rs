//! Cline without ACP: `cline --json` prints its events, one a line. It is told to approve everything, so it acts only
//! where nobody wants to be asked. With `--json` it refuses to take up a session (`--id` is for a person at a terminal),
//! so each turn begins a new one and is told what happened.

use acp::{News, ToolNews};
use futures::FutureExt;
use futures::future::BoxFuture;
use protocol::{CallId, Content, Mode, NoticeLevel, ToolContent, ToolKind, ToolStatus, Usage};
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
        if asked.turn.mode <= Mode::Plan {
            args.push("--plan".to_owned());
        }
        through_program::<Reader>(post, asked, args, By::Argument, cancel).await
    }
    .boxed()
}

#[derive(Debug, Default)]
struct Reader {
    /// Counts messages, which have no names here.
    messages: u32,
}

impl Reads for Reader {
    fn read(&mut self, line: &Value) -> Vec<Heard> {
        match text(line, "type") {
            "agent_event" => self.event(&line["event"]),
            // Its names for conversations are not those that it takes up sessions by.
            "hook_event" => vec![],
            "run_result" => {
                let usage = Heard::Usage(usage(&line["usage"]));
                let error = match text(line, "finishReason") {
                    "completed" | "" => None,
                    other => Some(match text(line, "text") {
                        "" => other.to_owned(),
                        said => said.to_owned(),
                    }),
                };
                vec![usage, Heard::Done { error }]
            }
            "error" => {
                let told = [text(line, "message"), text(line, "error")].concat();
                vec![Heard::Done { error: Some(told) }]
            }
            "" => vec![],
            other => vec![Heard::news(News::Unknown { name: other.to_owned() })],
        }
    }
}

impl Reader {
    fn event(&mut self, event: &Value) -> Vec<Heard> {
        let words = || Content::text(text(event, "text"));
        let message = Some(format!("m{}", self.messages));
        let news = match (text(event, "type"), text(event, "contentType")) {
            ("content_start", "text") => News::Said { content: words(), message },
            ("content_start", "reasoning") => News::Thought {
                content: Content::text([text(event, "reasoning"), text(event, "text")].concat()),
                message,
            },
            // It comes again whole.
            ("content_end", "text" | "reasoning") => {
                self.messages += 1;
                return vec![];
            }
            (kind @ ("content_start" | "content_end"), "tool") => {
                News::Tool(tool(event, kind == "content_end"))
            }
            ("error", _) => News::Notice { level: NoticeLevel::Warning, text: message_of(event) },
            ("notice", _) => News::Notice { level: NoticeLevel::Info, text: message_of(event) },
            ("content_update" | "iteration_start" | "iteration_end" | "usage" | "done", _) => return vec![],
            (other, _) => News::Unknown { name: other.to_owned() },
        };
        vec![Heard::news(news)]
    }
}

fn message_of(event: &Value) -> String {
    let nested = text(&event["error"], "message");
    [text(event, "message"), nested].concat()
}

fn tool(event: &Value, ended: bool) -> ToolNews {
    let name = text(event, "toolName");
    let input = &event["input"];
    let of = |field: &str| input[field].as_str().unwrap_or_default().to_owned();
    let listed = |field: &str| -> Vec<String> {
        let all = input[field].as_array().into_iter().flatten();
        all.filter_map(|one| one.as_str().or_else(|| one["path"].as_str())).map(str::to_owned).collect()
    };
    let (kind, title) = match name {
        "run_commands" | "execute_command" => {
            (ToolKind::Execute, listed("commands").join(" && ") + &of("command"))
        }
        "read_files" | "read_file" => {
            (ToolKind::Read, format!("read {}", listed("files").join(", ") + &of("path")))
        }
        "editor" | "apply_patch" | "write_to_file" | "replace_in_file" => {
            (ToolKind::Edit, format!("edit {}", of("path")))
        }
        "search_codebase" | "list_files" => (ToolKind::Search, name.replace('_', " ")),
        "fetch_web_content" | "web_fetch" => (ToolKind::Fetch, format!("fetch {}", of("url"))),
        _ => (ToolKind::Other, name.to_owned()),
    };
    let outputs = match &event["output"] {
        Value::Array(all) => all.iter().collect(),
        Value::Null => vec![],
        one => vec![one],
    };
    let said = |output: &&Value| {
        output
            .as_str()
            .or_else(|| output["result"].as_str())
            .or_else(|| output["error"].as_str())
            .map(ToolContent::text)
    };
    let failed = !event["error"].is_null() || outputs.iter().any(|output| output["success"] == false);
    let mut content: Vec<ToolContent> = outputs.iter().filter_map(said).collect();
    content.extend(event["error"].as_str().map(ToolContent::text));
    ToolNews {
        call: CallId::new(text(event, "toolCallId")),
        begins: !ended,
        name: Some(name.to_owned()),
        title: (!ended).then_some(title),
        kind: Some(kind),
        status: Some(match (ended, failed) {
            (true, true) => ToolStatus::Failed,
            (true, false) => ToolStatus::Completed,
            (false, _) => ToolStatus::InProgress,
        }),
        input: (!ended).then(|| input.clone()),
        output: None,
        content: ended.then_some(content),
        locations: None,
    }
}

fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    Usage {
        input: count("inputTokens"),
        output: count("outputTokens"),
        cache_read: count("cacheReadTokens"),
        cache_write: count("cacheWriteTokens"),
        reasoning: 0,
        cost_usd: usage["totalCost"].as_f64().filter(|cost| *cost > 0.0),
    }
}

#[cfg(test)]
mod tests;
