//! Agents that have a language of their own. A reader, which is a pure function of lines, turns it into news; a runner
//! around it keeps the process and answers its questions.

mod claude;
mod cline;
mod codex;
mod conversing;
mod copilot;
mod cursor;
mod lines;
mod per_turn;

use std::sync::Arc;

use protocol::Content;
use serde_json::Value;

use crate::catalogue::Kind;
use crate::fleet::Post;
use crate::{Agent, Turn, manus, openclaw};

use conversing::Conversing;
use per_turn::PerTurn;

pub(crate) use lines::{LineProcess, Spoken};
pub(crate) use per_turn::{Asked, Ended};

/// Makes an agent of a kind; a new dialect is a line here.
type Make = fn(Post) -> Arc<dyn Agent>;

pub(crate) const ALL: &[(Kind, Make)] = &[
    (Kind::Claude, |post| Arc::new(Conversing::<claude::Live>::new(post))),
    (Kind::Codex, |post| Arc::new(Conversing::<codex::Live>::new(post))),
    (Kind::CodexExec, |post| Arc::new(PerTurn::new(post, codex::exec::run))),
    (Kind::ClineJson, |post| Arc::new(PerTurn::new(post, cline::run))),
    (Kind::CopilotJson, |post| Arc::new(PerTurn::new(post, copilot::run))),
    (Kind::Cursor, |post| Arc::new(PerTurn::new(post, cursor::run))),
    (Kind::Openclaw, |post| Arc::new(PerTurn::new(post, openclaw::run))),
    (Kind::Manus, |post| Arc::new(PerTurn::new(post, manus::run))),
];

/// A field that is a text, or nothing.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A prompt for an agent that takes only words.
pub(crate) fn words(turn: &Turn, preamble: Option<String>) -> String {
    let prompt = turn.prompt.iter().map(|content| match content {
        Content::Resource(resource) => match &resource.text {
            Some(text) => format!("<file path=\"{}\">\n{text}\n</file>", resource.uri),
            None => format!("@{}", resource.uri),
        },
        other => protocol::prompt_text(std::slice::from_ref(other)),
    });
    preamble.into_iter().chain(prompt).collect::<Vec<_>>().join("\n\n")
}
