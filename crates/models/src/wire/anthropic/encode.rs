//! Requests. This wire renders tools, then the system prompt, then messages, and caches up to the marks that we set.

use serde_json::{Value, json};

use crate::message::Dialect;
use crate::reasoning::{Effort, ReasoningKind};
use crate::schema;
use crate::wire::ids::{Calls, IdRule, pieces};
use crate::wire::write::{self, Body, Speaker};
use crate::wire::{Ask, own};
use crate::{Block, ImageData, Message, Role, ToolResult, ToolSpec, Wire};

/// The end of what is to be cached. Four are allowed: tools, system prompt, and the last two turns of the user, of
/// which the older one is where the last request ended: so it is found however much this step added.
const MARK: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";

/// This wire wants a limit in every request. Every model of Anthropic since 2025 can write as much.
const MAX_TOKENS: u32 = 32_000;

/// The least that may be asked for.
const LEAST_BUDGET: u32 = 1_024;

pub(super) fn body(ask: &Ask<'_>) -> Vec<u8> {
    let request = ask.request;
    let tools = request.tools.piece(Wire::Anthropic, tool);
    let pieces = pieces(request, Dialect::Anthropic, ask.origin, IdRule::Safe, |message, calls| {
        piece(message, calls, ask.origin)
    });
    let mut body = Body::new(ask.model, write::size(&pieces) + tools.len() + request.system.len());
    options(ask, &mut body);
    if !request.tools.is_empty() {
        body.raw(",\"tools\":[");
        body.marked(tools, MARK);
        body.raw("]");
    }
    if !request.system.trim().is_empty() {
        body.raw(",\"system\":[{\"type\":\"text\",\"text\":");
        body.value(&*request.system);
        body.raw(MARK);
        body.raw("}]");
    }
    body.raw(",\"messages\":[");
    let turns = write::turns(&pieces);
    let users = turns.iter().enumerate().filter(|(_, (speaker, _))| *speaker == Speaker::User);
    let marked: Vec<usize> = users.rev().take(2).map(|(at, _)| at).collect();
    for (at, (speaker, list)) in turns.iter().enumerate() {
        body.raw(match (at, speaker) {
            (0, Speaker::User) => "{\"role\":\"user\",\"content\":[",
            (0, Speaker::Model) => "{\"role\":\"assistant\",\"content\":[",
            (_, Speaker::User) => ",{\"role\":\"user\",\"content\":[",
            (_, Speaker::Model) => ",{\"role\":\"assistant\",\"content\":[",
        });
        match list.split_last() {
            Some((last, before)) if marked.contains(&at) => {
                body.list(before.iter().copied());
                body.marked(last, MARK);
            }
            _ => body.list(list.iter().copied()),
        }
        body.raw("]}");
    }
    body.raw("]}");
    body.finish()
}

fn options(ask: &Ask<'_>, body: &mut Body) {
    let request = ask.request;
    let most = ask.info.max_output.unwrap_or(MAX_TOKENS);
    let mut max_tokens = request.max_output.unwrap_or(most);
    let mut output = serde_json::Map::new();
    let mut thinking = None;
    match ask.effort(ReasoningKind::Effort) {
        Some((Effort::None, _)) | None => {}
        Some((effort, ReasoningKind::Budget)) if may_think(ask) => {
            // The limit holds for thoughts and answer together, and a quarter of it is for the answer at least.
            let largest = most - most / 4;
            let budget = ask.info.reasoning.budget(effort, (LEAST_BUDGET, largest)).min(largest);
            if budget >= LEAST_BUDGET {
                max_tokens = request.max_output.map_or(most, |wish| budget.saturating_add(wish).min(most));
                thinking = Some(json!({"type": "enabled", "budget_tokens": budget}));
            }
        }
        Some((effort, ReasoningKind::Effort | ReasoningKind::Level)) => {
            thinking = Some(json!({"type": "adaptive", "display": "summarized"}));
            let word = ask.info.reasoning.word(effort, &["low", "medium", "high", "max"]);
            output.insert("effort".to_owned(), word.into());
        }
        Some((_, ReasoningKind::Switch)) => thinking = Some(json!({"type": "enabled"})),
        Some(_) => {}
    }
    body.field("max_tokens", &max_tokens);
    // Thinking goes with no temperature but the default.
    if let (Some(temperature), None) = (request.temperature, &thinking) {
        body.field("temperature", &temperature);
    }
    if let Some(thinking) = thinking {
        body.field("thinking", &thinking);
    }
    if let Some(wanted) = &request.output_schema {
        let format = json!({"type": "json_schema", "schema": schema::closed(&wanted.schema)});
        output.insert("format".to_owned(), format);
    }
    if !output.is_empty() {
        body.field("output_config", &output);
    }
}

/// With a budget, a turn that calls tools must have begun with a thought, and one that another provider had, or that
/// was made without, is none. So thinking begins with the next turn.
fn may_think(ask: &Ask<'_>) -> bool {
    let messages = &ask.request.messages;
    let turn = messages.iter().rposition(|message| message.role() == Role::User).map_or(0, |at| at + 1);
    let first = messages[turn..].iter().find(|message| message.role() == Role::Assistant);
    first.is_none_or(|message| {
        message.calls().next().is_none()
            || message.blocks().first().is_some_and(|block| match block {
                Block::Thinking { replay: Some(data), .. } | Block::Replay(data) => {
                    own(data, ask.origin).is_some()
                }
                _ => false,
            })
    })
}

fn tool(tool: &ToolSpec) -> Value {
    let schema = schema::arguments(&tool.schema);
    json!({"name": tool.name, "description": tool.description, "input_schema": schema})
}

/// The content blocks that a message becomes, with commas between them.
fn piece(message: &Message, calls: &Calls<'_>, origin: &str) -> String {
    if message.role() == Role::Tool {
        let results = calls.results(message);
        return write::joined(
            &results.iter().map(|(result, id, _)| self::result(result, id)).collect::<Vec<_>>(),
        );
    }
    let mut place = 0;
    let blocks = message.blocks().iter().filter_map(|block| match block {
        // Blank texts are refused.
        Block::Text(text) => (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text})),
        Block::Image(image) => Some(picture(image)),
        Block::Thinking { text, replay } => {
            let mut block = own(replay.as_ref()?, origin)?.clone();
            if block.get("type")? == "thinking" {
                block["thinking"] = text.as_str().into();
            }
            Some(block)
        }
        Block::ToolCall(call) => {
            place += 1;
            let input = write::arguments(&call.arguments);
            Some(json!({"type": "tool_use", "id": calls.id(place - 1), "name": call.name, "input": input}))
        }
        Block::Replay(data) => own(data, origin).cloned(),
        Block::ToolResult(_) => None,
    });
    write::joined(&blocks.collect::<Vec<_>>())
}

fn result(result: &ToolResult, id: &str) -> Value {
    let mut wire = json!({"type": "tool_result", "tool_use_id": id});
    if result.images.is_empty() {
        wire["content"] = result.text.as_str().into();
    } else {
        let text = (!result.text.trim().is_empty()).then(|| json!({"type": "text", "text": result.text}));
        wire["content"] = text.into_iter().chain(result.images.iter().map(picture)).collect();
    }
    if result.is_error {
        wire["is_error"] = true.into();
        if result.text.trim().is_empty() {
            // An error has to say something.
            wire["content"] = "error".into();
        }
    }
    wire
}

fn picture(image: &ImageData) -> Value {
    let source = json!({"type": "base64", "media_type": image.media_type, "data": &*image.data});
    json!({"type": "image", "source": source})
}
