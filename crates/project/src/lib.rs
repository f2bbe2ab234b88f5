//! project
mod complete;
mod confine;
mod home;
mod host;
mod nearest;
mod open;
mod private;
mod process;
mod root;

pub use complete::complete_paths;
pub use confine::{ConfineError, ResolvedPath, Roots};
pub use home::{Home, HomeError};
pub use host::{
    ByteRange, DirEntry, EntryKind, FileRead, Host, HostError, Listing, LocalHost, MAX_READ, Stat,
};
pub use private::{create_private_dir, write_private_atomic};
pub use process::{Child, Command, Output, SpawnError, command};
pub use root::{Project, ProjectError};
