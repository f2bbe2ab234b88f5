//! The vocabulary as others see it: JSON in and out, and what it adds up to.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod documented;
mod round_trip;
mod view;
