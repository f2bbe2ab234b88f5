//! What the lines of Cursor's agent mean.

use acp::{News, ToolNews};
use protocol::{CallId, Content, ToolContent, ToolKind, ToolStatus};
use serde_json::{Value, json};

use crate::cli::per_turn::{Heard, Reads};
use crate::cli::text;

#[cfg(test)]
mod tests;

/// Reads one run's lines in order.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// What was said since the last tool call. Some versions send each message again, whole.
    said: String,
}

impl Reads for Reader {
    fn read(&mut self, line: &Value) -> Vec<Heard> {
        match text(line, "type") {
            "system" => match text(line, "session_id") {
                "" => vec![],
                session => vec![Heard::Session(session.to_owned())],
            },
            "assistant" => {
                let blocks = line["message"]["content"].as_array().into_iter().flatten();
                let words: String = blocks.filter_map(|block| block["text"].as_str()).collect();
                self.say(words).into_iter().collect()
            }
            "thinking" => {
                let content = Content::text(text(line, "text"));
                vec![Heard::News(Box::new(News::Thought { content, message: None }))]
            }
            "tool_call" => {
                self.said.clear();
                vec![Heard::News(Box::new(News::Tool(tool(line))))]
            }
            "result" => {
                let failed = line["is_error"].as_bool().unwrap_or(false);
                let error = failed.then(|| text(line, "result").to_owned());
                let mut heard = Vec::new();
                // An answer that was not streamed is told here.
                if !failed && self.said.is_empty() {
                    heard.extend(self.say(text(line, "result").to_owned()));
                }
                heard.push(Heard::Done { error });
                heard
            }
            "error" => vec![Heard::Done { error: Some(text(line, "message").to_owned()) }],
            "user" | "" | "connection" | "retry" => vec![],
            other => vec![Heard::News(Box::new(News::Unknown { name: other.to_owned() }))],
        }
    }
}

impl Reader {
    /// What is new of it: pieces come as they are, and a message that comes again begins with what was said.
    fn say(&mut self, words: String) -> Option<Heard> {
        let new = match words.strip_prefix(self.said.as_str()) {
            Some(rest) if !self.said.is_empty() => rest.to_owned(),
            _ => words,
        };
        if new.is_empty() {
            return None;
        }
        self.said.push_str(&new);
        Some(Heard::News(Box::new(News::Said { content: Content::text(new), message: None })))
    }
}

fn tool(line: &Value) -> ToolNews {
    let call = &line["tool_call"];
    let entry = call.as_object().and_then(|call| call.iter().next());
    let (name, body) = match entry {
        Some((name, body)) if name == "function" => (text(body, "name").to_owned(), body),
        Some((name, body)) => (name.strip_suffix("ToolCall").unwrap_or(name).to_owned(), body),
        None => ("tool".to_owned(), &Value::Null),
    };
    let input = match &body["arguments"] {
        Value::String(json) => serde_json::from_str(json).unwrap_or_else(|_| json!({"arguments": json})),
        _ => body["args"].clone(),
    };
    let done = text(line, "subtype") == "completed";
    let result = &body["result"];
    let failed = result.get("success").is_none() && result.is_object();
    let of = |field: &str| input[field].as_str().unwrap_or_default();
    let (kind, title) = match name.as_str() {
        "shell" => (ToolKind::Execute, of("command").to_owned()),
        "read" => (ToolKind::Read, format!("read {}", of("path"))),
        "write" | "edit" => (ToolKind::Edit, format!("{name} {}", of("path"))),
        "delete" => (ToolKind::Delete, format!("delete {}", of("path"))),
        "grep" | "glob" | "ls" | "semSearch" => {
            (ToolKind::Search, format!("{name} {}", [of("pattern"), of("globPattern"), of("path")].concat()))
        }
        "webFetch" => (ToolKind::Fetch, format!("fetch {}", of("url"))),
        "updateTodos" | "todo" => (ToolKind::Think, name.clone()),
        _ => (ToolKind::Other, name.clone()),
    };
    let output = result.get("success").unwrap_or(result);
    let said =
        ["stdout", "content", "output", "reason", "error"].iter().find_map(|field| output[*field].as_str());
    let rejected = result["rejected"]["reason"].as_str();
    let content = rejected.or(said).filter(|said| !said.is_empty()).map(|said| vec![ToolContent::text(said)]);
    ToolNews {
        call: CallId::new(text(line, "call_id")),
        begins: !done,
        name: Some(name),
        title: Some(title),
        kind: Some(kind),
        status: Some(match (done, failed) {
            (true, true) => ToolStatus::Failed,
            (true, false) => ToolStatus::Completed,
            (false, _) => ToolStatus::InProgress,
        }),
        input: Some(input),
        output: None,
        content: content.filter(|_| done),
        locations: None,
    }
}
