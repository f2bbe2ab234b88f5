//! Sessions on a real disk, with real processes.

mod damage;
mod fixture;
mod forks;
mod limits;
mod processes;
mod properties;
mod stores;
mod support;
