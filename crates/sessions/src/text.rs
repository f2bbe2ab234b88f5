//! The words and the blobs in an event.

use protocol::{BlobRef, Content, EventBody, Source, ToolCall, ToolContent, prompt_text};
use serde_json::Value;

/// What an event says, as plain text; empty where it says nothing in words.
pub(crate) fn text_of(body: &EventBody) -> String {
    match body {
        EventBody::SessionStart(start) => start.title.clone().unwrap_or_default(),
        EventBody::UserPrompt(prompt) => prompt_text(&prompt.content),
        EventBody::AgentMessage(chunk) | EventBody::AgentThought(chunk) => chunk.text.clone(),
        EventBody::Retract(retract) => retract.reason.clone(),
        EventBody::ToolCall(call) => call_text(call),
        EventBody::ToolCallUpdate(update) => {
            let mut parts: Vec<String> =
                [&update.title, &update.summary].into_iter().flatten().cloned().collect();
            parts.extend(update.content.iter().flatten().map(content_text));
            parts.join("\n")
        }
        EventBody::Plan(plan) => {
            plan.entries.iter().map(|entry| entry.content.as_str()).collect::<Vec<_>>().join("\n")
        }
        EventBody::PermissionRequest(request) => request.title.clone(),
        EventBody::Permission(answer) => answer.reason.clone().unwrap_or_default(),
        EventBody::FileRead(file) => file.path.clone(),
        EventBody::FileWrite(file) => file.path.clone(),
        EventBody::Retry(retry) => retry.reason.clone(),
        EventBody::Route(route) => route.reason.clone(),
        EventBody::Title(changed) => changed.title.clone(),
        EventBody::Hook(ran) => ran.describe(),
        EventBody::Notice(notice) => notice.text.clone(),
        EventBody::Error(error) => error.message.clone(),
        EventBody::SessionEnd(end) => end.reason.clone(),
        EventBody::Other(other) => {
            let mut words = String::new();
            other.fields.values().for_each(|value| strings(value, &mut words));
            words
        }
        EventBody::TurnStart(_) | EventBody::TurnEnd(_) | EventBody::MessageEnd(_) | EventBody::Usage(_) => {
            String::new()
        }
        EventBody::Compaction(compaction) => compaction.summary.clone().unwrap_or_default(),
        EventBody::Checkpoint(checkpoint) => checkpoint.paths.join("\n"),
        EventBody::SuggestedActions(suggested) => {
            suggested.actions.iter().map(|action| action.label.as_str()).collect::<Vec<_>>().join("\n")
        }
        EventBody::Verbatim(_)
        | EventBody::Context(_)
        | EventBody::Pin(_)
        | EventBody::Commands(_)
        | EventBody::Marks(_)
        | EventBody::Mode(_)
        | EventBody::Model(_)
        | EventBody::Effort(_)
        | EventBody::Folders(_)
        | EventBody::Agent(_)
        | EventBody::Repair(_) => String::new(),
    }
}

/// A tool call's name, title and the strings in its input.
pub(crate) fn call_text(call: &ToolCall) -> String {
    let mut text = format!("{} {}", call.name, call.title);
    strings(&call.input, &mut text);
    text
}

pub(crate) fn content_text(content: &ToolContent) -> String {
    match content {
        ToolContent::Content { content } => prompt_text(std::slice::from_ref(content)),
        ToolContent::Diff { path, old, new } => {
            format!("{path}\n{}\n{new}", old.as_deref().unwrap_or_default())
        }
        ToolContent::Terminal { terminal } => terminal.clone(),
        ToolContent::Other(value) => {
            let mut words = String::new();
            strings(value, &mut words);
            words
        }
    }
}

fn strings(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push('\n');
            out.push_str(text);
        }
        Value::Array(values) => values.iter().for_each(|value| strings(value, out)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The blobs that an event names.
pub(crate) fn blobs_of(body: &EventBody) -> Vec<&BlobRef> {
    match body {
        EventBody::UserPrompt(prompt) => prompt.content.iter().filter_map(content_blob).collect(),
        EventBody::FileWrite(file) => file.blob.iter().collect(),
        EventBody::ToolCallUpdate(update) => update
            .content
            .iter()
            .flatten()
            .filter_map(|content| match content {
                ToolContent::Content { content } => content_blob(content),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn content_blob(content: &Content) -> Option<&BlobRef> {
    match content {
        Content::Image(image) => match &image.source {
            Source::Blob(blob) => Some(blob),
            Source::Data(_) => None,
        },
        Content::Resource(resource) => resource.blob.as_ref(),
        Content::Text { .. } | Content::Other(_) => None,
    }
}
