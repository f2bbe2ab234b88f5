use serde_json::Value;

use super::{answered, arguments_schema, arguments_text, data_url, fields, list, new_id, text};

pub(super) fn check(body: &Value) -> Result<(), String> {
    let known = [
        "model",
        "stream",
        "stream_options",
        "max_completion_tokens",
        "max_tokens",
        "temperature",
        "reasoning_effort",
        "thinking",
        "response_format",
        "tools",
        "messages",
    ];
    fields(body, &known, "body")?;
    text(&body["model"], "model")?;
    for tool in body.get("tools").map_or(Ok(&[][..]), |tools| list(tools, "tools"))? {
        fields(tool, &["type", "function"], "tools")?;
        fields(&tool["function"], &["name", "description", "parameters", "strict"], "tools.function")?;
        arguments_schema(&tool["function"]["parameters"], "tools.function.parameters")?;
    }
    let (mut seen, mut open, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for (at, message) in list(&body["messages"], "messages")?.iter().enumerate() {
        let place = format!("messages.{at}");
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            fields(message, &["role", "tool_call_id", "content"], &place)?;
            results.push(text(&message["tool_call_id"], &place)?);
            if !message["content"].is_string() {
                return Err(format!("{place}: a result should be a text"));
            }
            continue;
        }
        answered(&open, &results, &place)?;
        (open, results) = (Vec::new(), Vec::new());
        match role {
            "system" if at == 0 => text(&message["content"], &place).map(drop)?,
            "user" => {
                fields(message, &["role", "content"], &place)?;
                if !message["content"].is_string() {
                    list(&message["content"], &place)?.iter().try_for_each(|part| {
                        match part["type"].as_str() {
                            Some("text") => fields(part, &["type", "text"], &place),
                            Some("image_url") => data_url(&part["image_url"]["url"], &place),
                            _ => Err(format!("{place}: an unknown part")),
                        }
                    })?;
                }
            }
            "assistant" => {
                fields(message, &["role", "content", "tool_calls", "reasoning_content"], &place)?;
                if message["content"].is_null() && message.get("tool_calls").is_none() {
                    return Err(format!("{place}: says nothing"));
                }
                for call in message.get("tool_calls").map_or(Ok(&[][..]), |calls| list(calls, &place))? {
                    fields(call, &["id", "type", "function"], &place)?;
                    fields(&call["function"], &["name", "arguments"], &place)?;
                    arguments_text(&call["function"]["arguments"], &place)?;
                    let id = text(&call["id"], &place)?;
                    new_id(id, &mut seen, &place)?;
                    open.push(id);
                }
            }
            other => return Err(format!("{place}: `{other}` does not speak here")),
        }
    }
    answered(&open, &results, "messages")
}
