//! What an agent keeps between turns, and lets go of when nothing happens for long.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// Something that a turn takes, and brings back if it ends well.
pub(crate) struct Kept<T> {
    kept: Arc<Mutex<Option<T>>>,
    idle: Duration,
    timer: std::sync::Mutex<Option<JoinHandle<()>>>,
}

impl<T: Send + 'static> Kept<T> {
    pub(crate) fn new(idle: Duration) -> Self {
        Self { kept: Arc::default(), idle, timer: std::sync::Mutex::default() }
    }

    pub(crate) async fn take(&self) -> Option<T> {
        self.wind(None);
        self.kept.lock().await.take()
    }

    pub(crate) async fn bring_back(&self, kept: T) {
        *self.kept.lock().await = Some(kept);
        let (weak, idle) = (Arc::downgrade(&self.kept), self.idle);
        self.wind(Some(tokio::spawn(async move {
            tokio::time::sleep(idle).await;
            if let Some(kept) = weak.upgrade() {
                kept.lock().await.take();
            }
        })));
    }

    fn wind(&self, timer: Option<JoinHandle<()>>) {
        let mut slot = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = std::mem::replace(&mut *slot, timer) {
            old.abort();
        }
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        let slot = self.timer.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(timer) = slot.take() {
            timer.abort();
        }
    }
}
