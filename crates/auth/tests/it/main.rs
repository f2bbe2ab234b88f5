//! Logins against a real OAuth server on loopback, and a store on a real disk.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod any_store;
mod browser;
mod canaries;
mod device;
mod hostile;
mod order;
mod processes;
mod renewal;
mod rotation;
mod store;
mod support;
