//! Requests. The model is in the address; options come before what is cached.

use serde_json::{Map, Value, json};

use crate::message::Dialect;
use crate::reasoning::{Effort, ReasoningKind};
use crate::schema;
use crate::wire::ids::{Calls, IdRule, pieces};
use crate::wire::write::{self, Body, Speaker};
use crate::wire::{Ask, own};
use crate::{Block, ImageData, Message, Role, ToolSpec, Wire};

/// What Google says to send in place of a signature for calls that another model made. From Gemini 3 on, a step that
/// calls and has none is refused.
const NO_SIGNATURE: &str = "context_engineering_is_the_way_to_go";

pub(super) fn body(ask: &Ask<'_>) -> Vec<u8> {
    let request = ask.request;
    let signed = ask.info.reasoning.kind.unwrap_or(ReasoningKind::Level) == ReasoningKind::Level;
    let dialect = if signed { Dialect::GeminiSigned } else { Dialect::Gemini };
    let tools = request.tools.piece(Wire::Gemini, tool);
    let pieces = pieces(request, dialect, ask.origin, IdRule::Any, |message, calls| {
        piece(message, calls, ask.origin, signed)
    });
    let mut body = Body::open(write::size(&pieces) + tools.len() + request.system.len());
    let options = options(ask);
    if !options.is_empty() {
        body.field("generationConfig", &options);
        body.raw(",");
    }
    if !request.tools.is_empty() {
        body.raw("\"tools\":[{\"functionDeclarations\":[");
        body.raw(tools);
        body.raw("]}],");
    }
    if !request.system.is_empty() {
        body.raw("\"systemInstruction\":{\"parts\":[{\"text\":");
        body.value(&*request.system);
        body.raw("}]},");
    }
    body.raw("\"contents\":[");
    for (at, (speaker, list)) in write::turns(&pieces).iter().enumerate() {
        body.raw(match (at, speaker) {
            (0, Speaker::User) => "{\"role\":\"user\",\"parts\":[",
            (0, Speaker::Model) => "{\"role\":\"model\",\"parts\":[",
            (_, Speaker::User) => ",{\"role\":\"user\",\"parts\":[",
            (_, Speaker::Model) => ",{\"role\":\"model\",\"parts\":[",
        });
        body.list(list.iter().copied());
        body.raw("]}");
    }
    body.raw("]}");
    body.finish()
}

fn options(ask: &Ask<'_>) -> Map<String, Value> {
    let request = ask.request;
    let mut options = Map::new();
    let mut set = |key: &str, value: Value| drop(options.insert(key.to_owned(), value));
    if let Some(limit) = request.max_output {
        set("maxOutputTokens", limit.into());
    }
    if let Some(temperature) = request.temperature {
        // By way of its text, which is the number that was meant.
        set("temperature", temperature.to_string().parse().map_or(Value::Null, |number: f64| number.into()));
    }
    let reasoning = &ask.info.reasoning;
    match ask.effort(ReasoningKind::Level) {
        Some((effort, ReasoningKind::Level | ReasoningKind::Effort)) => {
            let word = reasoning.word(effort, &["low", "medium", "high"]);
            let shown = effort != Effort::None;
            set("thinkingConfig", json!({"thinkingLevel": word, "includeThoughts": shown}));
        }
        Some((effort, ReasoningKind::Budget)) => {
            let budget = reasoning.budget(effort, (0, 24_576));
            set("thinkingConfig", json!({"thinkingBudget": budget, "includeThoughts": budget > 0}));
        }
        Some((effort, ReasoningKind::Switch)) => {
            // Minus one leaves it to the model.
            let budget = if effort == Effort::None { 0 } else { -1 };
            set("thinkingConfig", json!({"thinkingBudget": budget, "includeThoughts": budget != 0}));
        }
        _ => {}
    }
    if let Some(output) = &request.output_schema {
        set("responseMimeType", "application/json".into());
        set("responseSchema", schema::gemini(&output.schema));
    }
    options
}

fn tool(tool: &ToolSpec) -> Value {
    let mut wire = json!({"name": tool.name, "description": tool.description});
    let parameters = schema::gemini(&schema::arguments(&tool.schema));
    // An object without properties is refused: no arguments are no schema.
    if parameters.get("properties").is_some() {
        wire["parameters"] = parameters;
    }
    wire
}

/// The parts that a message becomes, with commas between them.
fn piece(message: &Message, calls: &Calls<'_>, origin: &str, signed: bool) -> String {
    if message.role() == Role::Tool {
        return results(message, calls);
    }
    let mut parts: Vec<Value> = Vec::new();
    let mut place = 0;
    for block in message.blocks() {
        match block {
            Block::Text(text) if !text.is_empty() => parts.push(json!({"text": text})),
            Block::Image(image) => parts.push(picture(image)),
            // A thought without its signature is of no use to the model.
            Block::Thinking { text, replay: Some(data) } => {
                if let Some(own) = own(data, origin) {
                    parts.push(with(json!({"text": text, "thought": true}), own));
                }
            }
            Block::ToolCall(call) => {
                let args = write::arguments(&call.arguments);
                parts.push(json!({"functionCall": {"id": calls.id(place), "name": call.name, "args": args}}));
                place += 1;
            }
            Block::Replay(data) => {
                if let Some(own) = own(data, origin) {
                    let last = parts.pop().unwrap_or_else(|| json!({"text": ""}));
                    parts.push(with(last, own));
                }
            }
            _ => {}
        }
    }
    let first = parts.iter_mut().find(|part| part.get("functionCall").is_some());
    if let Some(first) = first.filter(|part| signed && part.get("thoughtSignature").is_none()) {
        first["thoughtSignature"] = NO_SIGNATURE.into();
    }
    write::joined(&parts)
}

fn with(mut part: Value, own: &Value) -> Value {
    if let Some(signature) = own.get("thoughtSignature") {
        part["thoughtSignature"] = signature.clone();
    }
    part
}

/// All results first, then the pictures that came with them.
fn results(message: &Message, calls: &Calls<'_>) -> String {
    let results = calls.results(message);
    let mut parts: Vec<_> = results
        .iter()
        .map(|(result, id, name)| {
            let text = if result.is_error { result.text.as_str().into() } else { write::result_text(result) };
            let key = if result.is_error { "error" } else { "output" };
            json!({"functionResponse": {"id": id, "name": name, "response": {key: text}}})
        })
        .collect();
    parts.extend(results.iter().flat_map(|(result, ..)| result.images.iter().map(picture)));
    write::joined(&parts)
}

fn picture(image: &ImageData) -> Value {
    json!({"inlineData": {"mimeType": image.media_type, "data": &*image.data}})
}
