//! Stories: real server processes, honest and not.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod ours;
mod reference;
mod theirs;
