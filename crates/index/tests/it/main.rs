//! A folder of files, an index of them, and questions.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod context;
mod fresh;
mod hostile;
mod search;
mod shelf;
mod vectors;
