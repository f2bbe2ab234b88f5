//! A session as an actor: one task that owns the state, reads one closed enum, and records before it tells.
//!
//! [`step`] decides, [`actor`] carries out, [`stream`] is what front ends watch. Agents are seen only as `dyn Agent`.

mod actor;
mod blobs;
mod handle;
mod hooks;
mod masking;
mod news;
mod services;
mod step;
mod stream;
mod turn;

pub(crate) use actor::{Setup, open};
pub(crate) use handle::{Handle, OpFailure, Watched};
pub(crate) use hooks::Hooks;
pub(crate) use news::News;
pub(crate) use step::SessionOp;
pub(crate) use stream::{StreamFailure, events};
