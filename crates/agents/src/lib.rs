//! Whatever can act in a session: the built-in loop, an ACP process, another vendor's CLI, a task API.
//!
//! [`Agent`] is the one trait behind which they all stand: a prompt goes in, a stream of updates comes out. What an
//! agent may ask of its session in return (permission, files, its past) is handed to it with each [`Turn`] as
//! [`Services`]. Brainstorm, budgets, recording and permissions never ask which kind of agent it is.
//!
//! Agents of other makers are known by name: `catalog/` has a file for each, and [`Fleet`] makes them. An adapter turns
//! what such an agent says into news, [`acp::News`], which one narrator tells in our words; what it wants to do goes
//! through one [`Gate`]; its process runs inside the sandbox. The built-in agent lives in `engine` and uses the same gate.

mod agent;
mod child;
mod hooks;
mod services;
mod unavailable;
mod updates;

mod catalogue;
mod crashes;
mod fleet;
mod probe;
mod process;
mod roll;

mod actions;
mod compaction;
mod fallback;
mod gate;
mod handover;
mod heard;
mod idle;
mod memory;
mod narrator;
mod past;
mod stopping;
mod telling;
mod thinking;
mod title;

mod acp_agent;
mod cli;
mod manus;
mod openclaw;

mod import;

pub use agent::{Agent, Turn};
pub use catalogue::{AgentConfig, Catalogue, CatalogueError, Entry, Interface, Kind, Known, Models, Probe};
pub use child::{Child, ChildEnd};
pub use fleet::{Fleet, FleetOptions, NotThere};
pub use gate::{Change, Gate, Passed, Refusal, Wish};
pub use heard::Heard;
pub use hooks::{HookAnswer, HookCall};
pub use import::{ImportError, Imported, ImportedTurn, PastSession, Step, import, past_sessions, remember};
pub use probe::{Found, Login, survey};
pub use roll::{AgentState, Building, Roll, RunningAgent};
pub use services::{Answer, HistoryError, Question, Refused, Services};
pub use unavailable::Unavailable;
pub use updates::{Reporter, report};
