//! Sessions on a real disk, with real processes.

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
