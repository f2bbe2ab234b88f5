//! `covey serve`, over real sockets.

mod doors;
mod editor;
mod ending;
mod parking;
mod remote;
mod rest;
mod socket;
mod support;
mod together;
