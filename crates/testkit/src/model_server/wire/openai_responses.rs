//! OpenAI Responses.

use bytes::Bytes;
use serde_json::{Value, json};

use super::openai_chat::names;
use super::{Answer, Block, named, text_of};
use crate::model_server::conversation::{Conversation, Turn};

pub(super) fn conversation(body: &Value) -> Conversation {
    let mut said = Conversation::new(&body["model"]);
    if let Some(text) = body["input"].as_str() {
        said.turns.push(Turn::User(text.to_owned()));
    }
    for item in body["input"].as_array().into_iter().flatten() {
        if item["type"].as_str().is_some_and(|kind| kind.ends_with("_output")) {
            said.turns.push(Turn::Result(text_of(&item["output"])));
        } else if item["role"] == "user" {
            said.turns.push(Turn::User(text_of(&item["content"])));
        }
    }
    said.tools = names(&body["tools"], |tool| &tool["name"]);
    said
}

fn item(answer: &Answer<'_>, index: usize, block: &Block) -> Value {
    let number = answer.number;
    match block {
        Block::Think(pieces) => json!({
            "type": "reasoning", "id": format!("rs_{number}_{index}"),
            "summary": [{"type": "summary_text", "text": pieces.whole()}], "encrypted_content": "c2NyaXB0ZWQ=",
        }),
        Block::Text(pieces) => json!({
            "type": "message", "id": format!("msg_{number}_{index}"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": pieces.whole(), "annotations": []}],
        }),
        Block::Call { id, name, arguments, .. } => json!({
            "type": "function_call", "id": format!("fc_{number}_{index}"), "call_id": id, "name": name,
            "arguments": super::arguments_text(arguments), "status": "completed",
        }),
    }
}

fn response(answer: &Answer<'_>, status: &str, output: Vec<Value>) -> Value {
    let tokens = answer.usage;
    let usage = json!({
        "input_tokens": tokens.input,
        "input_tokens_details": {"cached_tokens": tokens.cache_read},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input + tokens.output,
    });
    let details = if status == "incomplete" { json!({"reason": answer.stop}) } else { Value::Null };
    json!({
        "id": format!("resp_{}", answer.number), "object": "response", "created_at": 1_790_000_000,
        "model": answer.model, "status": status, "output": output,
        "usage": if status == "in_progress" { Value::Null } else { usage },
        "error": null, "incomplete_details": details, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
    })
}

pub(super) fn stream(answer: &Answer<'_>) -> Vec<Bytes> {
    let mut frames = Vec::new();
    let mut sequence = 0_u64;
    let mut event = |name: &str, mut body: Value| {
        body["type"] = name.into();
        body["sequence_number"] = sequence.into();
        sequence += 1;
        named(name, &body)
    };
    frames.push(event("response.created", json!({"response": response(answer, "in_progress", vec![])})));
    frames.push(event("response.in_progress", json!({"response": response(answer, "in_progress", vec![])})));
    for (index, block) in answer.blocks.iter().enumerate() {
        let whole = item(answer, index, block);
        let id = whole["id"].clone();
        let mut begun = whole.clone();
        match block {
            Block::Think(_) => begun["summary"] = json!([]),
            Block::Text(_) => begun["content"] = json!([]),
            Block::Call { .. } => begun["arguments"] = "".into(),
        }
        if begun.get("status").is_some() {
            begun["status"] = "in_progress".into();
        }
        frames.push(event("response.output_item.added", json!({"output_index": index, "item": begun})));
        match block {
            Block::Think(pieces) => {
                let at = json!({"item_id": id, "output_index": index, "summary_index": 0});
                let with = |key: &str, value: Value| with(&at, key, value);
                let part = json!({"type": "summary_text", "text": ""});
                frames.push(event("response.reasoning_summary_part.added", with("part", part)));
                pieces.frames(&mut frames, |text| {
                    event("response.reasoning_summary_text.delta", with("delta", text.into()))
                });
                frames
                    .push(event("response.reasoning_summary_text.done", with("text", pieces.whole().into())));
            }
            Block::Text(pieces) => {
                let at = json!({"item_id": id, "output_index": index, "content_index": 0});
                let with = |key: &str, value: Value| with(&at, key, value);
                let part = json!({"type": "output_text", "text": "", "annotations": []});
                frames.push(event("response.content_part.added", with("part", part)));
                pieces.frames(&mut frames, |text| {
                    event("response.output_text.delta", with("delta", text.into()))
                });
                frames.push(event("response.output_text.done", with("text", pieces.whole().into())));
                frames.push(event("response.content_part.done", with("part", whole["content"][0].clone())));
            }
            Block::Call { pieces, .. } => {
                let at = json!({"item_id": id, "output_index": index});
                let with = |key: &str, value: Value| with(&at, key, value);
                pieces.frames(&mut frames, |text| {
                    event("response.function_call_arguments.delta", with("delta", text.into()))
                });
                let done = with("arguments", whole["arguments"].clone());
                frames.push(event("response.function_call_arguments.done", done));
            }
        }
        frames.push(event("response.output_item.done", json!({"output_index": index, "item": whole})));
    }
    let last = if answer.stop.is_some() { "response.incomplete" } else { "response.completed" };
    frames.push(event(last, json!({"response": self::whole(answer)})));
    frames
}

fn with(at: &Value, key: &str, value: Value) -> Value {
    let mut body = at.clone();
    body[key] = value;
    body
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let output = answer.blocks.iter().enumerate().map(|(index, block)| item(answer, index, block)).collect();
    response(answer, if answer.stop.is_some() { "incomplete" } else { "completed" }, output)
}
