//! The built-in agent: a model, tools, and the loop between them.
//!
//! The session sees it only as a `dyn Agent`. Its request grows at the end and never changes before that, within a turn,
//! between turns and after a restart, so that providers' caches hit: the same [`transcript`] is built from the log that
//! was built while it happened.

mod agent;
mod answer;
mod calls;
mod compact;
mod complexity;
mod delegate;
mod desk;
mod extras;
mod hooks;
mod keep;
mod ledger;
mod limits;
mod own_command;
mod permit;
mod roles;
mod room;
mod shared;
mod stall;
mod system;
mod title;
mod transcript;
mod verbatim;

pub(crate) use agent::FindModel;
pub use agent::NativeAgent;
pub use extras::Extras;
pub(crate) use extras::{role_names, with_shelf};
pub use limits::{ContextLimits, NotAShare, Share};
pub(crate) use own_command::typed as typed_command;
pub use roles::{Role, built_in as built_in_roles};
pub(crate) use shared::Shared;
