//! Stories about the guard.

mod sandbox;
