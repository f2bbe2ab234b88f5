//! What the gateway and the program say, as news. Only of our own run: a gateway serves many.

use acp::{News, ToolNews};
use protocol::{CallId, Content, ToolContent, ToolKind, ToolStatus, Usage};
use serde_json::Value;

use super::{said, usage};

/// What was heard.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Heard {
    News(Box<News>),
    Usage(Usage),
    Done,
    Failed(String),
}

/// One run.
pub(super) struct Reader {
    /// The request that started it.
    request: Option<String>,
    run: Option<String>,
    /// Something was said piece by piece, so the whole of it at the end is no news.
    streamed: bool,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self { request: None, run: None, streamed: false }
    }

    pub(super) fn run(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// The run that was asked for, as the first answer names it.
    pub(super) fn asked(&mut self, (request, payload): (String, Value)) {
        self.run = payload["runId"].as_str().map(str::to_owned);
        self.request = Some(request);
    }

    pub(super) fn read(&mut self, frame: &Value) -> Vec<Heard> {
        let payload = &frame["payload"];
        match frame["type"].as_str() {
            Some("res") if self.request.as_deref() == frame["id"].as_str() => self.answer(frame),
            Some("event") if self.is_ours(payload) => self.event(payload),
            Some("event") if frame["event"] == "shutdown" => {
                vec![Heard::Failed("its gateway is shutting down".to_owned())]
            }
            _ => vec![],
        }
    }

    /// An event that names no run is nobody's.
    fn is_ours(&self, payload: &Value) -> bool {
        self.run.is_some() && payload["runId"].as_str() == self.run.as_deref()
    }

    fn event(&mut self, payload: &Value) -> Vec<Heard> {
        // The same text comes on two channels; this one is the second.
        if payload["state"] == "delta" {
            return vec![];
        }
        let data = &payload["data"];
        let delta = data["delta"].as_str();
        // What it says before and after a tool are two messages.
        let message = data["itemId"].as_str().or(self.run.as_deref()).unwrap_or_default().to_owned();
        match payload["stream"].as_str() {
            Some("assistant") => {
                self.streamed |= delta.is_some();
                delta.map(|delta| said(delta, &message)).into_iter().collect()
            }
            Some("thinking") => delta
                .map(|delta| {
                    Heard::News(Box::new(News::Thought {
                        content: Content::text(delta),
                        message: Some(message),
                    }))
                })
                .into_iter()
                .collect(),
            Some("tool") => tool(data).into_iter().collect(),
            Some("lifecycle") if data["phase"] == "error" => {
                vec![Heard::Failed(data["error"].as_str().unwrap_or("the run failed").to_owned())]
            }
            // The end is told by the answer, which has the numbers; this is only the last word.
            _ => vec![],
        }
    }

    /// The second answer to a request is the end of the run.
    fn answer(&mut self, frame: &Value) -> Vec<Heard> {
        let payload = &frame["payload"];
        if frame["ok"] == false {
            let why = frame.pointer("/error/message").and_then(Value::as_str).unwrap_or("no reason");
            return vec![Heard::Failed(why.to_owned())];
        }
        if matches!(payload["status"].as_str(), Some("accepted" | "pending" | "running")) {
            self.run = payload["runId"].as_str().map(str::to_owned).or(self.run.take());
            return vec![];
        }
        if let Some(why @ ("error" | "timeout" | "aborted" | "cancelled")) = payload["status"].as_str() {
            let told = payload.pointer("/error/message").or(payload.get("summary")).and_then(Value::as_str);
            return vec![Heard::Failed(told.unwrap_or(why).to_owned())];
        }
        let result = if payload["result"].is_object() { &payload["result"] } else { payload };
        self.whole(result)
    }

    /// One document: what was said, and what it took.
    fn whole(&mut self, result: &Value) -> Vec<Heard> {
        let mut heard = Vec::new();
        if !self.streamed {
            let payloads = result["payloads"].as_array().map(Vec::as_slice).unwrap_or_default();
            let texts: Vec<&str> = payloads.iter().filter_map(|part| part["text"].as_str()).collect();
            if !texts.is_empty() {
                heard.push(said(&texts.join("\n\n"), self.run.as_deref().unwrap_or("answer")));
            }
        }
        let used = result.pointer("/meta/agentMeta/usage").or(result.get("usage"));
        heard.extend(used.and_then(usage).map(Heard::Usage));
        heard.push(Heard::Done);
        heard
    }

    /// What the program prints: events a line, or one document at its end.
    pub(super) fn read_program(&mut self, value: &Value) -> Vec<Heard> {
        if value["ok"] == false {
            let why = value.pointer("/error/message").and_then(Value::as_str).unwrap_or("it failed");
            return vec![Heard::Failed(why.to_owned())];
        }
        if value["payloads"].is_array() || value["meta"].is_object() {
            return self.whole(value);
        }
        match value["type"].as_str() {
            Some("text") => {
                self.streamed = true;
                value["text"].as_str().map(|text| said(text, "answer")).into_iter().collect()
            }
            Some("error") => vec![Heard::Failed(value["message"].as_str().unwrap_or("it failed").to_owned())],
            _ => vec![],
        }
    }
}

