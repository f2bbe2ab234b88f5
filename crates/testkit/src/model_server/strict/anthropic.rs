use serde_json::Value;

use super::{SIGNATURE, answered, arguments_schema, fields, list, new_id, text};
use crate::model_server::Recorded;

pub(super) fn check(request: &Recorded) -> Result<(), String> {
    let body = &request.json;
    if request.header("anthropic-version") != Some("2023-06-01") {
        return Err("anthropic-version: header is required".to_owned());
    }
    let known = [
        "model",
        "stream",
        "max_tokens",
        "temperature",
        "thinking",
        "output_config",
        "tools",
        "system",
        "messages",
    ];
    fields(body, &known, "body")?;
    text(&body["model"], "model")?;
    let limit = body["max_tokens"].as_u64().ok_or("max_tokens: Field required")?;
    if let Some(thinking) = body.get("thinking") {
        fields(thinking, &["type", "budget_tokens", "display"], "thinking")?;
        let budget = thinking["budget_tokens"].as_u64().unwrap_or(1024);
        if budget < 1024 || budget >= limit {
            return Err("`max_tokens` must be greater than `thinking.budget_tokens`".to_owned());
        }
        if body.get("temperature").is_some() {
            return Err("`temperature` may only be set to 1 when thinking is enabled".to_owned());
        }
    }
    for tool in body.get("tools").map_or(Ok(&[][..]), |tools| list(tools, "tools"))? {
        fields(tool, &["name", "description", "input_schema", "cache_control"], "tools")?;
        arguments_schema(&tool["input_schema"], "tools.input_schema")?;
    }
    if body.to_string().matches("\"cache_control\"").count() > 4 {
        return Err("A maximum of 4 blocks with cache_control may be provided.".to_owned());
    }
    messages(list(&body["messages"], "messages")?)
}

fn messages(messages: &[Value]) -> Result<(), String> {
    let (mut seen, mut open) = (Vec::new(), Vec::new());
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages.{at}");
        fields(message, &["role", "content"], &place)?;
        if message["role"] != ["user", "assistant"][at % 2] {
            return Err(format!("{place}: roles must alternate between \"user\" and \"assistant\""));
        }
        let content = list(&message["content"], &place)?;
        let mut results = Vec::new();
        let mut calls = Vec::new();
        for (number, block) in content.iter().enumerate() {
            let place = format!("{place}.content.{number}");
            match (block["type"].as_str().unwrap_or_default(), at % 2) {
                ("text", _) => {
                    fields(block, &["type", "text", "cache_control"], &place)?;
                    if text(&block["text"], &place)?.trim().is_empty() {
                        return Err(format!("{place}: text content blocks must contain non-whitespace text"));
                    }
                }
                ("image", 0) => picture(block, &place)?,
                ("tool_result", 0) => {
                    fields(block, &["type", "tool_use_id", "content", "is_error", "cache_control"], &place)?;
                    if number != results.len() {
                        return Err(format!("{place}: tool_result blocks come first"));
                    }
                    results.push(text(&block["tool_use_id"], &place)?);
                    for part in block["content"].as_array().into_iter().flatten() {
                        match part["type"].as_str() {
                            Some("text") => text(&part["text"], &place).map(drop)?,
                            _ => picture(part, &place)?,
                        }
                    }
                }
                ("thinking", 1) => {
                    fields(block, &["type", "thinking", "signature"], &place)?;
                    if block["signature"] != SIGNATURE || !block["thinking"].is_string() {
                        return Err(format!("{place}: Invalid `signature` in `thinking` block"));
                    }
                }
                ("redacted_thinking", 1) => fields(block, &["type", "data"], &place)?,
                ("tool_use", 1) => {
                    fields(block, &["type", "id", "name", "input"], &place)?;
                    if !block["input"].is_object() {
                        return Err(format!("{place}.input: Input should be a valid dictionary"));
                    }
                    let id = text(&block["id"], &place)?;
                    new_id(id, &mut seen, &place)?;
                    calls.push(id);
                }
                (other, _) => return Err(format!("{place}: Input tag '{other}' is not expected")),
            }
        }
        answered(&open, &results, &place)?;
        open = calls;
    }
    answered(&open, &[], "messages")
}

fn picture(block: &Value, place: &str) -> Result<(), String> {
    fields(block, &["type", "source", "cache_control"], place)?;
    fields(&block["source"], &["type", "media_type", "data"], place)?;
    text(&block["source"]["data"], place).map(drop)
}
