//! Real processes inside real walls, for each backend that this machine has.

mod stage;

mod hostile;
mod ordinary;
