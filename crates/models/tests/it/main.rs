//! Stories: a model of the catalogue, a scripted server, a real socket between them.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod caching;
mod conformance;
mod faults;
mod many;
mod recorded;
mod requests;
mod routing;
mod stories;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use models::{
    Answer, AnswerLimits, Block, CallError, Catalogue, EventStream, Message, Model, ModelEvent,
    ProviderConfig, Request, RetryPolicy,
};
use testkit::ModelServer;

/// The catalogue of a person who has this server as `[providers.test]`, with more settings in TOML.
fn catalogue(server: &ModelServer, settings: &str) -> Catalogue {
    let text = format!("base_url = \"{}\"\n{settings}", server.base_url());
    let config: ProviderConfig = toml::from_str(&text).unwrap();
    Catalogue::new(BTreeMap::from([("test".to_owned(), config)]), |_| None)
        .with_retry(RetryPolicy { base: Duration::from_millis(1), ..RetryPolicy::default() })
        .with_limits(AnswerLimits { frame: 1 << 20, text: 4 << 20, wire: 16 << 20 })
}

fn model(server: &ModelServer, settings: &str) -> Arc<dyn Model> {
    catalogue(server, settings).resolve("test/m").unwrap()
}

fn ask(text: &str) -> Request {
    Request::new("Be brief.", vec![Message::user(text)])
}

/// What a stream says, a line for each thing that matters. Deltas are added up: how many there are is the network's
/// choice.
async fn tell(mut stream: EventStream) -> String {
    let mut lines = Vec::new();
    let mut answer = Answer::default();
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Restart { attempt, reason, shown, .. }) => {
                if shown {
                    lines.push(format!("(shown: {})", answer.text()));
                }
                lines.push(format!("restart {attempt}: {reason}"));
                answer = Answer::default();
            }
            Ok(event) => answer.apply(&event),
            Err(error) => {
                lines.push(format!("error: {error}"));
                lines.push(format!("hint: {}", error.hint()));
                return lines.join("\n");
            }
        }
    }
    let (usage, stop) = (answer.usage, answer.stop.clone());
    lines.extend(answer.into_blocks().iter().map(|block| match block {
        Block::Text(text) => format!("text: {text}"),
        Block::Thinking { text, .. } => format!("think: {text}"),
        Block::ToolCall(call) => format!("call: {} {} ({})", call.name, call.arguments, call.id),
        Block::Replay(_) => "(replay)".to_owned(),
        other => format!("{other:?}"),
    }));
    let cost = usage.cost_usd.map(|cost| format!(" ${cost:.6}")).unwrap_or_default();
    lines.push(format!(
        "usage: {} in, {} out, {} read, {} thought{cost}",
        usage.input, usage.output, usage.cache_read, usage.reasoning
    ));
    lines.push(format!("stop: {stop:?}"));
    lines.join("\n")
}

async fn failure(mut stream: EventStream) -> CallError {
    while let Some(event) = stream.next().await {
        if let Err(error) = event {
            return error;
        }
    }
    panic!("it did not fail");
}
