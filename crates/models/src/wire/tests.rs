use insta::assert_snapshot;

use super::*;
use crate::BlockKind;

/// The events of a recorded answer, one a line, ids that we made up blotted out.
pub(super) fn told(wire: Wire, bytes: &[u8]) -> String {
    tell(decode_recorded(wire, [bytes]))
}

pub(super) fn told_whole(wire: Wire, body: &Value) -> String {
    tell(decode_whole(wire, &body.to_string()))
}

fn tell(events: Result<Vec<ModelEvent>, CallError>) -> String {
    let events = match events {
        Ok(events) => events,
        Err(error) => return format!("error: {error}"),
    };
    let mut lines = Vec::new();
    for event in events {
        let line = match event {
            ModelEvent::BlockStart { index, kind: BlockKind::ToolCall { id, name } } => {
                let id = if id.len() == 21 { "made up".to_owned() } else { id };
                format!("{index} call {name} ({id})")
            }
            ModelEvent::BlockStart { index, kind } => format!("{index} {kind:?}"),
            ModelEvent::Delta { index, text } => format!("{index} + {text}"),
            ModelEvent::BlockEnd { index } => format!("{index} end"),
            ModelEvent::Usage(usage) => format!(
                "usage: {} in ({} read, {} written), {} out ({} thought)",
                usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning
            ),
            ModelEvent::Stop(ending) => {
                for replay in ending.replay {
                    lines.push(format!("{} back: {}", replay.index, replay.data["data"]));
                }
                format!("stop: {:?}", ending.reason)
            }
            other => format!("{other:?}"),
        };
        lines.push(line);
    }
    lines.join("\n")
}

/// Frames with a type each, as Anthropic and Responses send them.
pub(super) fn stream(frames: &[Value]) -> Vec<u8> {
    let frames = frames.iter().map(|frame| {
        let name = frame["type"].as_str().map(|name| format!("event: {name}\n")).unwrap_or_default();
        format!("{name}data: {frame}\n\n")
    });
    frames.collect::<String>().into_bytes()
}

#[test]
fn addresses_are_below_the_base() {
    let ask = |wire: Wire, base: &str| {
        wire.format().unwrap().address(&base.parse().unwrap(), "m-1.5", &Quirks::default()).to_string()
    };
    let lines = [
        ask(Wire::OpenaiChat, "https://h/v1/?api-version=1"),
        ask(Wire::OpenaiResponses, "https://h/v1"),
        ask(Wire::Anthropic, "https://h"),
        ask(Wire::Anthropic, "https://h/anthropic/"),
        // Someone gave the version after all.
        ask(Wire::Anthropic, "https://h/v1"),
        ask(Wire::Gemini, "https://h/"),
        ask(Wire::Gemini, "https://h/v1beta"),
        ask(Wire::OpenaiChat, "https://h/v1//"),
        ask(Wire::Anthropic, "https://h//"),
    ];
    assert_snapshot!(lines.join("\n"), @"
    https://h/v1/chat/completions?api-version=1
    https://h/v1/responses
    https://h/v1/messages
    https://h/anthropic/v1/messages
    https://h/v1/messages
    https://h/v1beta/models/m-1.5:streamGenerateContent?alt=sse
    https://h/v1beta/models/m-1.5:streamGenerateContent?alt=sse
    https://h/v1/chat/completions
    https://h/v1/messages
    ");
    let tuned = gemini::Gemini.address(&"https://h".parse().unwrap(), "tunedModels/mine", &Quirks::default());
    assert_eq!(tuned.path(), "/v1beta/tunedModels/mine:streamGenerateContent");
}

#[test]
fn a_deployment_is_part_of_the_address_unless_the_address_is_of_the_newer_form() {
    let config: crate::ProviderConfig =
        toml::from_str(include_str!("../../providers/azure-openai.toml")).unwrap();
    let quirks = config.quirks.quirks();
    let ask = |wire: Wire, base: &str| {
        wire.format().unwrap().address(&base.parse().unwrap(), "my gpt", &quirks).to_string()
    };
    let lines = [
        ask(Wire::OpenaiChat, "https://r.openai.azure.com/openai"),
        ask(Wire::OpenaiChat, "https://r.openai.azure.com/openai//"),
        ask(Wire::OpenaiChat, "https://r.openai.azure.com/openai?api-version=2099-01-01"),
        ask(Wire::OpenaiChat, "https://r.openai.azure.com/openai/v1/"),
        ask(Wire::OpenaiResponses, "https://r.openai.azure.com/openai/v1?api-version=preview"),
    ];
    assert_snapshot!(lines.join("\n"), @"
    https://r.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21
    https://r.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21
    https://r.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2099-01-01
    https://r.openai.azure.com/openai/v1/chat/completions
    https://r.openai.azure.com/openai/v1/responses?api-version=preview
    ");
}

#[test]
fn keys_go_into_the_header_that_the_wire_wants() {
    let secret = Secret::new("sk-1");
    let sent = |wire: Wire, quirks: &Quirks| {
        let mut headers = HeaderMap::new();
        wire.format().unwrap().authorize(Some(&secret), quirks, &mut headers).unwrap();
        let lines = headers.iter().map(|(name, value)| {
            assert!(value.is_sensitive() || name == "anthropic-version");
            format!("{name}: {}", value.to_str().unwrap())
        });
        lines.collect::<Vec<_>>().join(", ")
    };
    let usual = Quirks::default();
    assert_eq!(sent(Wire::OpenaiChat, &usual), "authorization: Bearer sk-1");
    assert_eq!(sent(Wire::OpenaiResponses, &usual), "authorization: Bearer sk-1");
    assert_eq!(sent(Wire::Anthropic, &usual), "anthropic-version: 2023-06-01, x-api-key: sk-1");
    let token = Quirks { bearer: true, ..Quirks::default() };
    assert_eq!(sent(Wire::Anthropic, &token), "anthropic-version: 2023-06-01, authorization: Bearer sk-1");
    assert_eq!(sent(Wire::Gemini, &usual), "x-goog-api-key: sk-1");
    let broken = Secret::new("a\nb");
    assert!(
        ALL.iter()
            .all(|(_, format)| format.authorize(Some(&broken), &usual, &mut HeaderMap::new()).is_none())
    );
}
