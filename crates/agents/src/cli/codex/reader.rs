//! What the messages of Codex' app server mean.

use std::collections::HashSet;

use acp::{News, ToolNews};
use protocol::{
    CallId, Content, NoticeLevel, Plan, PlanEntry, PlanPriority, PlanStatus, Stop, StopCause, ToolContent,
    ToolKind, ToolStatus, Usage,
};
use serde_json::{Value, json};

use crate::cli::text;

#[cfg(test)]
mod tests;

/// What one message says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Heard {
    News(News),
    /// A turn began; it is interrupted by this name.
    Turn(String),
    /// One call to a model, and how full its window is.
    Usage {
        usage: Usage,
        used: u64,
        window: Option<u64>,
    },
    Done {
        stop: Stop,
        cause: Option<StopCause>,
        error: Option<String>,
    },
}

/// A request for approval, in terms of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    Tool(Box<ToolNews>),
    /// Questions for the person.
    Questions(Vec<Question>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) words: String,
    pub(crate) options: Vec<String>,
}

/// Reads the messages of one thread in order.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Items that came in pieces, and come again whole.
    streamed: HashSet<String>,
    error: Option<String>,
}

impl Reader {
    pub(crate) fn read(&mut self, method: &str, params: &Value) -> Vec<Heard> {
        let news = |news: News| vec![Heard::News(news)];
        match method {
            "turn/started" => vec![Heard::Turn(text(&params["turn"], "id").to_owned())],
            "item/agentMessage/delta" => {
                let item = self.mark(params);
                news(News::Said { content: Content::text(text(params, "delta")), message: Some(item) })
            }
            "item/reasoning/textDelta" | "item/reasoning/summaryTextDelta" => {
                let item = self.mark(params);
                news(News::Thought { content: Content::text(text(params, "delta")), message: Some(item) })
            }
            "item/started" => self.item(&params["item"], false),
            "item/completed" => self.item(&params["item"], true),
            "turn/plan/updated" => news(News::Plan(plan(&params["plan"]))),
            "thread/tokenUsage/updated" => usage(&params["tokenUsage"]).into_iter().collect(),
            "turn/completed" => vec![self.completed(&params["turn"])],
            "error" => {
                let message = text(&params["error"], "message").to_owned();
                match params["willRetry"].as_bool() {
                    Some(true) => news(News::Notice { level: NoticeLevel::Warning, text: message }),
                    _ => {
                        self.error = Some(message);
                        vec![]
                    }
                }
            }
            "warning" | "configWarning" | "deprecationNotice" => {
                let said = [text(params, "message"), text(params, "summary")].concat();
                news(News::Notice { level: NoticeLevel::Warning, text: said })
            }
            "thread/compacted" => news(News::Compacted { summary: String::new(), tokens_before: 0 }),
            _ if is_housekeeping(method) => vec![],
            other => news(News::Unknown { name: other.to_owned() }),
        }
    }

    fn mark(&mut self, params: &Value) -> String {
        let item = text(params, "itemId").to_owned();
        self.streamed.insert(item.clone());
        item
    }

    fn item(&mut self, item: &Value, completed: bool) -> Vec<Heard> {
        let id = text(item, "id");
        let whole = completed && !self.streamed.contains(id);
        match text(item, "type") {
            "agentMessage" if whole => {
                let content = Content::text(text(item, "text"));
                vec![Heard::News(News::Said { content, message: Some(id.to_owned()) })]
            }
            "reasoning" if whole => {
                let pieces =
                    item["summary"].as_array().into_iter().chain(item["content"].as_array()).flatten();
                let words: Vec<&str> = pieces.filter_map(Value::as_str).collect();
                let content = Content::text(words.join("\n"));
                vec![Heard::News(News::Thought { content, message: Some(id.to_owned()) })]
            }
            "contextCompaction" if completed => {
                vec![Heard::News(News::Compacted { summary: String::new(), tokens_before: 0 })]
            }
            "userMessage" | "agentMessage" | "reasoning" | "contextCompaction" | "hookPrompt" => vec![],
            "plan" if whole => {
                let content = Content::text(text(item, "text"));
                vec![Heard::News(News::Said { content, message: Some(id.to_owned()) })]
            }
            "plan" => vec![],
            _ => vec![Heard::News(News::Tool(tool(item, completed)))],
        }
    }

