//! Sessions on a real disk, with real processes.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail like tests, and jobs answer on stdout"
)]

mod damage;
mod exports;
mod fixture;
mod forks;
mod limits;
mod playing;
mod processes;
mod properties;
mod searching;
mod stores;
mod support;
