//! May this happen? Nothing with an effect happens before this crate says so.
//!
//! An [`Action`] is what a tool, or an agent of someone else's, is about to do, in terms that can be judged. The guard
//! classes it, applies mode, rules and memory, and answers with a [`Verdict`]; whoever asked carries it out.

mod action;
mod verdict;

pub use action::{Action, Change};
pub use verdict::{Level, Ruling, Verdict};
