//! Requests. A body begins with what never changes and ends with the newest message, so that each request of a
//! session is the last one with something added: that is what providers' caches look for.

use serde::Serialize;
use serde_json::{Value, json};

use super::Quirks;
use crate::message::Dialect;
use crate::{Block, ImageData, Message, Request, Role, ToolSpec};

/// The JSON of a request, put together from pieces that were serialised before.
pub(crate) fn body(model: &str, request: &Request, quirks: &Quirks) -> Vec<u8> {
    let dialect = if quirks.replay_reasoning { Dialect::OpenAiChatThinking } else { Dialect::OpenAiChat };
    let tools = request.tools.openai_chat(tools);
    let pieces: Vec<&str> =
        request.messages.iter().map(|message| message.piece(dialect, |m| piece(m, dialect))).collect();
    let size: usize = pieces.iter().map(|piece| piece.len() + 1).sum();

    let mut body = Vec::with_capacity(size + tools.len() + request.system.len() * 9 / 8 + 512);
    body.extend_from_slice(b"{\"model\":");
    write(&mut body, model);
    body.extend_from_slice(b",\"stream\":true");
    if quirks.include_usage {
        body.extend_from_slice(b",\"stream_options\":{\"include_usage\":true}");
    }
    if let Some(limit) = request.max_output {
        body.push(b',');
        write(&mut body, &quirks.max_tokens_field);
        body.extend_from_slice(format!(":{limit}").as_bytes());
    }
    if let Some(temperature) = request.temperature {
        body.extend_from_slice(format!(",\"temperature\":{temperature}").as_bytes());
    }
    if !request.tools.is_empty() {
        body.extend_from_slice(b",\"tools\":");
        body.extend_from_slice(tools.as_bytes());
    }
    body.extend_from_slice(b",\"messages\":[");
    let mut first = true;
    if !request.system.is_empty() {
        body.extend_from_slice(b"{\"role\":\"system\",\"content\":");
        write(&mut body, &*request.system);
        body.push(b'}');
        first = false;
    }
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        if !std::mem::take(&mut first) {
            body.push(b',');
        }
        body.extend_from_slice(piece.as_bytes());
    }
    body.extend_from_slice(b"]}");
    body
}

fn write(body: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // Strings always serialise and a Vec always takes them.
    let _ = serde_json::to_writer(body, value);
}

fn tools(specs: &[ToolSpec]) -> String {
    let tools = specs.iter().map(|tool| {
        json!({"type": "function", "function": {
            "name": tool.name, "description": tool.description, "parameters": tool.schema,
        }})
    });
    Value::Array(tools.collect()).to_string()
}

/// The wire messages that one of ours becomes, with commas between them; nothing if there is nothing to say.
fn piece(message: &Message, dialect: Dialect) -> String {
    let messages = match message.role() {
        Role::User => vec![json!({"role": "user", "content": content(message.blocks())})],
        Role::Assistant => assistant(message, dialect).into_iter().collect(),
        Role::Tool => results(message),
    };
    let texts: Vec<_> = messages.iter().map(Value::to_string).collect();
    texts.join(",")
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

fn assistant(message: &Message, dialect: Dialect) -> Option<Value> {
    let text = message.text();
    let calls = message.calls().map(|call| {
        // Servers parse this text, so it has to be an object whatever the model wrote.
        let arguments = match &call.arguments {
            Value::Object(_) => call.arguments.to_string(),
            other => json!({"invalid": other}).to_string(),
        };
        json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
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
    if dialect == Dialect::OpenAiChatThinking {
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
fn results(message: &Message) -> Vec<Value> {
    let mut wire = Vec::new();
    let mut pictures = Vec::new();
    for block in message.blocks() {
        if let Block::ToolResult(result) = block {
            let text = match (result.is_error, result.text.as_str()) {
                (true, text) => format!("error: {text}"),
                (false, "") if !result.images.is_empty() => "see the image below".to_owned(),
                (false, text) => text.to_owned(),
            };
            wire.push(json!({"role": "tool", "tool_call_id": result.call, "content": text}));
            pictures.extend(result.images.iter().map(picture));
        }
    }
    if !pictures.is_empty() {
        wire.push(json!({"role": "user", "content": pictures}));
    }
    wire
}
