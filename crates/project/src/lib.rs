//! project
mod confine;
mod home;
mod private;
mod process;
mod root;

pub use confine::{ConfineError, ResolvedPath, Roots};
pub use home::{Home, HomeError};
pub use private::{create_private_dir, write_private_atomic};
pub use process::{Child, Command, Output, SpawnError, command};
pub use root::{Project, ProjectError};
