//! project
mod process;

pub use process::{Child, Command, Output, SpawnError, command};
