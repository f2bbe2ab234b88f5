//! OpenAI Chat Completions.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Answer, Block, data, text_of};
use crate::model_server::conversation::{Conversation, Turn};

pub(super) fn conversation(body: &Value) -> Conversation {
    let mut said = Conversation::new(&body["model"]);
    for message in body["messages"].as_array().into_iter().flatten() {
        let text = text_of(&message["content"]);
        match message["role"].as_str() {
            Some("user") => said.turns.push(Turn::User(text)),
            Some("tool" | "function") => said.turns.push(Turn::Result(text)),
            _ => {}
        }
    }
    said.tools = names(&body["tools"], |tool| &tool["function"]["name"]);
    said
}

pub(super) fn names<'a>(tools: &'a Value, name: impl Fn(&'a Value) -> &'a Value) -> Vec<String> {
    let tools = tools.as_array().into_iter().flatten();
    tools.filter_map(|tool| name(tool).as_str().map(str::to_owned)).collect()
}

fn usage(answer: &Answer<'_>) -> Value {
    let tokens = answer.usage;
    json!({
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    })
}

fn chunk(answer: &Answer<'_>, choices: Value) -> Value {
    json!({
        "id": format!("chatcmpl-{}", answer.number),
        "object": "chat.completion.chunk",
        "created": 1_790_000_000,
        "model": answer.model,
        "choices": choices,
    })
}

pub(super) fn stream(answer: &Answer<'_>, include_usage: bool) -> Vec<Bytes> {
    let delta =
        |delta: Value| data(&chunk(answer, json!([{"index": 0, "delta": delta, "finish_reason": null}])));
    let mut frames = vec![delta(json!({"role": "assistant", "content": ""}))];
    let mut index = 0;
    for block in &answer.blocks {
        match block {
            Block::Think(pieces) => {
                pieces.frames(&mut frames, |text| delta(json!({"reasoning_content": text})));
            }
            Block::Text(pieces) => pieces.frames(&mut frames, |text| delta(json!({"content": text}))),
            Block::Call { id, name, pieces, .. } => {
                let function = json!({"name": name, "arguments": ""});
                frames.push(delta(
                    json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}),
                ));
                pieces.frames(&mut frames, |text| {
                    delta(json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]}))
                });
                index += 1;
            }
        }
    }
    let stop = answer.stop_or("stop", "tool_calls");
    frames.push(data(&chunk(answer, json!([{"index": 0, "delta": {}, "finish_reason": stop}]))));
    if include_usage {
        let mut last = chunk(answer, json!([]));
        last["usage"] = usage(answer);
        frames.push(data(&last));
    }
    frames.push(Bytes::from_static(b"data: [DONE]\n\n"));
    frames
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    let mut calls = Vec::new();
    let append = |message: &mut Value, key: &str, text: String| {
        let before = message[key].as_str().unwrap_or_default().to_owned();
        message[key] = Value::String(before + &text);
    };
    for block in &answer.blocks {
        match block {
            Block::Think(pieces) => append(&mut message, "reasoning_content", pieces.whole()),
            Block::Text(pieces) => append(&mut message, "content", pieces.whole()),
            Block::Call { id, name, arguments, .. } => {
                let function = json!({"name": name, "arguments": super::arguments_text(arguments)});
                calls.push(json!({"id": id, "type": "function", "function": function}));
            }
        }
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    let stop = answer.stop_or("stop", "tool_calls");
    let mut whole = chunk(answer, json!([{"index": 0, "message": message, "finish_reason": stop}]));
    whole["object"] = "chat.completion".into();
    whole["usage"] = usage(answer);
    whole
}

pub(super) fn error(code: u16, message: &str) -> Value {
    let (kind, name) = match code {
        401 | 403 => ("invalid_request_error", json!("invalid_api_key")),
        404 => ("invalid_request_error", json!("model_not_found")),
        429 => ("requests", json!("rate_limit_exceeded")),
        400..=499 => ("invalid_request_error", Value::Null),
        _ => ("server_error", Value::Null),
    };
    json!({"error": {"message": message, "type": kind, "param": null, "code": name}})
}
