//! What the tools of one session remember between calls.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use project::Stamp;

/// Shared by all calls of a session. Gone with the process; nothing in it is needed to go on.
#[derive(Default)]
pub struct ToolState {
    seen: Mutex<HashMap<PathBuf, Stamp>>,
    last_edit: Mutex<Option<Instant>>,
    /// Whatever else a family of tools keeps, by type: jobs, language servers, a browser.
    extras: Mutex<HashMap<std::any::TypeId, std::sync::Arc<dyn std::any::Any + Send + Sync>>>,
}

impl ToolState {
    /// The model has seen this file as it is now.
    pub fn saw(&self, path: &Path, stamp: Stamp) {
        if let Ok(mut seen) = self.seen.lock() {
            seen.insert(path.to_owned(), stamp);
        }
    }

    /// How the model saw the file last.
    pub fn seen(&self, path: &Path) -> Option<Stamp> {
        self.seen.lock().ok()?.get(path).copied()
    }

    /// A file was changed just now: what was found out before tells less from here on.
    pub fn edited(&self) {
        if let Ok(mut last) = self.last_edit.lock() {
            *last = Some(Instant::now());
        }
    }

    /// When a file was changed last, by a call that said so.
    pub fn last_edit(&self) -> Option<Instant> {
        *self.last_edit.lock().ok()?
    }

    /// What a family of tools keeps for the session, made when first asked for.
    pub fn extra<T: Default + Send + Sync + 'static>(&self) -> std::sync::Arc<T> {
        let mut extras = self.extras.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let slot = extras
            .entry(std::any::TypeId::of::<T>())
            .or_insert_with(|| std::sync::Arc::new(T::default()))
            .clone();
        drop(extras);
        // The key is the type, so the cast always fits.
        slot.downcast().unwrap_or_default()
    }
}
