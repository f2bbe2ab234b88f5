//! Anthropic Messages.

use bytes::Bytes;
use serde_json::{Value, json};

use super::openai_chat::names;
use super::{Answer, Block, named, text_of};
use crate::model_server::conversation::{Conversation, Turn};

pub(super) fn conversation(body: &Value) -> Conversation {
    let mut said = Conversation::new(&body["model"]);
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] != "user" {
            continue;
        }
        match &message["content"] {
            Value::String(text) => said.turns.push(Turn::User(text.clone())),
            Value::Array(parts) => {
                for part in parts {
                    match part["type"].as_str() {
                        Some("tool_result") => said.turns.push(Turn::Result(text_of(&part["content"]))),
                        Some("text") => {
                            said.turns.push(Turn::User(part["text"].as_str().unwrap_or_default().to_owned()));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    said.tools = names(&body["tools"], |tool| &tool["name"]);
    said
}

fn usage(answer: &Answer<'_>) -> Value {
    let tokens = answer.usage;
    json!({
        // This wire counts cached tokens apart from the others.
        "input_tokens": tokens.input.saturating_sub(tokens.cache_read + tokens.cache_write),
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
    })
}

fn content(block: &Block) -> Value {
    match block {
        Block::Think(pieces) => {
            json!({"type": "thinking", "thinking": pieces.whole(), "signature": "c2NyaXB0ZWQ="})
        }
        Block::Text(pieces) => json!({"type": "text", "text": pieces.whole()}),
        Block::Call { id, name, arguments, .. } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": arguments})
        }
    }
}

pub(super) fn stream(answer: &Answer<'_>) -> Vec<Bytes> {
    let event = |name: &str, mut body: Value| {
        body["type"] = name.into();
        named(name, &body)
    };
    let mut first = whole(answer);
    first["content"] = json!([]);
    first["stop_reason"] = Value::Null;
    first["usage"]["output_tokens"] = 1.into();
    let mut frames = vec![event("message_start", json!({"message": first}))];
    for (index, block) in answer.blocks.iter().enumerate() {
        let delta = |delta: Value| event("content_block_delta", json!({"index": index, "delta": delta}));
        let start =
            |block: Value| event("content_block_start", json!({"index": index, "content_block": block}));
        match block {
            Block::Think(pieces) => {
                frames.push(start(json!({"type": "thinking", "thinking": "", "signature": ""})));
                pieces.frames(&mut frames, |text| delta(json!({"type": "thinking_delta", "thinking": text})));
                frames.push(delta(json!({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="})));
            }
            Block::Text(pieces) => {
                frames.push(start(json!({"type": "text", "text": ""})));
                pieces.frames(&mut frames, |text| delta(json!({"type": "text_delta", "text": text})));
            }
            Block::Call { id, name, pieces, .. } => {
                frames.push(start(json!({"type": "tool_use", "id": id, "name": name, "input": {}})));
                pieces.frames(&mut frames, |text| {
                    delta(json!({"type": "input_json_delta", "partial_json": text}))
                });
            }
        }
        frames.push(event("content_block_stop", json!({"index": index})));
    }
    let stop = answer.stop_or("end_turn", "tool_use");
    frames.push(event(
        "message_delta",
        json!({"delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": answer.usage.output}}),
    ));
    frames.push(event("message_stop", json!({})));
    frames
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    json!({
        "id": format!("msg_{}", answer.number),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": answer.blocks.iter().map(content).collect::<Vec<_>>(),
        "stop_reason": answer.stop_or("end_turn", "tool_use"),
        "stop_sequence": null,
        "usage": usage(answer),
    })
}

pub(super) fn error(code: u16, message: &str) -> Value {
    let kind = match code {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_scripted"})
}
