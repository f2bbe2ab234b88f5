//! Gemini CLI: `~/.gemini/tmp/PROJECT/chats/session-….jsonl`, and one document in older versions.

use protocol::{Content, Timestamp, Usage};
use serde_json::Value;

use super::{Gathered, Step, count, list, text, time};

pub(super) fn read(lines: &[Value]) -> Gathered {
    let mut gathered = Gathered::of("gemini");
    let mut messages: Vec<Value> = Vec::new();
    for line in lines {
        if line.get("sessionId").is_some() {
            gathered.session.session = text(line, "sessionId").to_owned();
        }
        // A change of the whole, or a message; one that is there is written again as it grows.
        let set = line.get("$set").unwrap_or(line);
        if let Some(all) = set.get("messages").and_then(Value::as_array) {
            messages.clone_from(all);
        } else if line.get("id").is_some() {
            match messages.iter_mut().find(|message| message["id"] == line["id"]) {
                Some(there) => there.clone_from(line),
                None => messages.push(line.clone()),
            }
        }
    }
    for message in &messages {
        let at = time(&message["timestamp"]);
        match text(message, "type") {
            "user" => user(&mut gathered, at, message),
            "gemini" => answer(&mut gathered, at, message),
            other => gathered.lost(&format!("messages of kind `{other}`")),
        }
    }
    gathered
}

fn user(gathered: &mut Gathered, at: Option<Timestamp>, message: &Value) {
    let words: Vec<&str> = match &message["content"] {
        Value::String(words) => vec![words],
        _ => list(message, "content").iter().filter_map(|part| part.get("text")?.as_str()).collect(),
    };
    if words.iter().any(|words| words.starts_with("<session_context>")) {
        return gathered.lost("notes of Gemini CLI to its model");
    }
    let pictures = list(message, "content").iter().filter(|part| part.get("inlineData").is_some()).count();
    gathered.lost_many("pictures", u32::try_from(pictures).unwrap_or(u32::MAX));
    // What is left without words is the answer of a tool, which the call has too.
    if !words.is_empty() {
        gathered.prompt(at, words.into_iter().map(Content::text).collect());
    }
}

fn answer(gathered: &mut Gathered, at: Option<Timestamp>, message: &Value) {
    for thought in list(message, "thoughts") {
        let words = [text(thought, "subject"), text(thought, "description")].join("\n");
        gathered.thought(at, words.trim());
    }
    match &message["content"] {
        Value::String(words) => gathered.said(at, words),
        _ => list(message, "content").iter().for_each(|part| gathered.said(at, text(part, "text"))),
    }
    for call in list(message, "toolCalls") {
        let (id, at) = (text(call, "id"), time(&call["timestamp"]).or(at));
        gathered.call(at, id, text(call, "name"), call["args"].clone());
        let given = list(call, "result")
            .iter()
            .find_map(|part| part.pointer("/functionResponse/response/output").and_then(Value::as_str));
        let shown = call.get("resultDisplay").and_then(Value::as_str).or(given).unwrap_or_default();
        gathered.result(at, id, text(call, "status") != "success", shown.to_owned());
    }
    let tokens = &message["tokens"];
    if tokens.is_object() {
        let usage = Usage {
            input: count(tokens, "input"),
            output: count(tokens, "output") + count(tokens, "thoughts"),
            cache_read: count(tokens, "cached"),
            reasoning: count(tokens, "thoughts"),
            ..Usage::default()
        };
        gathered.step(at, Step::Usage(usage));
    }
}
