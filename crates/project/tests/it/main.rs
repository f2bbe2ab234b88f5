//! Stories that need more than one process of ours.

mod death;
mod helper;
