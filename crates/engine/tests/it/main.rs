//! Stories: the real engine, a real project folder, a scripted model behind a real socket.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod context;
mod conversation;
mod faults;
mod histories;
mod hooks;
mod past;
mod play;
mod prompts;
mod servers;
mod team;
mod watching;