    fn completed(&mut self, turn: &Value) -> Heard {
        let told = turn["error"]["message"].as_str().map(str::to_owned);
        let kind = &turn["error"]["codexErrorInfo"];
        match text(turn, "status") {
            "interrupted" => Heard::Done { stop: Stop::Cancelled, cause: None, error: None },
            "failed" => {
                let cause = (kind == "contextWindowExceeded").then_some(StopCause::OutputLimit);
                let error = told.or_else(|| self.error.take());
                Heard::Done {
                    stop: Stop::Error,
                    cause,
                    error: Some(error.unwrap_or_else(|| "it failed".to_owned())),
                }
            }
            _ => {
                self.error = None;
                Heard::Done { stop: Stop::Done, cause: None, error: None }
            }
        }
    }
}

/// What the server tells about itself.
fn is_housekeeping(method: &str) -> bool {
    const KNOWN: &[&str] = &[
        "thread/started",
        "thread/status/changed",
        "thread/name/updated",
        "thread/closed",
        "thread/settings/updated",
        "turn/diff/updated",
        "item/commandExecution/outputDelta",
        "item/commandExecution/terminalInteraction",
        "item/fileChange/outputDelta",
        "item/fileChange/patchUpdated",
        "item/mcpToolCall/progress",
        "item/reasoning/summaryPartAdded",
        "item/plan/delta",
        "serverRequest/resolved",
        "rawResponseItem/completed",
        "model/rerouted",
        "app/list/updated",
        "skills/changed",
    ];
    const FAMILIES: &[&str] =
        &["account/", "remoteControl/", "mcpServer/", "fuzzyFileSearch/", "hook/", "windows", "fs/"];
    KNOWN.contains(&method) || FAMILIES.iter().any(|family| method.starts_with(family))
}

pub(super) fn tool(item: &Value, completed: bool) -> ToolNews {
    let status = match (completed, text(item, "status")) {
        (true, "failed" | "declined") => ToolStatus::Failed,
        (true, _) => ToolStatus::Completed,
        (false, _) => ToolStatus::Pending,
    };
    let (name, kind, title, input) = match text(item, "type") {
        "commandExecution" => {
            let command = unwrapped(text(item, "command"));
            let input = json!({"command": command, "cwd": item["cwd"]});
            ("shell".to_owned(), ToolKind::Execute, command, input)
        }
        "fileChange" => {
            let paths: Vec<&str> = changes(item).map(|change| text(change, "path")).collect();
            let title = format!("edit {}", paths.join(", "));
            ("apply_patch".to_owned(), ToolKind::Edit, title, json!({"paths": paths}))
        }
        "mcpToolCall" => {
            let name = format!("mcp__{}__{}", text(item, "server"), text(item, "tool"));
            (name.clone(), ToolKind::Other, name, item["arguments"].clone())
        }
        "webSearch" => {
            let query = text(item, "query");
            (
                "web_search".to_owned(),
                ToolKind::Fetch,
                format!("search the web for {query}"),
                json!({"query": query}),
            )
        }
        "imageView" => {
            let path = text(item, "path");
            ("view_image".to_owned(), ToolKind::Read, format!("look at {path}"), json!({"path": path}))
        }
        other => (other.to_owned(), ToolKind::Other, other.to_owned(), item["arguments"].clone()),
    };
    ToolNews {
        call: CallId::new(text(item, "id")),
        begins: !completed,
        name: Some(name),
        title: Some(title),
        kind: Some(kind),
        status: Some(status),
        input: Some(input),
        output: None,
        content: if completed { Some(content(item)) } else { None },
        locations: None,
    }
}

fn changes(item: &Value) -> impl Iterator<Item = &Value> {
    item["changes"].as_array().into_iter().flatten()
}

/// What came out of an item.
fn content(item: &Value) -> Vec<ToolContent> {
    let mut content: Vec<ToolContent> = changes(item)
        .map(|change| ToolContent::text(format!("{}\n{}", text(change, "path"), text(change, "diff"))))
        .collect();
    let output = text(item, "aggregatedOutput");
    if !output.is_empty() {
        content.push(ToolContent::text(output));
    }
    let results = item["result"]["content"].as_array().into_iter().flatten();
    content.extend(results.filter_map(|block| block["text"].as_str()).map(ToolContent::text));
    let error = text(&item["error"], "message");
    if !error.is_empty() {
        content.push(ToolContent::text(error));
    }
    content
}

