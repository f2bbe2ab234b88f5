//! What is in the window, where it came from, what it costs.

use std::sync::Arc;

use models::{Block, Message, Model, Request, Role};
use protocol::{ContextLedger, ContextPart};

use super::limits::Room;

/// Adds up a request by kind.
pub(super) fn ledger(model: &dyn Model, request: &Request, room: &Room) -> ContextLedger {
    let alone = |messages: Vec<Arc<Message>>| model.estimate(&Request::new("", messages));
    let nothing = alone(vec![]);
    let mut parts = Vec::new();
    let mut add = |name: &str, source: Option<String>, tokens: u64| {
        let tokens = tokens.saturating_sub(nothing);
        if tokens > 0 {
            parts.push(ContextPart { name: name.to_owned(), source, tokens });
        }
    };
    add("system", None, model.estimate(&Request::new(request.system.clone(), vec![])));
    add("tools", None, model.estimate(&Request::new("", vec![]).with_tools(request.tools.clone())));
    let of_role = |role: Role| {
        request.messages.iter().filter(|message| message.role() == role).cloned().collect::<Vec<_>>()
    };
    add("prompts", None, alone(of_role(Role::User)));
    add("answers", None, alone(of_role(Role::Assistant)));
    for (tool, messages) in by_tool(&request.messages) {
        add("results", Some(tool), alone(messages));
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.tokens));
    ContextLedger { window: Some(room.window), reserve: room.reserve, parts }
}

/// The results, by the tool that gave them.
fn by_tool(messages: &[Arc<Message>]) -> Vec<(String, Vec<Arc<Message>>)> {
    let mut names: std::collections::HashMap<&str, &str> = std::collections::HashMap::new();
    let mut grouped: Vec<(String, Vec<Arc<Message>>)> = Vec::new();
    for message in messages {
        names.extend(message.calls().map(|call| (call.id.as_str(), call.name.as_str())));
        for block in message.blocks() {
            let Block::ToolResult(result) = block else { continue };
            let tool = names.get(result.call.as_str()).copied().unwrap_or("unknown");
            let alone = Message::results([result.clone()]);
            match grouped.iter_mut().find(|(name, _)| name == tool) {
                Some((_, messages)) => messages.push(alone),
                None => grouped.push((tool.to_owned(), vec![alone])),
            }
        }
    }
    grouped
}
