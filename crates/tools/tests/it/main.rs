//! The tools on a real folder, with everything in it that a folder can hold.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod browsing;
mod debugging;
mod folder;
mod git;
mod github;
mod languages;
mod meaning;
mod mind;
mod reading;
mod running;
mod searching;
mod sizes;
mod terminals;
mod verifying;
mod web;
mod writing;
