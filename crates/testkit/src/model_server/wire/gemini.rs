//! Gemini's generateContent and streamGenerateContent.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Answer, Block, data};
use crate::model_server::conversation::{Conversation, Turn};

pub(super) fn conversation(path: &str, body: &Value) -> Conversation {
    // The model is in the path: /v1beta/models/NAME:streamGenerateContent
    let model = path.rsplit('/').next().and_then(|last| last.split(':').next()).unwrap_or_default();
    let mut said = Conversation::new(&model.into());
    for content in body["contents"].as_array().into_iter().flatten() {
        for part in content["parts"].as_array().into_iter().flatten() {
            if let Some(result) = part.get("functionResponse") {
                let response = &result["response"];
                let text = response["output"].as_str().map_or_else(|| response.to_string(), str::to_owned);
                said.turns.push(Turn::Result(text));
            } else if content["role"] != "model"
                && let Some(text) = part["text"].as_str()
            {
                said.turns.push(Turn::User(text.to_owned()));
            }
        }
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        let declared = tool["functionDeclarations"].as_array().into_iter().flatten();
        said.tools.extend(declared.filter_map(|tool| tool["name"].as_str().map(str::to_owned)));
    }
    said
}

fn candidate(answer: &Answer<'_>, parts: Value, stop: Option<&str>) -> Value {
    let tokens = answer.usage;
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(stop) = stop {
        candidate["finishReason"] = stop.into();
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": tokens.input,
            "candidatesTokenCount": tokens.output.saturating_sub(tokens.reasoning),
            "thoughtsTokenCount": tokens.reasoning,
            "cachedContentTokenCount": tokens.cache_read,
            "totalTokenCount": tokens.input + tokens.output,
        },
        "modelVersion": answer.model,
        "responseId": format!("resp-{}", answer.number),
    })
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"functionCall": {"id": id, "name": name, "args": arguments}, "thoughtSignature": "c2NyaXB0ZWQ="})
}

pub(super) fn stream(answer: &Answer<'_>) -> Vec<Bytes> {
    let mut frames = Vec::new();
    for block in &answer.blocks {
        match block {
            Block::Think(pieces) => pieces.frames(&mut frames, |text| {
                data(&candidate(answer, json!([{"text": text, "thought": true}]), None))
            }),
            Block::Text(pieces) => {
                pieces.frames(&mut frames, |text| data(&candidate(answer, json!([{"text": text}]), None)))
            }
            // This wire sends a call whole.
            Block::Call { id, name, arguments, .. } => {
                frames.push(data(&candidate(answer, json!([call(id, name, arguments)]), None)));
            }
        }
    }
    frames.push(data(&candidate(answer, json!([{"text": ""}]), Some(answer.stop_or("STOP", "STOP")))));
    frames
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let parts = answer.blocks.iter().map(|block| match block {
        Block::Think(pieces) => json!({"text": pieces.whole(), "thought": true}),
        Block::Text(pieces) => json!({"text": pieces.whole()}),
        Block::Call { id, name, arguments, .. } => call(id, name, arguments),
    });
    candidate(answer, parts.collect(), Some(answer.stop_or("STOP", "STOP")))
}

pub(super) fn error(code: u16, message: &str) -> Value {
    let status = match code {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 | 529 => "UNAVAILABLE",
        _ => "INTERNAL",
    };
    json!({"error": {"code": code, "message": message, "status": status}})
}
