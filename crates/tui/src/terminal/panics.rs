//! Panics while the terminal is ours: kept, and told when it can show them.
//!
//! A tool that panics ends its call, not the conversation, so the terminal stays as it is and the person is told in it.
//! A panic of the UI itself ends the UI: [`Guard`] gives the terminal back and then says why.

use std::io::Write;
use std::sync::{Mutex, Once, PoisonError};

static KEPT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// From here on, what panics is kept while the terminal is taken.
pub(super) fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| match super::is_taken() {
            true => kept().push(panic.to_string()),
            false => before(panic),
        }));
    });
}

/// What was kept so far.
pub(crate) fn told() -> Vec<String> {
    std::mem::take(&mut kept())
}

/// Gives the terminal back when it goes, also when it goes because of a panic.
pub(crate) struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        super::restore();
        for text in told() {
            // There is nobody left to tell that it could not be told.
            let _ = writeln!(std::io::stderr(), "{text}");
        }
    }
}

fn kept() -> std::sync::MutexGuard<'static, Vec<String>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}
