use serde_json::Value;

use super::{SIGNATURE, answered, fields, list, new_id, text};
use crate::model_server::Recorded;

pub(super) fn check(request: &Recorded) -> Result<(), String> {
    let body = &request.json;
    if !request.path.ends_with("?alt=sse") {
        return Err("not asked for a stream of events".to_owned());
    }
    fields(body, &["generationConfig", "tools", "systemInstruction", "contents"], "body")?;
    if let Some(options) = body.get("generationConfig") {
        let known =
            ["maxOutputTokens", "temperature", "thinkingConfig", "responseMimeType", "responseSchema"];
        fields(options, &known, "generationConfig")?;
        if let Some(wanted) = options.get("responseSchema") {
            schema(wanted)?;
        }
    }
    for tool in body.get("tools").map_or(Ok(&[][..]), |tools| list(tools, "tools"))? {
        fields(tool, &["functionDeclarations"], "tools")?;
        for function in list(&tool["functionDeclarations"], "functionDeclarations")? {
            fields(function, &["name", "description", "parameters"], "functionDeclarations")?;
            if let Some(parameters) = function.get("parameters") {
                if parameters.get("properties").is_none() {
                    return Err("parameters.properties: should be non-empty for OBJECT type".to_owned());
                }
                schema(parameters)?;
            }
        }
    }
    contents(list(&body["contents"], "contents")?)
}

fn contents(contents: &[Value]) -> Result<(), String> {
    let (mut seen, mut open, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for (at, content) in contents.iter().enumerate() {
        let place = format!("contents[{at}]");
        fields(content, &["role", "parts"], &place)?;
        if content["role"] != ["user", "model"][at % 2] {
            return Err(format!("{place}: ensure that turns alternate between user and model"));
        }
        let (mut calls, mut call_names, mut results, mut result_names) = (vec![], vec![], vec![], vec![]);
        for part in list(&content["parts"], &place)? {
            let known =
                ["text", "thought", "thoughtSignature", "functionCall", "functionResponse", "inlineData"];
            fields(part, &known, &place)?;
            if let Some(call) = part.get("functionCall") {
                fields(call, &["id", "name", "args"], &place)?;
                if !call["args"].is_object() {
                    return Err(format!("{place}: args should be a Struct"));
                }
                if calls.is_empty() && part.get("thoughtSignature").is_none() {
                    return Err(format!("{place}: Function call is missing a thought_signature"));
                }
                let id = text(&call["id"], &place)?;
                new_id(id, &mut seen, &place)?;
                calls.push(id);
                call_names.push(text(&call["name"], &place)?);
            } else if let Some(result) = part.get("functionResponse") {
                fields(result, &["id", "name", "response"], &place)?;
                if !result["response"].is_object() {
                    return Err(format!("{place}: response should be a Struct"));
                }
                results.push(text(&result["id"], &place)?);
                result_names.push(text(&result["name"], &place)?);
            } else if let Some(picture) = part.get("inlineData") {
                fields(picture, &["mimeType", "data"], &place)?;
            } else if !part["text"].is_string() {
                return Err(format!("{place}: a part must have data"));
            }
            let signature = part.get("thoughtSignature").and_then(Value::as_str);
            if signature.is_some_and(|s| s != SIGNATURE && s != "context_engineering_is_the_way_to_go") {
                return Err(format!("{place}: the thought signature is not valid"));
            }
        }
        answered(&open, &results, &place)?;
        answered(&names, &result_names, &place)?;
        (open, names) = (calls, call_names);
    }
    answered(&open, &[], "contents")
}

fn schema(schema: &Value) -> Result<(), String> {
    let known = [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "maxItems",
        "minItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "default",
        "anyOf",
        "items",
        "minimum",
        "maximum",
    ];
    fields(schema, &known, "schema")?;
    if !schema["type"].is_string() && schema.get("anyOf").is_none() {
        return Err("schema.type: one type is needed".to_owned());
    }
    if schema.get("enum").is_some() && schema["type"] != "string" {
        return Err("schema.enum: only allowed for STRING type".to_owned());
    }
    for inner in schema["properties"].as_object().into_iter().flat_map(|inner| inner.values()) {
        self::schema(inner)?;
    }
    schema["anyOf"].as_array().into_iter().flatten().try_for_each(self::schema)?;
    schema.get("items").map_or(Ok(()), self::schema)
}
