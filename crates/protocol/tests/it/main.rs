//! The vocabulary as others see it: JSON in and out, and what it adds up to.

mod documented;
mod round_trip;
mod view;
