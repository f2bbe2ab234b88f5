//! Requests. A body begins with what never changes and ends with the newest message, so that each request of a
//! session is the last one with something added: that is what providers' caches look for.

use serde_json::{Value, json};

use crate::message::Dialect;
use crate::reasoning::{Effort, ReasoningKind};
use crate::schema;
use crate::wire::ids::{Calls, IdRule, pieces};
use crate::wire::write::{self, Body};
use crate::wire::{Ask, Quirks};
use crate::{Block, ImageData, Message, Role, ToolSpec, Wire};

/// The JSON of a request.
pub(super) fn body(ask: &Ask<'_>) -> Vec<u8> {
    let (request, quirks) = (ask.request, ask.quirks);
    let (dialect, rule) = dialect(quirks);
    let tools = request.tools.piece(Wire::OpenaiChat, tool);
    let pieces = pieces(request, dialect, ask.origin, rule, |message, calls| piece(message, calls, dialect));
    let mut body = Body::new(ask.model, write::size(&pieces) + tools.len() + request.system.len());
    if quirks.include_usage {
        body.raw(",\"stream_options\":{\"include_usage\":true}");
    }
    if let Some(limit) = request.max_output {
        body.field(&quirks.max_tokens_field, &limit);
    }
    if let Some(temperature) = request.temperature {
        body.field("temperature", &temperature);
    }
    match ask.effort(ReasoningKind::Effort) {
        Some((effort, ReasoningKind::Effort)) => {
            let word = ask.info.reasoning.word(effort, &["none", "low", "medium", "high"]);
            body.field("reasoning_effort", word);
        }
        Some((effort, ReasoningKind::Switch)) => {
            let word = if effort == Effort::None { "disabled" } else { "enabled" };
            body.field("thinking", &json!({"type": word}));
        }
        _ => {}
    }
    if let Some(output) = &request.output_schema {
        let strict = schema::is_strict(&output.schema);
        let format = json!({"name": output.name, "schema": output.schema, "strict": strict});
        body.field("response_format", &json!({"type": "json_schema", "json_schema": format}));
    }
    if !request.tools.is_empty() {
        body.raw(",\"tools\":[");
        body.raw(tools);
        body.raw("]");
    }
    body.raw(",\"messages\":[");
    if !request.system.is_empty() {
        body.raw("{\"role\":\"system\",\"content\":");
        body.value(&*request.system);
        body.raw("}");
    }
    body.list(pieces.iter().map(|(_, piece)| &**piece));
    body.raw("]}");
    body.finish()
}

fn dialect(quirks: &Quirks) -> (Dialect, IdRule) {
    match (quirks.replay_reasoning, quirks.short_call_ids) {
        (false, false) => (Dialect::OpenAiChat, IdRule::Any),
        (true, false) => (Dialect::OpenAiChatThinking, IdRule::Any),
        (false, true) => (Dialect::OpenAiChatShortIds, IdRule::Nine),
        (true, true) => (Dialect::OpenAiChatThinkingShortIds, IdRule::Nine),
    }
}

fn tool(tool: &ToolSpec) -> Value {
    let parameters = schema::arguments(&tool.schema);
    json!({"type": "function", "function": {
        "name": tool.name, "description": tool.description, "parameters": parameters,
    }})
}

/// The wire messages that one of ours becomes, with commas between them; nothing if there is nothing to say.
fn piece(message: &Message, calls: &Calls<'_>, dialect: Dialect) -> String {
    let messages = match message.role() {
        Role::User => user(message),
        Role::Assistant => assistant(message, calls, dialect).into_iter().collect(),
        Role::Tool => results(message, calls),
    };
    write::joined(&messages)
}

fn user(message: &Message) -> Vec<Value> {
    let content = content(message.blocks());
    let empty = content.as_array().is_some_and(Vec::is_empty);
    if empty { Vec::new() } else { vec![json!({"role": "user", "content": content})] }
}

/// Plain text where it is plain text, because some servers understand nothing else.
fn content(blocks: &[Block]) -> Value {
    if let [Block::Text(text)] = blocks {
        return text.as_str().into();
    }
    let parts = blocks.iter().filter_map(|block| match block {
        Block::Text(text) => Some(json!({"type": "text", "text": text})),
        Block::Image(image) => Some(picture(image)),
        _ => None,
    });
    parts.collect()
}

fn picture(image: &ImageData) -> Value {
    let url = format!("data:{};base64,{}", image.media_type, image.data);
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn assistant(message: &Message, names: &Calls<'_>, dialect: Dialect) -> Option<Value> {
    let text = message.text();
    let calls = message.calls().enumerate().map(|(place, call)| {
        let arguments = write::arguments(&call.arguments).to_string();
        json!({
            "id": names.id(place), "type": "function", "function": {"name": call.name, "arguments": arguments},
        })
    });
    let calls: Vec<_> = calls.collect();
    let mut wire = json!({"role": "assistant", "content": text});
    if text.is_empty() {
        if calls.is_empty() {
            // An answer that broke off before it said anything. An empty message would be refused.
            return None;
        }
        wire["content"] = Value::Null;
    }
    if matches!(dialect, Dialect::OpenAiChatThinking | Dialect::OpenAiChatThinkingShortIds) {
        let thoughts = message.blocks().iter().filter_map(|block| match block {
            Block::Thinking { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let thoughts: String = thoughts.collect();
        if !thoughts.is_empty() {
            wire["reasoning_content"] = thoughts.into();
        }
    }
    if !calls.is_empty() {
        wire["tool_calls"] = Value::Array(calls);
    }
    Some(wire)
}

/// One message a result. This wire has no pictures in results, so those follow as the user's.
fn results(message: &Message, calls: &Calls<'_>) -> Vec<Value> {
    let mut wire = Vec::new();
    let mut pictures = Vec::new();
    for (result, id, _) in calls.results(message) {
        wire.push(json!({"role": "tool", "tool_call_id": id, "content": write::result_text(result)}));
        pictures.extend(result.images.iter().map(picture));
    }
    if !pictures.is_empty() {
        wire.push(json!({"role": "user", "content": pictures}));
    }
    wire
}
