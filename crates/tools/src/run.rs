//! Running programs for a model: what they print, made short and readable, and those that run on in the background.

mod bounded;
mod capture;
mod checks;
mod clean;
mod drive;
mod evidence;
mod jobs;
mod spool;
mod tally;
mod typed;

pub(crate) use bounded::Bounded;
pub(crate) use capture::Capture;
pub(crate) use checks::{Check, CheckKind, detect};
pub(crate) use drive::{Ended, collect, run, say_exit};
pub(crate) use evidence::Ledger;
pub use evidence::{Evidence, evidence};
pub use jobs::job_news;
pub(crate) use jobs::{Job, JobId, Jobs, shorten};
pub(crate) use spool::Spool;
pub use tally::Counts;
pub(crate) use typed::with_input;
