//! The UI on a real pseudo-terminal, with an engine that breaks.
#![expect(clippy::unwrap_used, reason = "a test that can not go on fails")]

mod panics;
