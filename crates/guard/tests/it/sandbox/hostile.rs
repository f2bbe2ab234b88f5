//! Attacks. Each must fail on every backend.

mod files;
mod git;
mod kernel;
mod network;
mod processes;
