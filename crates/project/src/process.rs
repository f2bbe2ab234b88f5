//! Child processes that never outlive us.

mod before_exec;
mod child;
mod command;
mod foreground;
mod session;
#[cfg(target_os = "linux")]
mod starter;
mod terminal;
#[cfg(test)]
mod tests;
mod tree;
mod walls;
mod watcher;

pub use child::{Child, Output};
pub use command::{Command, SpawnError, Stream, command};
pub use foreground::run_in_foreground;
#[cfg(target_os = "linux")]
pub use starter::{Told, Words, dismiss_starter, may_be_starter};
pub use terminal::{Terminal, TerminalSize};
pub use tree::{ProcessInfo, process_tree};
pub use walls::{Finish, Hook, Place, Walls};
