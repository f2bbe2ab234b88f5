//! A checkout on disk and the machine around it: where files live, which paths may be used, what the settings
//! are, and how child processes start and end.
//!
//! - [`Home`] and [`Project`] say where the person's files and the project's are.
//! - [`Roots`] keep paths inside the folders they were granted for; a [`Host`] is what tools act on.
//! - [`Config`] lays settings over each other. Other crates describe their part with [`Key`] constants.
//! - [`command`] starts every child process of Covey, in a group that dies with it.
//!
//! Whether something *may* happen is left to `guard`: this crate only makes sure that what was allowed is what
//! happens. It depends on none of our crates and asks through small traits ([`Trust`]) for what they know.
//! Start reading at `config/load.rs`, `confine.rs` and `process/watcher.rs`.

mod home;
mod private;
mod root;

mod confine;
mod open;

mod complete;
mod host;

mod config;
mod named;
mod nearest;

mod process;

pub use complete::{complete_folders, complete_paths, typed_path};
pub use config::{
    Config, ConfigError, ConfigErrors, Entry, Held, HeldReason, HumanDuration, Key, KeyPath, Layer,
    LoadOptions, NobodyTrusted, NotADuration, Origin, Reach, Schema, Trust, process_env, set_in_file,
    unset_in_file,
};
pub use confine::{ConfineError, ResolvedPath, Roots};
pub use home::{Home, HomeError};
pub use host::{
    ByteRange, DirEntry, EntryKind, Exit, Expect, FileRead, Finding, Grants, Host, HostError, Launcher,
    Listing, LocalHost, MAX_READ, Program, Running, Stamp, Stat, Streams, Task, Unconfined,
};
pub use named::named_files;
pub use private::{create_private_dir, write_private_atomic};
pub use process::{
    Child, Command, Finish, Hook, Output, Place, ProcessInfo, SpawnError, Stream, Terminal, TerminalSize,
    Walls, command, process_tree, run_in_foreground,
};
#[cfg(target_os = "linux")]
pub use process::{Told, Words, dismiss_starter, may_be_starter};
pub use root::{Project, ProjectError};
