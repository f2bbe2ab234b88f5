//! Sessions as actors: takes Ops, emits Events, owns turns.
//!
//! [`Engine`] is the whole of it from outside: submit an [`protocol::Op`], read, and follow a session's events. Inside,
//! each open session is one task with a pure `step` (see `session`); the built-in agent is in `native` and is seen by
//! sessions only as a `dyn Agent`.
//!
//! Left to others: how a front end reaches an engine (`client`), what is on disk (`sessions`), which model answers
//! (`models`), what tools do (`tools`).

mod changes;
mod checkpoint;
mod editor;
mod engine;
mod error;
mod hooks;
mod native;
mod prompt;
mod servers;
mod session;

pub use checkpoint::{
    Changed, Checkpoints, Content as KeptContent, Direction, Plan as UndoPlan, Record as CheckpointRecord,
    State as FileState, Step as UndoStep, Target as UndoTarget, UndoError,
};
pub use engine::{Engine, EngineOptions, HostOf, Preferred, random};
pub use error::EngineError;
pub use native::{ContextLimits, Extras, NativeAgent, NotAShare, Role, Share, built_in_roles};
pub use servers::{HostStarter, LoginsOf, ServersOf};
