//! What an agent can do: the [`Tool`] trait, the box of tools that a session has, and the built-in ones.
//!
//! A tool says what it is (name, description, schema: read by the model), what a call of it is about to do (as
//! [`guard::Action`]s, for the gate), and does it on a [`project::Host`]. It never decides whether it may: that is asked
//! before. A tool that fails has still answered; its [`ToolError`] is text for the model. What only a session can do (ask
//! the person, send a sub-agent) it asks of its [`Desk`].
//!
//! To add one: a file in `builtin/` and its line in `builtin::ALL`.

mod ast;
mod browser;
mod builtin;
mod changes;
mod code;
mod desk;
mod edit;
mod git;
mod github;
mod grep;
mod instrument;
mod language;
mod memory;
mod page;
mod patch;
mod paths;
mod pdf;
mod picture;
mod replace;
mod report;
mod run;
mod schema;
mod search;
mod state;
mod text;
mod tool;
mod toolbox;
mod walk;
mod web;

pub use builtin::{describe_found, notes};
pub use code::set_index;
pub use desk::{Desk, Errand, PersonQuestion};
pub use instrument::cleanup as remove_instrumentation;
pub use language::errors_after_edit;
pub use run::{Counts, Evidence, evidence, job_news};
pub use schema::{Misfit, check, is_untidy, tidy};
pub use state::ToolState;
pub use tool::{Group, Picture, Tool, ToolContext, ToolError, ToolOutput};
pub use toolbox::{DISPATCHER, Toolbox};
pub use web::{SearchProvider, WebSettings, set_web};
