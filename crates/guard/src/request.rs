//! What is asked of the guard, and what people and hooks answer.

use protocol::Mode;

use crate::action::Action;

/// May this tool do these things now?
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The tool's name, as the model knows it. For another agent's request, the name that agent gives.
    pub tool: &'a str,
    /// All that the call is about to do; the strictest verdict decides. None at all is treated as unknown.
    pub actions: &'a [Action],
    pub mode: Mode,
    /// Whether a person is there to be asked.
    pub attended: bool,
}

/// For how long an answer holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Once,
    Session,
    /// In this project, until it is forgotten.
    Project,
    /// In every project of this person.
    User,
}

/// What the person said to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    pub yes: bool,
    pub scope: Scope,
}

/// What a hook said about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookSays {
    Deny { because: String },
    Ask { because: String },
    Allow,
}
