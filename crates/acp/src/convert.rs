//! From the protocol's types to ours and back.

use agent_client_protocol_schema::v1 as schema;
use protocol::{
    AgentCommand, AgentCommands, CallId, Content, Image, Location, OptionKind, PermissionOption, Plan,
    PlanEntry, PlanPriority, PlanStatus, Resource, Source, Stop, StopCause, ToolContent, ToolKind,
    ToolStatus, Usage,
};
use serde_json::{Value, json};

/// What a block becomes for us.
pub(crate) fn content(block: schema::ContentBlock) -> Content {
    match block {
        schema::ContentBlock::Text(text) => Content::Text { text: text.text },
        schema::ContentBlock::Image(image) => Content::Image(Image {
            media_type: image.mime_type,
            name: image.uri,
            source: Source::Data(image.data),
        }),
        schema::ContentBlock::ResourceLink(link) => {
            Content::Resource(Resource { uri: link.uri, media_type: link.mime_type, text: None, blob: None })
        }
        schema::ContentBlock::Resource(embedded) => match embedded.resource {
            schema::EmbeddedResourceResource::TextResourceContents(text) => Content::Resource(Resource {
                uri: text.uri,
                media_type: text.mime_type,
                text: Some(text.text),
                blob: None,
            }),
            // Bytes that are not text are carried as they came.
            other => Content::Other(serde_json::to_value(other).unwrap_or_default()),
        },
        other => Content::Other(serde_json::to_value(other).unwrap_or_default()),
    }
}

/// What the other side can take in a prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Takes {
    pub images: bool,
    pub audio: bool,
    /// Whole files inside the prompt; otherwise they go as text.
    pub embedded: bool,
}

/// What our block becomes for the other side; the error says what is lost.
pub(crate) fn block(content: &Content, takes: Takes) -> Result<schema::ContentBlock, String> {
    Ok(match content {
        Content::Text { text } => schema::ContentBlock::Text(schema::TextContent::new(text.clone())),
        Content::Image(image) => match &image.source {
            Source::Data(data) if takes.images => schema::ContentBlock::Image(
                schema::ImageContent::new(data.clone(), image.media_type.clone()).uri(image.name.clone()),
            ),
            Source::Data(_) => return Err(format!("{} (it takes no pictures)", name(image))),
            Source::Blob(_) => return Err(format!("{} (it is no longer there)", name(image))),
        },
        Content::Resource(Resource { uri, media_type, text: Some(text), .. }) if takes.embedded => {
            let contents =
                schema::TextResourceContents::new(text.clone(), uri.clone()).mime_type(media_type.clone());
            schema::ContentBlock::Resource(schema::EmbeddedResource::new(
                schema::EmbeddedResourceResource::TextResourceContents(contents),
            ))
        }
        Content::Resource(Resource { uri, text: Some(text), .. }) => schema::ContentBlock::Text(
            schema::TextContent::new(format!("<file path=\"{uri}\">\n{text}\n</file>")),
        ),
        Content::Resource(Resource { uri, media_type, .. }) => {
            let short = uri.rsplit('/').next().unwrap_or(uri).to_owned();
            schema::ContentBlock::ResourceLink(
                schema::ResourceLink::new(short, uri.clone()).mime_type(media_type.clone()),
            )
        }
        Content::Other(value) => {
            let block: schema::ContentBlock =
                serde_json::from_value(value.clone()).map_err(|_| "a block of an unknown kind".to_owned())?;
            match block {
                schema::ContentBlock::Audio(_) if !takes.audio => {
                    return Err("a sound (it takes none)".to_owned());
                }
                block => block,
            }
        }
    })
}

/// What our block is in the protocol's form, whoever reads it. What has no form there becomes its name.
pub(crate) fn block_value(content: &Content) -> Value {
    let everything = Takes { images: true, audio: true, embedded: true };
    let written = block(content, everything).ok().and_then(|block| serde_json::to_value(block).ok());
    written.unwrap_or_else(
        || json!({"type": "text", "text": protocol::prompt_text(std::slice::from_ref(content))}),
    )
}

pub(crate) fn tool_content_value(content: &ToolContent) -> Value {
    match content {
        ToolContent::Content { content } => json!({"type": "content", "content": block_value(content)}),
        ToolContent::Diff { path, old, new } => {
            json!({"type": "diff", "path": path, "oldText": old, "newText": new})
        }
        ToolContent::Terminal { terminal } => json!({"type": "terminal", "terminalId": terminal}),
        ToolContent::Other(value) => value.clone(),
    }
}

pub(crate) fn option_value(option: &PermissionOption) -> Value {
    // Our words for the kinds are the protocol's.
    json!({"optionId": option.id, "name": option.name, "kind": option.kind})
}

fn name(image: &Image) -> String {
    image.name.clone().unwrap_or_else(|| "a picture".to_owned())
}

