use serde_json::Value;

use super::{SIGNATURE, answered, arguments_schema, arguments_text, data_url, fields, list, new_id, text};

pub(super) fn check(body: &Value) -> Result<(), String> {
    let known = [
        "model",
        "stream",
        "store",
        "include",
        "max_output_tokens",
        "temperature",
        "reasoning",
        "text",
        "tools",
        "instructions",
        "input",
    ];
    fields(body, &known, "body")?;
    text(&body["model"], "model")?;
    if body["store"] != false {
        return Err("store: nothing is to be kept".to_owned());
    }
    for tool in body.get("tools").map_or(Ok(&[][..]), |tools| list(tools, "tools"))? {
        fields(tool, &["type", "name", "description", "parameters", "strict"], "tools")?;
        arguments_schema(&tool["parameters"], "tools.parameters")?;
    }
    let (mut seen, mut open, mut results) = (Vec::new(), Vec::new(), Vec::new());
    let mut thought = None;
    for (at, item) in list(&body["input"], "input")?.iter().enumerate() {
        let place = format!("input[{at}]");
        let kind = item["type"].as_str().unwrap_or_default();
        let theirs = kind == "function_call" || kind == "reasoning" || item["role"] == "assistant";
        if let Some(id) = std::mem::take(&mut thought).filter(|_| !theirs) {
            return Err(format!(
                "Item '{id}' of type 'reasoning' was provided without its required following item."
            ));
        }
        if kind != "function_call_output" && !results.is_empty() {
            answered(&open, &results, &place)?;
            (open, results) = (Vec::new(), Vec::new());
        }
        match kind {
            "message" => {
                fields(item, &["type", "role", "content", "phase"], &place)?;
                if item["role"] == "user" && !open.is_empty() {
                    answered(&open, &results, &place)?;
                }
                list(&item["content"], &place)?
                    .iter()
                    .try_for_each(|part| content(part, &item["role"], &place))?;
            }
            "reasoning" => {
                fields(item, &["type", "id", "summary", "encrypted_content", "content"], &place)?;
                if item["encrypted_content"] != SIGNATURE {
                    return Err(format!("{place}: the encrypted content could not be verified"));
                }
                thought = Some(text(&item["id"], &place)?);
            }
            "function_call" => {
                fields(item, &["type", "call_id", "name", "arguments"], &place)?;
                arguments_text(&item["arguments"], &place)?;
                let id = text(&item["call_id"], &place)?;
                new_id(id, &mut seen, &place)?;
                open.push(id);
            }
            "function_call_output" => {
                fields(item, &["type", "call_id", "output"], &place)?;
                if !item["output"].is_string() {
                    list(&item["output"], &place)?
                        .iter()
                        .try_for_each(|part| content(part, &"user".into(), &place))?;
                }
                results.push(text(&item["call_id"], &place)?);
            }
            other => return Err(format!("{place}: Invalid value: '{other}'")),
        }
    }
    answered(&open, &results, "input")
}

fn content(part: &Value, role: &Value, place: &str) -> Result<(), String> {
    match (part["type"].as_str(), role.as_str()) {
        (Some("input_text"), Some("user")) | (Some("output_text"), Some("assistant")) => {
            fields(part, &["type", "text"], place)
        }
        (Some("input_image"), Some("user")) => data_url(&part["image_url"], place),
        _ => Err(format!("{place}: Invalid value: {part}")),
    }
}
