//! Child processes that never outlive us.

mod before_exec;
mod child;
mod command;
mod foreground;
mod session;
mod terminal;
#[cfg(test)]
mod tests;
mod tree;
mod watcher;

pub use child::{Child, Output};
pub use command::{Command, SpawnError, command};
pub use foreground::run_in_foreground;
pub use terminal::{Terminal, TerminalSize};
pub use tree::{ProcessInfo, process_tree};