pub(crate) fn kind(kind: schema::ToolKind) -> ToolKind {
    match kind {
        schema::ToolKind::Read => ToolKind::Read,
        schema::ToolKind::Edit => ToolKind::Edit,
        schema::ToolKind::Delete => ToolKind::Delete,
        schema::ToolKind::Move => ToolKind::Move,
        schema::ToolKind::Search => ToolKind::Search,
        schema::ToolKind::Execute => ToolKind::Execute,
        schema::ToolKind::Think => ToolKind::Think,
        schema::ToolKind::Fetch => ToolKind::Fetch,
        _ => ToolKind::Other,
    }
}

pub(crate) fn status(status: schema::ToolCallStatus) -> ToolStatus {
    match status {
        schema::ToolCallStatus::InProgress => ToolStatus::InProgress,
        schema::ToolCallStatus::Completed => ToolStatus::Completed,
        schema::ToolCallStatus::Failed => ToolStatus::Failed,
        _ => ToolStatus::Pending,
    }
}

pub(crate) fn tool_content(content: schema::ToolCallContent) -> ToolContent {
    match content {
        schema::ToolCallContent::Content(inner) => {
            ToolContent::Content { content: self::content(inner.content) }
        }
        schema::ToolCallContent::Diff(diff) => ToolContent::Diff {
            path: diff.path.to_string_lossy().into_owned(),
            old: diff.old_text,
            new: diff.new_text,
        },
        schema::ToolCallContent::Terminal(terminal) => {
            ToolContent::Terminal { terminal: terminal.terminal_id.0.to_string() }
        }
        other => ToolContent::Other(serde_json::to_value(other).unwrap_or_default()),
    }
}

pub(crate) fn location(location: schema::ToolCallLocation) -> Location {
    Location { path: location.path.to_string_lossy().into_owned(), line: location.line }
}

pub(crate) fn plan(plan: schema::Plan) -> Plan {
    let entry = |entry: schema::PlanEntry| PlanEntry {
        content: entry.content,
        priority: match entry.priority {
            schema::PlanEntryPriority::High => PlanPriority::High,
            schema::PlanEntryPriority::Low => PlanPriority::Low,
            _ => PlanPriority::Medium,
        },
        status: match entry.status {
            schema::PlanEntryStatus::InProgress => PlanStatus::InProgress,
            schema::PlanEntryStatus::Completed => PlanStatus::Completed,
            _ => PlanStatus::Pending,
        },
    };
    Plan { entries: plan.entries.into_iter().map(entry).collect() }
}

pub(crate) fn commands(list: Vec<schema::AvailableCommand>) -> AgentCommands {
    let command = |command: schema::AvailableCommand| AgentCommand {
        name: command.name,
        description: command.description,
        hint: match command.input {
            Some(schema::AvailableCommandInput::Unstructured(input)) => Some(input.hint),
            _ => None,
        },
    };
    AgentCommands { commands: list.into_iter().map(command).collect() }
}

pub(crate) fn option(option: schema::PermissionOption) -> PermissionOption {
    PermissionOption {
        id: option.option_id.0.to_string(),
        name: option.name,
        kind: match option.kind {
            schema::PermissionOptionKind::AllowOnce => OptionKind::AllowOnce,
            schema::PermissionOptionKind::AllowAlways => OptionKind::AllowAlways,
            schema::PermissionOptionKind::RejectAlways => OptionKind::RejectAlways,
            _ => OptionKind::RejectOnce,
        },
    }
}

/// How a turn of the other side's ended, in our terms.
pub(crate) fn stop(reason: Option<&str>) -> (Stop, Option<StopCause>) {
    match reason {
        Some("cancelled") => (Stop::Cancelled, None),
        Some("max_tokens") => (Stop::Limit, Some(StopCause::OutputLimit)),
        Some("max_turn_requests") => (Stop::Limit, Some(StopCause::MaxSteps)),
        Some("refusal") => (Stop::Error, Some(StopCause::Refused)),
        _ => (Stop::Done, None),
    }
}

/// Token counts that agents put beside the answer, by the names that are in use.
pub(crate) fn usage(answer: &Value) -> Option<Usage> {
    let usage = answer.get("usage").filter(|usage| usage.is_object())?;
    let count = |names: &[&str]| names.iter().find_map(|name| usage.get(*name)?.as_u64()).unwrap_or_default();
    let cache_read = count(&["cachedReadTokens", "cachedInputTokens"]);
    let cache_write = count(&["cachedWriteTokens"]);
    let counted = Usage {
        // The protocol counts what was read from a cache beside the input; for us it is a part of it.
        input: count(&["inputTokens"]) + cache_read + cache_write,
        output: count(&["outputTokens"]),
        cache_read,
        cache_write,
        reasoning: count(&["thoughtTokens"]),
        cost_usd: None,
    };
    (!counted.is_empty()).then_some(counted)
}

/// The name by which we know a call of theirs.
pub(crate) fn call_id(id: &schema::ToolCallId) -> CallId {
    CallId::new(&id.0)
}