/// `/bin/bash -lc 'ls -1'` is `ls -1`, when that is all there is to it.
pub(crate) fn unwrapped(command: &str) -> String {
    let inner = ["/bin/bash -lc ", "bash -lc ", "/bin/sh -c ", "/usr/bin/bash -lc ", "/bin/zsh -lc "]
        .iter()
        .find_map(|shell| command.strip_prefix(shell));
    let quoted = inner.and_then(|inner| inner.strip_prefix('\'')?.strip_suffix('\''));
    let plain =
        inner.filter(|inner| !inner.contains(['\'', '"', ' ', '\\', '$', '`', ';', '&', '|', '<', '>']));
    match quoted.filter(|quoted| !quoted.contains('\'')).or(plain) {
        Some(inner) => inner.to_owned(),
        None => command.to_owned(),
    }
}

/// What a request for approval is about; none for requests that are not known.
pub(crate) fn asked(method: &str, params: &Value) -> Option<Asked> {
    let of_item = |kind: ToolKind, input: Value, title: Option<String>| {
        let id = ["itemId", "callId", "call_id"].iter().find_map(|name| params[*name].as_str())?;
        Some(Asked::Tool(Box::new(ToolNews {
            call: CallId::new(id),
            begins: false,
            name: None,
            title,
            kind: Some(kind),
            status: None,
            input: Some(input),
            output: None,
            content: None,
            locations: None,
        })))
    };
    match method {
        "item/commandExecution/requestApproval" | "execCommandApproval" => {
            let command = match &params["command"] {
                Value::String(line) => json!(unwrapped(line)),
                words => words.clone(),
            };
            let title = command.as_str().map(str::to_owned);
            of_item(ToolKind::Execute, json!({"command": command, "cwd": params["cwd"]}), title)
        }
        "item/fileChange/requestApproval" => {
            // Which files, was told when the item began.
            let input = match params["grantRoot"].as_str() {
                Some(root) => json!({"paths": [root]}),
                None => Value::Null,
            };
            of_item(ToolKind::Edit, input, None)
        }
        "applyPatchApproval" => {
            let changes = params["fileChanges"].as_object();
            let paths: Vec<&String> = changes.into_iter().flat_map(|changes| changes.keys()).collect();
            of_item(ToolKind::Edit, json!({"paths": paths}), None)
        }
        "item/permissions/requestApproval" => of_item(
            ToolKind::Other,
            params["permissions"].clone(),
            Some("more room in its sandbox".to_owned()),
        ),
        "item/tool/requestUserInput" => {
            let questions = params["questions"].as_array()?.iter().map(|question| Question {
                id: text(question, "id").to_owned(),
                words: text(question, "question").to_owned(),
                options: question["options"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|option| text(option, "label").to_owned())
                    .collect(),
            });
            Some(Asked::Questions(questions.collect()))
        }
        _ => None,
    }
}

/// The answer to a request for approval, in the words of that request.
pub(crate) fn decision(method: &str, allowed: bool, cancelled: bool) -> Value {
    let old = matches!(method, "execCommandApproval" | "applyPatchApproval");
    let word = match (allowed, cancelled, old) {
        (true, _, true) => "approved",
        (true, _, false) => "accept",
        (false, true, true) => "abort",
        (false, true, false) => "cancel",
        (false, false, true) => "denied",
        (false, false, false) => "decline",
    };
    json!({"decision": word})
}

fn usage(told: &Value) -> Option<Heard> {
    let last = told.get("last")?;
    let count = |name: &str| last[name].as_u64().unwrap_or_default();
    let usage = Usage {
        input: count("inputTokens"),
        output: count("outputTokens"),
        cache_read: count("cachedInputTokens"),
        cache_write: count("cacheWriteInputTokens"),
        reasoning: count("reasoningOutputTokens"),
        cost_usd: None,
    };
    let window = told["modelContextWindow"].as_u64();
    (!usage.is_empty()).then_some(Heard::Usage { usage, used: count("totalTokens"), window })
}

fn plan(steps: &Value) -> Plan {
    let entry = |step: &Value| PlanEntry {
        content: text(step, "step").to_owned(),
        priority: PlanPriority::default(),
        status: match text(step, "status") {
            "inProgress" | "in_progress" => PlanStatus::InProgress,
            "completed" => PlanStatus::Completed,
            _ => PlanStatus::Pending,
        },
    };
    Plan { entries: steps.as_array().into_iter().flatten().map(entry).collect() }
}
