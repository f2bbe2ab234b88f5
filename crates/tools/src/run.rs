//! Running programs for a model: what they print, made short and readable, and those that run on in the background.

mod bounded;
mod capture;
mod clean;
mod drive;
mod jobs;
mod spool;

pub(crate) use drive::{Ended, run, say_exit};
pub use jobs::job_news;
pub(crate) use jobs::{JobId, Jobs, shorten};
