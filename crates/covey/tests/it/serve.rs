//! `covey serve`, over real sockets.

mod doors;
mod rest;
mod socket;
mod support;
mod together;
