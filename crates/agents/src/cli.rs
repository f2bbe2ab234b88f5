//! Agents that have a language of their own. A reader, which is a pure function of lines, turns it into news; a runner
//! around it keeps the process and answers its questions.

mod claude;
mod codex;
mod cursor;
mod lines;

use std::sync::Arc;

use crate::Agent;
use crate::catalogue::Kind;
use crate::fleet::Post;

pub(crate) use claude::ClaudeAgent;
pub(crate) use codex::CodexAgent;
pub(crate) use cursor::CursorAgent;

/// Makes an agent of a kind; a new dialect is a line here.
type Make = fn(Post) -> Arc<dyn Agent>;

pub(crate) const ALL: &[(Kind, Make)] = &[
    (Kind::Claude, |post| Arc::new(ClaudeAgent::new(post))),
    (Kind::Codex, |post| Arc::new(CodexAgent::new(post))),
    (Kind::Cursor, |post| Arc::new(CursorAgent::new(post))),
];
