//! What an agent can do: the [`Tool`] trait, the box of tools that a session has, and the built-in ones.
//!
//! A tool says what it is (name, description, schema: read by the model), what a call of it needs before it may run,
//! and runs it on a [`project::Host`]. It never decides whether it may: that is asked before. A tool that fails has
//! still answered; its [`ToolError`] is text for the model.
//!
//! To add one: a file in `builtin/` and its line in `builtin::ALL`.

mod builtin;
mod tool;
mod toolbox;

pub use tool::{Need, Tool, ToolContext, ToolError, ToolOutput};
pub use toolbox::Toolbox;
