//! A little randomness, for ids and for spreading retries: nothing that must be unpredictable.

use std::hash::{BuildHasher, RandomState};

/// The standard library seeds its hash maps with this; it saves a dependency.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(0)
}
