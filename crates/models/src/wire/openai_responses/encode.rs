//! Requests: a flat list of items, of which a message of ours may be several.

use serde_json::{Value, json};

use crate::message::Dialect;
use crate::reasoning::{Effort, ReasoningKind};
use crate::schema;
use crate::wire::ids::{Calls, IdRule, pieces};
use crate::wire::write::{self, Body};
use crate::wire::{Ask, own};
use crate::{Block, ImageData, Message, Role, ToolResult, ToolSpec, Wire};

pub(super) fn body(ask: &Ask<'_>) -> Vec<u8> {
    let request = ask.request;
    let tools = request.tools.piece(Wire::OpenaiResponses, tool);
    let pieces = pieces(request, Dialect::OpenAiResponses, ask.origin, IdRule::Safe, |message, calls| {
        piece(message, calls, ask.origin)
    });
    let mut body = Body::new(ask.model, write::size(&pieces) + tools.len() + request.system.len());
    body.field("store", &false);
    if ask.info.capabilities.thinking {
        // Nothing is kept at the provider, so its thoughts travel with us, sealed. Models without thoughts refuse this.
        body.field("include", &["reasoning.encrypted_content"]);
    }
    if let Some(limit) = request.max_output {
        body.field("max_output_tokens", &limit);
    }
    if let Some(temperature) = request.temperature {
        body.field("temperature", &temperature);
    }
    if let Some((effort, ReasoningKind::Effort)) = ask.effort(ReasoningKind::Effort) {
        let word = ask.info.reasoning.word(effort, &["none", "low", "medium", "high"]);
        let mut reasoning = json!({"effort": word});
        if effort != Effort::None {
            reasoning["summary"] = "auto".into();
        }
        body.field("reasoning", &reasoning);
    }
    if let Some(output) = &request.output_schema {
        let strict = schema::is_strict(&output.schema);
        let format = json!({
            "type": "json_schema", "name": output.name, "schema": output.schema, "strict": strict,
        });
        body.field("text", &json!({"format": format}));
    }
    if !request.tools.is_empty() {
        body.raw(",\"tools\":[");
        body.raw(tools);
        body.raw("]");
    }
    if !request.system.is_empty() {
        body.field("instructions", &*request.system);
    }
    body.raw(",\"input\":[");
    body.list(pieces.iter().map(|(_, piece)| &**piece));
    body.raw("]}");
    body.finish()
}

fn tool(tool: &ToolSpec) -> Value {
    let parameters = schema::arguments(&tool.schema);
    // Strict is the default here, and refuses most schemas that people write.
    json!({
        "type": "function", "name": tool.name, "description": tool.description, "parameters": parameters,
        "strict": false,
    })
}

/// The items that a message becomes, with commas between them.
fn piece(message: &Message, calls: &Calls<'_>, origin: &str) -> String {
    let items = match message.role() {
        Role::User => user(message),
        Role::Assistant => assistant(message, calls, origin),
        Role::Tool => calls.results(message).iter().map(|(result, id, _)| self::result(result, id)).collect(),
    };
    write::joined(&items)
}

fn user(message: &Message) -> Vec<Value> {
    let parts = message.blocks().iter().filter_map(|block| match block {
        Block::Text(text) => Some(json!({"type": "input_text", "text": text})),
        Block::Image(image) => Some(picture(image)),
        _ => None,
    });
    let content: Vec<_> = parts.collect();
    if content.is_empty() {
        return Vec::new();
    }
    vec![json!({"type": "message", "role": "user", "content": content})]
}

fn assistant(message: &Message, calls: &Calls<'_>, origin: &str) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    let mut place = 0;
    for block in message.blocks() {
        match block {
            Block::Text(text) if !text.is_empty() => {
                let content = json!([{"type": "output_text", "text": text}]);
                items.push(json!({"type": "message", "role": "assistant", "content": content}));
            }
            Block::Thinking { replay: Some(data), .. } => items.extend(own(data, origin).cloned()),
            Block::ToolCall(call) => {
                let arguments = write::arguments(&call.arguments).to_string();
                items.push(json!({
                    "type": "function_call", "call_id": calls.id(place), "name": call.name, "arguments": arguments,
                }));
                place += 1;
            }
            Block::Replay(data) => match own(data, origin) {
                // What belongs to the text before it.
                Some(data) if data["type"] == "message" => {
                    if let (Some(last), Some(phase)) = (items.last_mut(), data.get("phase"))
                        && last["role"] == "assistant"
                    {
                        last["phase"] = phase.clone();
                    }
                }
                Some(item) => items.push(item.clone()),
                None => {}
            },
            _ => {}
        }
    }
    items
}

fn result(result: &ToolResult, id: &str) -> Value {
    let text = if result.images.is_empty() || result.is_error {
        write::result_text(result)
    } else {
        result.text.as_str().into()
    };
    let mut wire = json!({"type": "function_call_output", "call_id": id, "output": text});
    if !result.images.is_empty() {
        let text = (!text.is_empty()).then(|| json!({"type": "input_text", "text": text}));
        wire["output"] = text.into_iter().chain(result.images.iter().map(picture)).collect();
    }
    wire
}

fn picture(image: &ImageData) -> Value {
    let url = format!("data:{};base64,{}", image.media_type, image.data);
    json!({"type": "input_image", "image_url": url})
}
