//! Stopping work that is under way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Told by one thread, asked by others. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
