//! The built-in agent: a model, tools, and the loop between them.
//!
//! The session sees it only as a `dyn Agent`. Its request grows at the end and never changes before that, within a turn,
//! between turns and after a restart, so that providers' caches hit: the same [`transcript`] is built from the log that
//! was built while it happened.

mod agent;
mod answer;
mod calls;
mod complexity;
mod desk;
mod permit;
mod system;
mod transcript;
mod verbatim;

pub use agent::NativeAgent;
