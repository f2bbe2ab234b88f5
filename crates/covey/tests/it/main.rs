//! The real binary, a real folder, a scripted model behind a real socket.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod acp;
mod agents;
mod auth;
mod config;
mod crash;
mod effects;
mod faults;
mod first_run;
mod folders;
mod guard;
mod hostile;
mod mcp;
mod models;
mod real;
mod run;
mod search;
mod serve;
mod session;
mod starter;
mod talk;
mod world;