fn tool(data: &Value) -> Option<Heard> {
    let call = data["toolCallId"].as_str().or(data["id"].as_str())?;
    let name = data["name"].as_str().unwrap_or("tool");
    let phase = data["phase"].as_str().unwrap_or_default();
    let failed = data["isError"] == true;
    let status = match phase {
        "result" | "end" if failed => ToolStatus::Failed,
        "result" | "end" => ToolStatus::Completed,
        _ => ToolStatus::InProgress,
    };
    let kind = match name {
        "exec" | "bash" | "shell" | "process" => ToolKind::Execute,
        "read" | "ls" => ToolKind::Read,
        "write" | "edit" | "apply_patch" => ToolKind::Edit,
        "web_fetch" | "web_search" | "browser" => ToolKind::Fetch,
        _ => ToolKind::Other,
    };
    let args = &data["args"];
    let about = ["command", "path", "url", "query"].iter().find_map(|key| args[key].as_str());
    let title = match (kind, about) {
        (ToolKind::Execute, Some(command)) => command.to_owned(),
        (_, Some(about)) => format!("{name} {about}"),
        _ => name.to_owned(),
    };
    let begins = phase == "start";
    let output = output(&data["result"]).or_else(|| output(&data["partialResult"]));
    Some(Heard::News(Box::new(News::Tool(ToolNews {
        call: CallId::new(call),
        begins,
        name: Some(name.to_owned()),
        title: begins.then_some(title),
        kind: Some(kind),
        status: Some(status),
        input: data.get("args").cloned(),
        output: None,
        content: output.map(|text| vec![ToolContent::text(text)]),
        locations: None,
    }))))
}

/// What came of a tool: a text, or blocks of which some are texts.
fn output(result: &Value) -> Option<String> {
    if let Some(blocks) = result["content"].as_array() {
        let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        return Some(texts.join("\n")).filter(|text| !text.is_empty());
    }
    match result {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reader() -> Reader {
        let mut reader = Reader::new();
        reader.asked(("r1".to_owned(), json!({"status": "accepted", "runId": "mine"})));
        reader
    }

    #[test]
    fn what_others_are_told_is_not_ours() {
        let mut reader = reader();
        let event = |run: &str, text: &str| json!({"type": "event", "event": "agent", "payload": {"runId": run, "stream": "assistant", "data": {"delta": text}}});
        assert_eq!(reader.read(&event("theirs", "no")), []);
        assert_eq!(reader.read(&event("mine", "yes")), [said("yes", "mine")]);
        let nobody = json!({"type": "event", "event": "agent", "payload": {"stream": "assistant", "data": {"delta": "no"}}});
        assert_eq!(reader.read(&nobody), []);
    }

    #[test]
    fn the_whole_answer_at_the_end_is_told_only_if_nothing_came_before() {
        let end = json!({"type": "res", "id": "r1", "ok": true, "payload": {"status": "ok", "result": {
            "payloads": [{"text": "all of it"}], "meta": {"agentMeta": {"usage": {"input": 3, "output": 2}}}}}});
        let usage = Heard::Usage(Usage { input: 3, output: 2, ..Usage::default() });
        assert_eq!(reader().read(&end), [said("all of it", "mine"), usage.clone(), Heard::Done]);
        let mut streamed = reader();
        streamed.read(&json!({"type": "event", "payload": {"runId": "mine", "stream": "assistant", "data": {"delta": "all"}}}));
        assert_eq!(streamed.read(&end), [usage, Heard::Done]);
    }
}
