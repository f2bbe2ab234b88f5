//! What vendors refuse, as far as their documentation and their error messages say: a request that passes here has its
//! roles in order, a result right after every call, ids that match, and no field that nobody knows.

mod anthropic;
mod azure;
mod gemini;
mod openai_chat;
mod openai_responses;

use serde_json::Value;

use super::Recorded;
use super::wire::WireFormat;

pub(super) fn check(wire: WireFormat, request: &Recorded) -> Result<(), String> {
    if request.path.contains("key=") {
        return Err("a key does not belong into an address".to_owned());
    }
    azure::check(request)?;
    match wire {
        WireFormat::OpenAiChat => openai_chat::check(&request.json),
        WireFormat::OpenAiResponses => openai_responses::check(&request.json),
        WireFormat::Anthropic => anthropic::check(request),
        WireFormat::Gemini => gemini::check(request),
    }
}

/// What our replies sign thoughts with: a thought that comes back with something else was touched.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// That all fields of an object are known.
fn fields(object: &Value, known: &[&str], place: &str) -> Result<(), String> {
    let Value::Object(fields) = object else { return Err(format!("{place}: not an object")) };
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        Some(unknown) => Err(format!("{place}.{unknown}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

fn list<'a>(value: &'a Value, place: &str) -> Result<&'a [Value], String> {
    match value.as_array() {
        Some(items) if !items.is_empty() => Ok(items),
        _ => Err(format!("{place}: should be a list with something in it")),
    }
}

fn text<'a>(value: &'a Value, place: &str) -> Result<&'a str, String> {
    value.as_str().filter(|text| !text.is_empty()).ok_or_else(|| format!("{place}: should be a text"))
}

fn data_url(value: &Value, place: &str) -> Result<(), String> {
    let url = text(value, place)?;
    let good = url.starts_with("data:image/") && url.contains(";base64,");
    if good { Ok(()) } else { Err(format!("{place}: not a picture in base64")) }
}

/// A schema of arguments: an object.
fn arguments_schema(schema: &Value, place: &str) -> Result<(), String> {
    let top = ["anyOf", "oneOf", "allOf", "enum", "not"].iter().any(|key| schema.get(key).is_some());
    if schema["type"] == "object" && !top { Ok(()) } else { Err(format!("{place}: should be an object")) }
}

/// Arguments as a text that holds an object.
fn arguments_text(value: &Value, place: &str) -> Result<(), String> {
    match serde_json::from_str(value.as_str().unwrap_or_default()) {
        Ok(Value::Object(_)) => Ok(()),
        _ => Err(format!("{place}: not an object in JSON")),
    }
}

/// That an id is new, and of letters that all accept.
fn new_id<'a>(id: &'a str, seen: &mut Vec<&'a str>, place: &str) -> Result<(), String> {
    if !id.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-')) {
        return Err(format!("{place}: String should match pattern '^[a-zA-Z0-9_-]+$'"));
    }
    if seen.contains(&id) {
        return Err(format!("{place}: ids must be unique, `{id}` is not"));
    }
    seen.push(id);
    Ok(())
}

/// That results answer exactly these calls, in any order.
fn answered(calls: &[&str], results: &[&str], place: &str) -> Result<(), String> {
    let (mut calls, mut results) = (calls.to_vec(), results.to_vec());
    calls.sort_unstable();
    results.sort_unstable();
    if calls == results {
        return Ok(());
    }
    Err(format!("{place}: calls {calls:?} must be followed by their results, not by {results:?}"))
}
