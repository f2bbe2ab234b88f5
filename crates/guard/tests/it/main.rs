//! Stories about the guard.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![expect(clippy::print_stdout, reason = "a test that could not run says so")]

mod sandbox;
