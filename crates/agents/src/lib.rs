//! Whatever can act in a session: the built-in loop, an ACP process, another vendor's CLI, a task API.
//!
//! [`Agent`] is the one trait behind which they all stand: a prompt goes in, a stream of updates comes out. What an
//! agent may ask of its session in return (permission, files, its past) is handed to it with each [`Turn`] as
//! [`Services`]. Brainstorm, budgets, recording and permissions never ask which kind of agent it is.
//!
//! Adapters for foreign agents and their catalogue live here as they land; the built-in agent lives in `engine`.

mod agent;
mod child;
mod services;
mod unavailable;
mod updates;

pub use agent::{Agent, Turn};
pub use child::{Child, ChildEnd};
pub use services::{Answer, HistoryError, Question, Refused, Services};
pub use unavailable::Unavailable;
pub use updates::{Reporter, report};
