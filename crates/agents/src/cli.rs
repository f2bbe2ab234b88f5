//! Agents that have a language of their own. A reader, which is a pure function of lines, turns it into news; a runner
//! around it keeps the process and answers its questions.

mod claude;
mod codex;
mod cursor;
mod lines;

use std::sync::Arc;

use protocol::Content;

use crate::catalogue::Kind;
use crate::fleet::Post;
use crate::manus::ManusAgent;
use crate::openclaw::OpenClawAgent;
use crate::{Agent, Turn};

pub(crate) use claude::ClaudeAgent;
pub(crate) use codex::CodexAgent;
pub(crate) use cursor::CursorAgent;
pub(crate) use lines::{LineProcess, Spoken};

/// Makes an agent of a kind; a new dialect is a line here.
type Make = fn(Post) -> Arc<dyn Agent>;

pub(crate) const ALL: &[(Kind, Make)] = &[
    (Kind::Claude, |post| Arc::new(ClaudeAgent::new(post))),
    (Kind::Codex, |post| Arc::new(CodexAgent::new(post))),
    (Kind::Cursor, |post| Arc::new(CursorAgent::new(post))),
    (Kind::Openclaw, |post| Arc::new(OpenClawAgent::new(post))),
    (Kind::Manus, |post| Arc::new(ManusAgent::new(post))),
];

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
